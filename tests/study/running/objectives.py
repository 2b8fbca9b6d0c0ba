"""Objectives that worker processes can import."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.study.running.processes import marked


def bowl(params):
    return (params["x"] - 0.3) ** 2


def branching(params):
    """Needs conditional parameters by their short names, and changes what it gets."""
    layers = params.pop("layers") if "layers" in params else 0
    return params["x"] + layers


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
    "exit well": lambda: os._exit(0),
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
                marked(self.folder, pid)
            time.sleep(self.seconds)
        return float(trial.number)


def uneven(params):
    """A bowl whose evaluation takes the longer the higher it is."""
    value = (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2
    time.sleep(0.01 + 0.1 * value)
    return value


@dataclass(frozen=True)
class Forking:
    """Forks in every trial; its child comes back too, in some way, and must not be heard."""

    way: str

    def evaluate(self, trial):
        child = os.fork()
        if child == 0:
            return RETURNS[self.way]()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return trial.number + code / 100


def signalled_child(params):
    """0 if a forked child would end at SIGTERM wherever it waits, else 1."""
    child = os.fork()
    if child == 0:
        is_blocked = signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        os._exit(is_blocked or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL)
    return float(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def pooled(params):
    """Sends its work to processes of its own, which end with SIGTERM."""
    with multiprocessing.Pool(2) as pool:
        return sum(pool.map(abs, [params["x"]] * 4)) / 4


def _fail():
    raise ValueError("of the child")


RETURNS = {
    "return": lambda: -1.0,
    "raise": _fail,
    "exit": lambda: sys.exit(7),
    "interrupt": lambda: signal.raise_signal(signal.SIGTERM),
}


@dataclass(frozen=True)
class Starting:
    """Starts programs that sleep, notes their numbers in a folder, and then does something."""

    folder: str
    then: str = "return"
    hows: tuple[str, ...] = ("child", "session", "orphan")

    def evaluate(self, trial):
        for how in self.hows:
            marked(self.folder, STARTS[how]())
        marked(self.folder, os.getpid())
        THEN[self.then]()
        return float(trial.number)


SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(300)"]


def _orphan():
    """A program whose parent has ended, in a session of its own."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.write(writing, str(subprocess.Popen(SLEEP).pid).encode())
        os._exit(0)
    os.wait()
    return int(os.read(reading, 100))


def _ignore_and_sleep():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(300)


def _hold():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # which would wake it
    ctypes.PyDLL(None).sleep(300)  # unlike `CDLL`, it does not let other threads run


STARTS = {
    "child": lambda: subprocess.Popen(SLEEP).pid,
    "session": lambda: subprocess.Popen(SLEEP, start_new_session=True).pid,
    "orphan": _orphan,
}
THEN = {
    "return": lambda: None,
    "segfault": lambda: ctypes.string_at(0),
    "ignore SIGTERM": _ignore_and_sleep,
    "hold the interpreter": _hold,
}


@dataclass(frozen=True)
class Misspelt:
    """Has a mistake that shows in every trial."""

    way: str

    def __call__(self, params):
        return params["y"] if self.way == "key" else None
