"""Every hostile objective in every way it can be run, each in a process of its own with a deadline.

Measured for each run: whether it ended, whether honest trials have their values, whether hostile
ones have their own value or a reason that says what happened, and which processes are left five
seconds after the end.
"""

from __future__ import annotations

__all__ = ["attack", "cases", "run_one"]

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.attack.hostile_objectives import ENDS, HOSTILE, VALUE, honest
from benchmarks.attack.hostile_run import QUEUE, study_of
from benchmarks.attack.marked import MARK, end, left_after
from benchmarks.environment import ROOT

DEADLINE = 90.0  # seconds of a run
ORPHANS = 5.0  # seconds after the end until a process that is left counts


def cases() -> list[tuple[str, str]]:
    """Names of objectives, and the ways to run each."""
    return [(name, way) for name, hostile in HOSTILE.items() for way in hostile.becomes]


def run_one(name: str, way: str, deadline: float = DEADLINE) -> dict[str, Any]:
    """One run, and what is wrong with it; nothing if `problems` is empty."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as where:
        folder = Path(where)
        with (folder / "output").open("wb") as output:
            started = time.monotonic()
            run = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.attack.hostile_run", name, way, where],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env=os.environ | {MARK: mark, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
                start_new_session=True,  # one that ends its whole group ends itself only
            )
            hung = _ended(run, deadline)
            seconds = time.monotonic() - started
        left = left_after(mark, ORPHANS)
        end(left)
        problems = ["hang"] if hung else []
        problems += [f"orphan: {command}" for command in left.values()]
        problems += _compared(folder, HOSTILE[name].becomes[way])
        said = (folder / "output").read_bytes()[-2000:].decode(errors="replace")
    return {
        "objective": name,
        "way": way,
        "seconds": seconds,
        "code": run.returncode,
        "problems": problems,
        "output": said,
    }


def _ended(run: subprocess.Popen[bytes], deadline: float) -> bool:
    """Wait for a run; whether it had to be ended."""
    try:
        run.wait(deadline)
        return False
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.kill(run.pid, signal.SIGKILL)
        run.wait()
        return True


def _compared(folder: Path, becomes: str) -> list[str]:
    """What is wrong with the trials of a run."""
    trials = {trial.params["x"]: trial for trial in study_of(folder).trials}
    problems = []
    for params in QUEUE:
        trial = trials.get(params["x"])
        if trial is None or trial.state == "running":
            if becomes != ENDS:
                problems.append(f"no outcome: {params}")
        elif trial.state == "finished":
            if params["hostile"] and becomes != VALUE:
                problems.append(f"a value, not a failure: {trial.value}")
            elif trial.value != honest(params):
                problems.append(f"a wrong value: {trial.value} at {params}")
        elif not params["hostile"]:
            problems.append(f"an honest trial failed: {trial.reason}")
        elif becomes == VALUE:
            problems.append(f"a harmless trial failed: {trial.reason}")
        elif becomes != ENDS and not re.search(becomes, trial.reason):
            problems.append(f"an unclear reason: {trial.reason}")
    first = trials.get(QUEUE[0]["x"])
    if first is None or first.state != "finished":
        problems.append("the first value is lost")
    return problems


def attack(first: int, count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """The reports of `count` runs from `first` on; nothing depends on the seed."""
    for index, (name, way) in list(enumerate(cases()))[first : first + count]:
        run = run_one(name, way)
        print(f"{name}, {way}: {'; '.join(run['problems']) or 'as it must be'}", flush=True)
        yield {
            "case": index,
            "objective": name,
            "way": way,
            "seconds": run["seconds"],
            "problems": [
                {"kind": _kind(problem), "text": problem, "output": run["output"]}
                for problem in run["problems"]
            ],
        }


def _kind(problem: str) -> str:
    first = problem.partition(":")[0]
    return first if first in ("hang", "orphan") else "outcome"
