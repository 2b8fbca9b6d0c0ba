"""Checks of several handles on one store, in one process and in many at the same time."""

from __future__ import annotations

__all__ = ["PROCESS_CONTRACT"]

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any, TypeVar

from outcrop.study.storage import Lease
from outcrop.testing.storages.base import Open, created, refused

PATIENCE = 120.0  # seconds until a process that does not answer has failed
MANY = 6  # processes

T = TypeVar("T")


def handles_see_each_others_writes(connect: Open) -> None:
    with closing(connect()) as one, closing(connect()) as two:
        study = created(one)
        assert two.names() == ["study"]
        assert two.append(study, 1, ["by two"])
        assert one.append(study, 1, ["too late"]) is False
        assert one.append(study, 2, ["by one"])
        assert two.read(study) == one.read(study) == ["first", "by two", "by one"]
        assert one.acquire(study, Lease("ask", "one", 600.0))
        assert two.acquire(study, Lease("ask", "two", 600.0)) is False
        two.delete(study)
        refused(one.read, study)
        refused(one.append, study, 3, ["late"])


def everything_is_there_after_closing_and_opening_again(connect: Open) -> None:
    with closing(connect()) as storage:
        study, gone = created(storage), created(storage, "gone")
        storage.append(study, 1, ["b", "c"], take=[Lease("trial 1", "me", 600.0)])
        storage.delete(gone)
    with closing(connect()) as storage:
        assert storage.names() == ["study"]
        assert storage.find("study") == study
        assert storage.read(study) == ["first", "b", "c"]
        assert storage.leases(study)["trial 1"].owner == "me"
        assert created(storage, "gone") not in (study, gone)


def processes_that_create_one_study_make_one(connect: Open) -> None:
    made = _at_once(_create, [(connect, "study", f"by {k}") for k in range(MANY)])
    ((winner, study),) = [(k, study) for k, study in enumerate(made) if study is not None]
    with closing(connect()) as storage:
        assert storage.names() == ["study"]
        assert storage.find("study") == study
        assert storage.read(study) == [f"by {winner}"]


def processes_that_create_their_own_studies_make_all(connect: Open) -> None:
    names = [f"study {k}" for k in range(MANY)]
    made = _at_once(_create, [(connect, name, f"of {name}") for name in names])
    assert len({*made} - {None}) == MANY
    with closing(connect()) as storage:
        assert sorted(storage.names()) == sorted(names)
        for name, study in zip(names, made, strict=True):
            assert study is not None
            assert storage.find(name) == study
            assert storage.read(study) == [f"of {name}"]


def processes_that_append_optimistically_lose_nothing(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
        _at_once(_append, [(connect, study, k, 8) for k in range(MANY)])
        log = storage.read(study, 1)
        for k in range(MANY):
            mine = [record for record in log if record.startswith(f"{k} ")]
            assert mine == [f"{k} {count}" for count in range(8)]
        assert len(log) == 8 * MANY
        owners = {key: held.owner for key, held in storage.leases(study).items()}
        assert owners == {f"last of {k}": str(k) for k in range(MANY)}


def processes_that_want_one_lease_get_it_once(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
        wanted = [Lease("ask", f"owner {k}", 600.0) for k in range(MANY)]
        got = _at_once(_acquire, [(connect, study, lease) for lease in wanted])
        assert got.count(True) == 1
        assert storage.leases(study)["ask"].owner == f"owner {got.index(True)}"


PROCESS_CONTRACT = (
    handles_see_each_others_writes,
    everything_is_there_after_closing_and_opening_again,
    processes_that_create_one_study_make_one,
    processes_that_create_their_own_studies_make_all,
    processes_that_append_optimistically_lose_nothing,
    processes_that_want_one_lease_get_it_once,
)


def _create(start: Callable[[], None], connect: Open, name: str, record: str) -> int | None:
    start()
    with closing(connect()) as storage:  # opening is part of the race
        return storage.create(name, record)


def _append(start: Callable[[], None], connect: Open, study: int, writer: int, n: int) -> None:
    with closing(connect()) as storage:
        start()
        length = 0
        for count in range(n):
            while True:
                length += len(storage.read(study, length))
                take = [Lease(f"last of {writer}", str(writer), 600.0)]
                if storage.append(study, length, [f"{writer} {count}"], take=take):
                    break


def _acquire(start: Callable[[], None], connect: Open, study: int, lease: Lease) -> bool:
    with closing(connect()) as storage:
        start()
        return storage.acquire(study, lease)


def _at_once(task: Callable[..., T], arguments: Sequence[tuple[Any, ...]]) -> list[T]:
    """The results of `task` for each of `arguments`, each computed in its own process.

    The first argument of `task` is a function that returns when all processes have called it.
    """
    known = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if "forkserver" in known else "spawn")
    drivers = ["outcrop.study.storage.sql", "outcrop.study.storage.postgresql_connection"]
    context.set_forkserver_preload(["__main__", __name__, *drivers])
    together = context.Barrier(len(arguments))
    started = []
    for each in arguments:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(task, together, theirs, each))
        process.start()
        theirs.close()
        started.append((process, ours))
    answers = [_answer(ours) for _, ours in started]
    for process, ours in started:
        process.join(PATIENCE)
        ours.close()
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    if failed:
        raise AssertionError(f"{len(failed)} of {len(answers)} processes failed") from failed[0]
    return answers


def _run(
    task: Callable[..., object], together: Barrier, answer: Connection, arguments: tuple[Any, ...]
) -> None:
    try:
        answer.send(task(lambda: together.wait(PATIENCE), *arguments))
    except Exception as error:  # raised again in the process that waits for the answer
        answer.send(error)
    finally:
        answer.close()


def _answer(connection: Connection) -> Any:
    if not connection.poll(PATIENCE):
        return TimeoutError("a process gave no answer")
    try:
        return connection.recv()
    except EOFError as error:
        return error
