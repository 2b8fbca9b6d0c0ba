"""The functions that run inside a worker process.

The objective is sent once, as bytes, and is loaded before the first trial. If that fails, every
trial of the worker fails with the reason; usually the probe has failed with it before.
"""

from __future__ import annotations

__all__ = ["PROBE", "end_if_probed", "report_loading", "serve"]

import os
import pickle
import signal
from collections.abc import Collection, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import current_process, parent_process
from types import FrameType
from typing import Any

import numpy as np

from outcrop.study.running import process_tree
from outcrop.study.running.evaluation import Outcome, error_text, evaluate_elsewhere
from outcrop.study.running.protocol import Objective
from outcrop.study.trial import Trial

PROBE = "outcrop-probe"  # name of the process that tests whether the objective can be loaded


def serve(
    supervisor: Connection,
    packed: bytes,
    handlers: Mapping[int, Any],
    unused: Collection[Connection],
) -> None:
    """Load the objective, then evaluate every trial that arrives and send its outcome.

    `handlers` are of the signals that the supervisor ignores; `unused` are connections of the
    supervisor of which this process is a copy.
    """
    for connection in unused:
        connection.close()
    parent = parent_process()
    for number, handler in handlers.items():
        signal.signal(number, handler)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run
    ending = _Ending()
    if hasattr(os, "setpgid"):
        with suppress(OSError):
            os.setpgid(0, 0)  # an objective that signals its group does not reach the supervisor
    assert parent is not None  # a worker is started by a supervisor
    process_tree.end_with_parent(parent.pid or 0)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=supervisor.close)  # so that its end is the worker's end
    np.random.seed()  # noqa: NPY002 - copies of a process would draw the same numbers
    objective = _loaded(packed)
    with suppress(EOFError, OSError):  # the supervisor has closed the connection
        supervisor.send(None)
        while not ending.requested:
            trial: Trial = supervisor.recv()
            outcome = (
                objective
                if isinstance(objective, Outcome)
                else evaluate_elsewhere(objective, trial)
            )
            if not ending.requested:
                supervisor.send(outcome)


def _loaded(packed: bytes) -> Objective | Outcome:
    """The objective, or the outcome of all trials if loading failed."""
    try:
        objective: Objective = pickle.loads(packed)
    except BaseException as error:
        return Outcome.of(error)
    return objective


class _Ending:
    """Raises `SystemExit` at SIGTERM, so that the objective can clean up.

    Processes that the objective forks end at SIGTERM as usual. They are given the usual handler
    while the signal is blocked: a handler in Python would lose a signal that arrives just before a
    call that waits, such as that of a pool's process for its next task.
    """

    def __init__(self) -> None:
        self.requested = False
        signal.signal(signal.SIGTERM, self._request)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: _mask(signal.SIG_BLOCK),
                after_in_parent=lambda: _mask(signal.SIG_UNBLOCK),
                after_in_child=_end_as_usual,
            )

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        raise SystemExit(128 + number)


def _mask(how: int) -> None:
    signal.pthread_sigmask(how, {signal.SIGTERM})


def _end_as_usual() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _mask(signal.SIG_UNBLOCK)


def report_loading(packed: bytes, environment: Mapping[str, str], writer: Connection) -> None:
    """Load the objective; send the type and message of the exception, or two empty strings."""
    os.environ.update(environment)
    process_tree.end_with_parent(os.getppid())
    process_tree.adopt_orphans()
    try:
        pickle.loads(packed)
    except BaseException as error:
        report = type(error).__name__, error_text(error)
    else:
        report = "", ""
    process_tree.end(lambda: process_tree.family(process_tree.children(os.getpid())))
    writer.send(report)
    writer.close()


def end_if_probed() -> None:
    """End a probe process that starts a run: its main script has no `__main__` guard."""
    if current_process().name == PROBE:
        raise SystemExit(1)
