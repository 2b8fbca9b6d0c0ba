"""Processes that tests start and watch: their numbers in a folder, and whether they still run."""

from __future__ import annotations

__all__ = ["ENVIRONMENT", "ROOT", "eventually", "is_alive", "marked", "noted", "still_alive"]

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
DEADLINE = 120.0  # seconds; far more than anything takes on a busy machine


def marked(folder: str | Path, pid: int) -> None:
    """Note the number of a process in a folder, for `noted`."""
    (Path(folder) / f"process-{pid}").touch()


def noted(folder: Path, count: int) -> list[int]:
    """The numbers of processes that were noted in a folder, once there are so many."""
    assert eventually(lambda: len(list(folder.glob("process-*"))) >= count), "processes are missing"
    return [int(path.name.split("-")[1]) for path in folder.glob("process-*")]


def still_alive(pids: Iterable[int]) -> list[int]:
    """Those of the processes that do not end; a signal takes its time."""
    pids = list(pids)
    eventually(lambda: not any(is_alive(pid) for pid in pids), 60.0)
    return [pid for pid in pids if is_alive(pid)]


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and that nobody has collected yet does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def eventually(condition: Callable[[], bool], seconds: float = DEADLINE) -> bool:
    """Whether a condition becomes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
