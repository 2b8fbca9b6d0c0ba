"""Objectives that worker processes can import."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np


def bowl(params):
    return (params["x"] - 0.3) ** 2


def raising(params):
    raise ValueError(f"x is {params['x']}")


def leaving(params):
    sys.exit(3)


@dataclass(frozen=True)
class Numbered:
    """Misbehaves in the trials of some numbers; else returns the trial's number."""

    way: str
    numbers: tuple[int, ...] = (1,)

    def evaluate(self, trial):
        if trial.number in self.numbers:
            WAYS[self.way]()
        return trial.number


WAYS = {
    "exit": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "segfault": lambda: ctypes.string_at(0),
    "sleep": lambda: time.sleep(60),
}


@dataclass(frozen=True)
class Awaiting:
    """The first trial ends when a file is there, the others at once."""

    file: str

    def evaluate(self, trial):
        deadline = time.monotonic() + 60
        while trial.number == 0 and not Path(self.file).exists():
            assert time.monotonic() < deadline, "the others did not end"
            time.sleep(0.01)
        return trial.number


def surroundings(params):
    """Fails with a word on where it runs."""
    ignores = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    threads = os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"]
    raise RuntimeError(f"{os.getpid() == int(os.environ['TEST_PARENT'])} {ignores} {threads}")


class Drawing:
    """A number of NumPy's global generator."""

    def __call__(self, params):
        return float(np.random.random())  # noqa: NPY002


class Unloadable:
    """Can be pickled, but not loaded."""

    def __reduce__(self):
        return _refuse, ()

    def __call__(self, params):
        return 0.0


def _refuse():
    raise ModuleNotFoundError("No module named 'nowhere'")


@dataclass(frozen=True)
class Loading:
    """Leaves a mark for every time that it is loaded."""

    folder: str

    def __setstate__(self, state):
        self.__dict__.update(state)
        (Path(self.folder) / f"loaded-{os.getpid()}-{time.monotonic_ns()}").touch()

    def __call__(self, params):
        return os.getpid()


@dataclass(frozen=True)
class SlowToLoad(Loading):
    """Leaves a mark, and is not loaded for a minute."""

    def __setstate__(self, state):
        super().__setstate__(state)
        time.sleep(60)


@dataclass(frozen=True)
class Resting:
    """Sleeps, and leaves the number of its process and of a program that it started."""

    folder: str
    seconds: float = 60.0
    quick: int = 2  # trials that do not sleep

    def evaluate(self, trial):
        if trial.number >= self.quick:
            program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
            for pid in (os.getpid(), program.pid):
                (Path(self.folder) / f"process-{pid}").touch()
            time.sleep(self.seconds)
        return float(trial.number)


def uneven(params):
    """A bowl whose evaluation takes the longer the higher it is."""
    value = (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2
    time.sleep(0.01 + 0.1 * value)
    return value
