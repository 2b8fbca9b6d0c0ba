"""What worker processes cost: seconds until a result, after a crash, and of a program's guard.

All numbers are seconds of this machine, medians of the stated number of repetitions.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import os
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from statistics import median
from threading import Event
from typing import Any

from benchmarks.reporting import provenance, save, table
from outcrop.cli import process
from outcrop.study.running.interrupts import Interrupts
from outcrop.study.running.isolated_workers import Isolated
from outcrop.study.running.workers import Job
from outcrop.study.trial import Trial

LOOK = 0.0002  # seconds between two looks at a job
WORKERS = 2
NOTHING = [sys.executable, "-I", "-S", "-c", ""]  # a program that does nothing


def objective(params: dict[str, Any]) -> float:
    if params["x"] < 0:
        os._exit(3)
    return float(params["x"])


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--repetitions", type=int, default=10)


def run(options: Namespace) -> None:
    repetitions = range(options.repetitions)
    starts, tasks, crashes, replacements = [], [], [], []
    for _ in range(options.repetitions + 1):
        began = time.perf_counter()
        workers = Isolated(objective, WORKERS, None, Interrupts())
        seconds(workers.start(trial(1.0)), began)
        starts.append(time.perf_counter() - began)
        workers.stop()
    workers = Isolated(objective, WORKERS, None, Interrupts())
    for _ in range(options.tasks):
        began = time.perf_counter()
        tasks.append(seconds(workers.start(trial(1.0)), began))
    for _ in repetitions:
        began = time.perf_counter()
        crashes.append(seconds(workers.start(trial(-1.0)), began))
        began = time.perf_counter()  # the first of two tasks is for the worker that died
        jobs = [workers.start(trial(1.0)) for _ in range(WORKERS)]
        replacements.append(max(seconds(job, began) for job in jobs))
    workers.stop()
    with tempfile.TemporaryDirectory() as folder:
        programs = [program_seconds(Path(folder)) for _ in repetitions]
        alone = [alone_seconds() for _ in repetitions]
    measured = {
        "first result of the first run": starts[0],
        "first result of later runs": median(starts[1:]),
        "a task": median(tasks),
        "until a crash is noticed": median(crashes),
        "from there to the next result of both workers": median(replacements),
        "a program that does nothing, with its guard": median(programs),
        "the same program without a guard": median(alone),
    }
    print(table(["worker processes", "s"], [[name, f"{s:.4f}"] for name, s in measured.items()]))
    counts = {"tasks": options.tasks, "repetitions": options.repetitions, "workers": WORKERS}
    save("worker_processes", provenance() | counts | {"seconds": measured})


def trial(x: float) -> Trial:
    return Trial(0, {"x": x}, {"x": x})


def seconds(job: Job, began: float) -> float:
    """Seconds since `began` once a job is done."""
    while not job.done():
        time.sleep(LOOK)
    return time.perf_counter() - began


def program_seconds(folder: Path) -> float:
    began = time.perf_counter()
    code = process.run(
        NOTHING,
        str(folder),
        os.environ,
        folder / "stdout",
        folder / "stderr",
        timeout=None,
        grace=1.0,
        stop=Event(),
    )
    assert code == 0
    return time.perf_counter() - began


def alone_seconds() -> float:
    began = time.perf_counter()
    os.waitpid(os.spawnv(os.P_NOWAIT, NOTHING[0], NOTHING), 0)
    return time.perf_counter() - began
