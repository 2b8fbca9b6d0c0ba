import os
import signal
import sys
import threading
import time
from contextlib import closing

import pytest

from outcrop.errors import StorageError, StudyError
from outcrop.study.storage import Lease, Memory
from outcrop.study.storage.sql import SqlStorage
from tests.study.storage.children import answer, forked


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/study.db"
    return request.getfixturevalue("postgresql_url")


def write_until_told(storage, study, writer, n):
    """Append `n` records against others who do the same."""
    for count in range(n):
        while not storage.append(study, len(storage.read(study)), [f"{writer} {count}"]):
            pass


def assert_complete(log, writers, n):
    for writer in writers:
        mine = [record for record in log if record.startswith(f"{writer} ")]
        assert mine == [f"{writer} {count}" for count in range(n)]
    assert len(log) == 1 + len(writers) * n


def test_a_forked_child_and_its_parent_write_to_one_log(storage, study):
    children = [
        forked(lambda _, name=name: write_until_told(storage, study, name, 15)) for name in "ab"
    ]
    write_until_told(storage, study, "parent", 15)
    for child, reading in children:
        os.close(reading)
        assert os.waitpid(child, 0)[1] == 0
    assert_complete(storage.read(study), ["a", "b", "parent"], 15)


def test_a_forked_child_outlives_its_parents_connection(storage, study, url):
    go, on_go = os.pipe()

    def work(writing):
        assert storage.append(study, 1, ["child 0"])
        os.write(writing, b"x")
        os.read(go, 1)
        for count in range(1, 5):
            write_until_told(storage, study, f"child again {count}", 1)

    child, reading = forked(work)
    os.read(reading, 1)
    storage.close()
    with closing(SqlStorage(url)) as fresh:
        assert fresh.append(study, 2, ["fresh 0"])
    os.write(on_go, b"x")
    with closing(SqlStorage(url)) as fresh:
        write_until_told(fresh, study, "fresh again", 20)
        assert os.waitpid(child, 0)[1] == 0
        log = fresh.read(study)
    assert log[:3] == ["first", "child 0", "fresh 0"]
    assert sorted(log[3:]) == sorted(
        [f"child again {count} 0" for count in range(1, 5)]
        + [f"fresh again {count}" for count in range(20)]
    )
    for pipe in (go, on_go, reading):
        os.close(pipe)


def test_forking_while_other_threads_write_harms_neither(storage, study):
    writing = threading.Thread(target=write_until_told, args=(storage, study, "thread", 30))
    writing.start()
    for name in "abc":
        assert answer(lambda name=name: write_until_told(storage, study, name, 5)) is None
    writing.join()
    log = storage.read(study)
    assert [record for record in log if record.startswith("thread")] == [
        f"thread {count}" for count in range(30)
    ]
    assert len(log) == 1 + 30 + 3 * 5


@pytest.mark.parametrize("make", [Memory, lambda: SqlStorage("sqlite://")], ids=["plain", "sqlite"])
def test_a_child_is_refused_a_store_in_its_parents_memory(make):
    storage = make()
    study = storage.create("study", "first")
    refused = answer(lambda: storage.append(study, 1, ["lost"]))
    assert isinstance(refused, StorageError)
    assert "memory of process" in str(refused)
    assert storage.append(study, 1, ["second"])
    assert storage.read(study) == ["first", "second"]


@pytest.mark.parametrize("acknowledged", range(6))
def test_killing_a_writer_loses_nothing_that_it_was_told_is_stored(
    acknowledged, storage, study, url, rng
):
    length = 1

    def work(writing):
        with closing(SqlStorage(url)) as mine:
            position = len(mine.read(study))
            while True:
                records = [f"{position + k} " + "x" * 3000 for k in range(3)]
                assert mine.append(study, position, records, take=[Lease("ask", "me", 60.0)])
                position += 3
                os.write(writing, f"{position}\n".encode())

    for _ in range(2):
        child, reading = forked(work)
        with os.fdopen(reading) as pipe:
            told = [int(pipe.readline()) for _ in range(acknowledged)]
            time.sleep(rng.uniform(0.0, 0.02))  # into the next append, or before it
            os.kill(child, signal.SIGKILL)
            assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
            told += [*map(int, pipe)]
        log = storage.read(study)
        assert max([length, *told]) <= len(log) <= max([length, *told]) + 3
        assert len(log) % 3 == 1  # whole appends only
        assert log == ["first"] + [f"{k} " + "x" * 3000 for k in range(1, len(log))]
        length = len(log)


def test_deleting_while_others_write_ends_them_with_an_error(storage, study, url):
    ended = []
    begun = threading.Barrier(3, timeout=60)

    def write():
        with closing(SqlStorage(url)) as mine:
            write_until_told(mine, study, "thread", 1)
            begun.wait()
            try:
                write_until_told(mine, study, "thread", sys.maxsize)
            except StudyError as error:
                ended.append(str(error))

    writing = [threading.Thread(target=write) for _ in range(2)]
    for thread in writing:
        thread.start()
    begun.wait()
    storage.delete(study)
    for thread in writing:
        thread.join()
    assert len(ended) == 2
    assert all(f"id {study}" in message for message in ended)
    assert storage.names() == []
