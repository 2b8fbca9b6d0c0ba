"""The process between a run and a worker, which does not execute code of the user.

It starts the worker, passes trials on to it, limits their time, reports how a worker ended and
replaces it. When the worker ends, however that happens, and when the run ends, it ends all
processes that the objective has started.
"""

from __future__ import annotations

__all__ = ["supervise"]

import math
import multiprocessing
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, parent_process
from typing import Any

from outcrop.study.running import process_tree, worker_process
from outcrop.study.running.evaluation import Outcome
from outcrop.study.running.interrupts import SIGNALS, unblock

POLL = 0.5  # seconds after which a worker is looked at that has closed no connection


class RunEnded(Exception):
    """The run closed its connection, or its process has ended."""


def supervise(
    run: Connection, packed: bytes, environment: Mapping[str, str], trial_timeout: float | None
) -> None:
    """Evaluate the trials that `run` sends in a worker, and send their outcomes, until it ends."""
    inherited = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    unblock()
    if hasattr(os, "setsid"):
        with suppress(OSError):
            os.setsid()  # signals to the group of the run do not reach this process and its worker
    os.environ.update(environment)
    process_tree.adopt_orphans()
    supervisor = Supervisor(run, packed, trial_timeout, inherited)
    try:
        supervisor.go()
    except (RunEnded, EOFError, OSError):
        pass  # the run has ended
    finally:
        supervisor.end_worker()


class Supervisor:
    """A worker and the connections to it and to the run."""

    def __init__(
        self,
        run: Connection,
        packed: bytes,
        trial_timeout: float | None,
        inherited: Mapping[int, Any],
    ) -> None:
        self.run = run
        self.run_process = _sentinel_of_run()
        self.packed = packed
        self.trial_timeout = trial_timeout
        self.inherited = inherited  # handlers of signals, for the worker
        self.start_worker()

    def go(self) -> None:
        while True:
            self.await_run()
            outcome = self.evaluated(self.run.recv_bytes())
            self.run.send(outcome)

    def start_worker(self) -> None:
        """Start a worker, as a copy of this process where that is possible."""
        self.worker, theirs = multiprocessing.Pipe()
        can_fork = hasattr(os, "fork")
        context: Any = multiprocessing.get_context("fork" if can_fork else "spawn")
        ours = (self.run, self.worker) if can_fork else ()
        self.process: BaseProcess = context.Process(
            target=worker_process.serve,
            args=(theirs, self.packed, self.inherited if can_fork else {}, ours),
        )
        self.process.start()
        theirs.close()
        self.is_loaded = False
        self.from_the_start: list[int] = []  # processes that loading the objective has started

    def end_worker(self) -> int:
        """End the worker and all that it has started; its exit code."""
        self.worker.close()
        process_tree.end(self.everything)
        code = self.process.exitcode
        return -process_tree.KILL if code is None else code

    def evaluated(self, trial: bytes) -> Outcome:
        """The outcome of a trial."""
        if not self.process.is_alive():
            self.end_worker()
            self.start_worker()
        try:
            if not self.is_loaded:
                self.received(None)
                self.is_loaded = True
                self.from_the_start = self.everything()
            self.worker.send_bytes(trial)
            outcome: Outcome = self.received(self.trial_timeout)
        except TimeoutError:
            reason = f"no result within {self.trial_timeout:g} s"
        except RunEnded:
            raise
        except Exception:  # it has ended, or the objective wrote to its connection
            reason = ""
        else:
            process_tree.end(self.orphans)
            return outcome
        code = self.end_worker()
        self.start_worker()
        if reason:
            return Outcome(reason=reason)
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        return Outcome(reason=f"the process of the evaluation died ({ended})", died=True)

    def await_run(self) -> None:
        """Wait for a trial of the run; `RunEnded` if there will be none."""
        ready = wait([self.run, self.run_process])
        if self.run not in ready:
            raise RunEnded

    def received(self, seconds: float | None) -> Any:
        """The worker's next message; `EOFError` if it has ended, `TimeoutError` after `seconds`."""
        deadline = time.monotonic() + (math.inf if seconds is None else seconds)
        while (left := deadline - time.monotonic()) > 0:
            is_alive = self.process.is_alive()  # before looking for its last message
            ready = wait([self.run, self.run_process, self.worker], min(POLL, left))
            if self.run in ready or self.run_process in ready:
                raise RunEnded
            if ready:
                return self.worker.recv()
            if not is_alive:
                raise EOFError
        raise TimeoutError

    def everything(self) -> list[int]:
        """All processes below this one, the worker included."""
        is_alive, pid = self.process.is_alive(), self.process.pid
        assert pid is not None  # it was started
        process_tree.reap(spared=pid)
        found = process_tree.family(process_tree.children(os.getpid()))
        if not found and hasattr(os, "killpg"):
            found = process_tree.family([-pid])
        return found or ([pid] if is_alive else [])

    def orphans(self) -> list[int]:
        """Processes whose parent has ended and that a trial has started."""
        spared = [self.process.pid or 0, *self.from_the_start]
        process_tree.reap(spared[0])
        return process_tree.family(process_tree.children(os.getpid()), spared)


def _sentinel_of_run() -> Any:
    """What becomes ready when the process of the run has ended."""
    run = parent_process()
    assert run is not None  # a supervisor is started by a run
    if hasattr(os, "pidfd_open") and run.pid is not None:
        with suppress(OSError):
            # Unlike the sentinel, no copy of it is in a process that the run has forked.
            return os.pidfd_open(run.pid)
    return run.sentinel
