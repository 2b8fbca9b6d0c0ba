"""What happens inside a worker process.

The objective arrives once, as bytes, and is loaded before the first trial. If that fails every
trial of the worker fails with the reason; the probe has usually found out before.
"""

from __future__ import annotations

__all__ = ["PROBE", "end_if_probed", "evaluate_loaded", "load", "report_loading"]

import os
import pickle
import signal
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from multiprocessing.process import current_process, parent_process
from types import FrameType
from typing import Any

import numpy as np

from outcrop.study.running.evaluation import Outcome, described, evaluate_elsewhere
from outcrop.study.running.interrupts import unblock
from outcrop.study.trial import Trial

GRACE = 5.0  # seconds to end in after a signal
PROBE = "outcrop-probe"  # name of the process that tries to load the objective

_loaded: Any = None  # the objective, or the outcome of every trial where it could not be loaded


def load(packed: bytes, environment: Mapping[str, str]) -> None:
    """Make this process ready to evaluate."""
    global _loaded
    os.environ.update(environment)
    np.random.seed()  # noqa: NPY002 - a copy of a process would draw the numbers of all others
    unblock()  # it is ignored by now, which a program of the objective's can undo
    _take_children_along()
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    try:
        _loaded = pickle.loads(packed)
    except BaseException as error:
        _loaded = Outcome.of(error)


def evaluate_loaded(trial: Trial) -> Outcome:
    """Evaluate the objective that was loaded."""
    if isinstance(_loaded, Outcome):
        return _loaded
    return evaluate_elsewhere(_loaded, trial)


def report_loading(packed: bytes, environment: Mapping[str, str], writer: Connection) -> None:
    """Send type and message of what loading raises, or two empty strings."""
    os.environ.update(environment)
    try:
        pickle.loads(packed)
    except BaseException as error:
        writer.send((type(error).__name__, described(error)))
    else:
        writer.send(("", ""))
    writer.close()


def end_if_probed() -> None:
    """End a probe that has come to a run: its script runs again when it is only imported."""
    if current_process().name == PROBE:
        raise SystemExit(1)


def _end_with_the_run() -> None:
    """Wait for the process that started this worker to be gone: nobody would hear of a result."""
    run = parent_process()
    assert run is not None  # a worker is started by a run
    run.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)  # an objective that computes outside of Python does not hear signals


def _take_children_along() -> None:
    """Have this worker, when it is told to end, end the programs that its objective started."""
    if not hasattr(os, "setpgid"):
        return
    try:
        os.setpgid(0, 0)
    except OSError:
        return  # its children then share the group with processes that are not its own
    previous = signal.getsignal(signal.SIGTERM)

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the group includes this process
        os.killpg(0, signal.SIGTERM)
        if callable(previous):
            previous(number, frame)
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end)
