"""Objectives for workers of clusters, which import this module."""

from __future__ import annotations

__all__ = ["SPACE", "Killed", "Noisy", "Poisoned", "bowl", "kill_noted"]

import os
import random
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from outcrop.space import Float, Space
from tests.study.running.processes import eventually

SPACE = Space({"x": Float(0, 1), "y": Float(0, 1)})


def bowl(params):
    return (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2


@dataclass(frozen=True)
class Killed:
    """Waits in one trial until somebody kills its process; the next time it returns."""

    folder: str
    number: int = 3

    def evaluate(self, trial):
        note = Path(self.folder) / "process"
        if trial.number == self.number and not note.exists():
            note.write_text(str(os.getpid()))
            time.sleep(600)
        return bowl(trial.params)


@dataclass(frozen=True)
class Poisoned:
    """Kills its own process in one trial, each time."""

    number: int = 2

    def evaluate(self, trial):
        if trial.number == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
        return bowl(trial.params)


class Noisy:
    """Another value for every call, also at the same point."""

    def __call__(self, params):
        return random.random()


def kill_noted(folder: Path) -> threading.Thread:
    """A thread that kills the process that `Killed` notes in the folder."""

    def kill() -> None:
        note = folder / "process"
        assert eventually(lambda: note.exists() and note.read_text() != "", 600.0)
        os.kill(int(note.read_text()), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread
