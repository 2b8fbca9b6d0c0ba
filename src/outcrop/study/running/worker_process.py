"""The functions that run inside a worker process.

The objective is sent once, as bytes, and is loaded before the first trial. If that fails, every
trial of the worker fails with the reason; usually the probe has failed with it before.
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

import numpy as np

from outcrop.study.running.evaluation import Outcome, error_text, evaluate_elsewhere
from outcrop.study.running.interrupts import unblock
from outcrop.study.running.protocol import Objective
from outcrop.study.trial import Trial

GRACE = 5.0  # seconds to end in after a signal
PROBE = "outcrop-probe"  # name of the process that tests whether the objective can be loaded

_loaded: Objective | Outcome  # the objective, or the outcome of all trials if loading failed


def load(packed: bytes, environment: Mapping[str, str]) -> None:
    """Prepare this process and load the objective."""
    global _loaded
    os.environ.update(environment)
    np.random.seed()  # noqa: NPY002 - copies of a process would draw the same numbers
    unblock()  # Ctrl-C is ignored by now; a program that the objective starts can receive it
    _take_children_along()
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    try:
        _loaded = pickle.loads(packed)
    except BaseException as error:
        _loaded = Outcome.of(error)


def evaluate_loaded(trial: Trial) -> Outcome:
    """Evaluate the objective that `load` loaded."""
    if isinstance(_loaded, Outcome):
        return _loaded
    return evaluate_elsewhere(_loaded, trial)


def report_loading(packed: bytes, environment: Mapping[str, str], writer: Connection) -> None:
    """Load the objective; send the type and message of the exception, or two empty strings."""
    os.environ.update(environment)
    try:
        pickle.loads(packed)
    except BaseException as error:
        writer.send((type(error).__name__, error_text(error)))
    else:
        writer.send(("", ""))
    writer.close()


def end_if_probed() -> None:
    """End a probe process that starts a run: its main script has no `__main__` guard."""
    if current_process().name == PROBE:
        raise SystemExit(1)


def _end_with_the_run() -> None:
    """End this worker when the process that started it has ended."""
    run = parent_process()
    assert run is not None  # a worker is started by a run
    run.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)  # an objective that computes outside of Python does not handle signals


def _take_children_along() -> None:
    """When this worker is terminated, terminate the programs that its objective started too."""
    if not hasattr(os, "setpgid"):
        return
    try:
        os.setpgid(0, 0)
    except OSError:
        return  # its children then share the group of other processes
    previous = signal.getsignal(signal.SIGTERM)

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the group includes this process
        os.killpg(0, signal.SIGTERM)
        if callable(previous):
            previous(number, frame)
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end)
