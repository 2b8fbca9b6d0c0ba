"""An SQLite file in use: how long writers keep others waiting, and what survives lost files.

The lock of a writer is timed with the flush to the disk inside the transaction, as SQLite does it,
and after it. Then processes tell values while files beside the database are removed at random; each
value that was acknowledged must be in the study at the end, or in what a process saved elsewhere.
The same is done without watching the files, as a comparison.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import multiprocessing
import os
import random
import sqlite3
import tempfile
import time
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.reporting import provenance, save, table, verdict
from outcrop.errors import OutcropError, StorageDamaged
from outcrop.space import Float, Space
from outcrop.study import Study, load_study
from outcrop.study.storage.watched_files import WatchedFiles

SPACE = Space({"x": Float(0, 1)})
CALM = 5.0  # seconds without a loss at the beginning and at the end
STAY = (3.0, 9.0)  # seconds after which a process ends and another one comes
LOSSES = (("-wal",), ("-shm",), ("-wal", "-shm"))


def locked_seconds(folder: Path, flush: str, calls: int) -> dict[str, list[float]]:
    """Seconds for which each ask and tell keeps others from writing."""
    study = Study(SPACE, flush, f"sqlite:///{folder / flush}.db", method="random", seed=0)
    study.tell(study.ask(), 0.0)
    connection: Any = study._store._database._connection  # type: ignore[attr-defined]
    if flush == "inside":
        connection.execute("PRAGMA synchronous=FULL")
    began, held = [0.0], [0.0]

    def note(statement: str) -> None:
        if statement.startswith("BEGIN"):
            began[0] = time.perf_counter()

    def committed() -> None:
        sqlite3.Connection.commit(connection)
        held[0] = time.perf_counter() - began[0]

    connection.set_trace_callback(note)
    connection.commit = committed
    times: dict[str, list[float]] = {"ask": [], "tell": []}
    for _ in range(calls):
        trial = study.ask()
        times["ask"].append(held[0])
        study.tell(trial, 0.0)
        times["tell"].append(held[0])
    return times


def work(folder: Path, process: int, end: float, watched: bool) -> None:
    """Tell values and note those that were acknowledged; save the study if its files are lost."""
    if not watched:
        WatchedFiles.harm = lambda self, connection: None  # type: ignore[method-assign]
    count, study = 0, None
    with (folder / f"acknowledged-{process}").open("w") as notes:
        while time.monotonic() < end:
            try:
                study = Study(SPACE, "s", f"sqlite:///{folder}/s.db", method="random", seed=0)
                while time.monotonic() < end:
                    count += 1
                    value = process + count / 2**20
                    study.tell(study.ask(lease=60), value)
                    notes.write(f"{value!r}\n")
                    notes.flush()
            except StorageDamaged as error:
                if not error.stored:
                    if error.copy is None and study is not None:
                        study.copy_to(f"sqlite:///{folder}/s-lost-{process}-known.db")
                    return
            except OutcropError:  # of a store that others have lost; a new process comes
                return


def values_in(path: Path) -> set[float]:
    trials = load_study("s", f"sqlite:///{path}").trials
    return {trial.value for trial in trials if trial.value is not None}


def lose_files(folder: Path, processes: int, seconds: float, watched: bool) -> dict[str, int]:
    """What became of the values that were acknowledged while files were removed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["outcrop.study"])
    chance, end, started, removals = random.Random(0), time.monotonic() + seconds, 0, 0
    running: list[Any] = []
    next_loss = time.monotonic() + CALM
    while time.monotonic() < end:
        running = [each for each in running if each.is_alive()]
        while len(running) < processes and time.monotonic() < end - CALM:
            started += 1
            leave = min(end, time.monotonic() + chance.uniform(*STAY))
            running.append(context.Process(target=work, args=(folder, started, leave, watched)))
            running[-1].start()
        if next_loss < time.monotonic() < end - CALM:
            for suffix in chance.choice(LOSSES):
                with suppress(FileNotFoundError):
                    os.unlink(folder / f"s.db{suffix}")
            removals += 1
            next_loss = time.monotonic() + chance.uniform(0.5, 3.0)
        time.sleep(0.01)
    for each in running:
        each.join()
    lines = [line for file in folder.glob("acknowledged-*") for line in file.read_text().split()]
    told = {*map(float, lines)}
    kept = values_in(folder / "s.db")
    saved = {value for file in folder.glob("s-lost-*.db") for value in values_in(file)}
    return {
        "removals": removals,
        "processes": started,
        "acknowledged": len(told),
        "in_the_study": len(told & kept),
        "only_saved_elsewhere": len((told & saved) - kept),
        "lost": len(told - kept - saved),
    }


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--calls", type=int, default=200, help="asks and tells that are timed")
    parser.add_argument("--seconds", type=float, default=60.0, help="in which files are lost")
    parser.add_argument("--processes", type=int, default=3, help="that tell at the same time")


def run(options: Namespace) -> None:
    locked: dict[str, dict[str, float]] = {}
    lost: dict[str, dict[str, int]] = {}
    for flush in ("inside", "after"):
        with tempfile.TemporaryDirectory() as folder:
            times = locked_seconds(Path(folder), flush, options.calls)
            locked[flush] = {name: 1e3 * median(each) for name, each in times.items()}
    rows = [[name, *(f"{locked[each][name]:.2f}" for each in locked)] for name in ("ask", "tell")]
    print(table(["others cannot write, ms", *(f"flush {each}" for each in locked)], rows))
    for watched in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            name = "watched" if watched else "not watched"
            lost[name] = lose_files(Path(folder), options.processes, options.seconds, watched)
    rows = [[name, *map(str, each.values())] for name, each in lost.items()]
    met = lost["watched"]["lost"] == 0
    print(table(["files", *lost["watched"], "bar"], [[*rows[0], verdict(met)], [*rows[1], ""]]))
    save(
        "files_in_use",
        provenance() | vars(options) | {"locked_ms": locked, "lost_files": lost, "met": met},
    )
