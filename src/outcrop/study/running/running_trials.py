"""The trials of a run between their ask and their tell, and the renewal of their leases.

A trial whose lease expires is handed out again.
"""

from __future__ import annotations

__all__ = ["LEASE", "RunningTrial", "RunningTrials", "attempt"]

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from outcrop.errors import StorageError, TrialError
from outcrop.study.running.evaluation import error_text
from outcrop.study.running.failure_watch import FailureWatch
from outcrop.study.running.interrupts import Interrupts
from outcrop.study.running.progress import RunTally
from outcrop.study.running.protocol import Runnable
from outcrop.study.running.result import INTERRUPTED
from outcrop.study.running.workers import Job
from outcrop.study.trial import Trial

logger = logging.getLogger(__name__)

LEASE = 60.0  # seconds after a crash until the trial is handed out again


@dataclass(eq=False)
class RunningTrial:
    """A trial between its ask and its tell."""

    trial: Trial
    job: Job | None = None  # None until a worker has it


@dataclass
class RunningTrials:
    """Asks for trials, tells their outcomes, and gives back those that have none.

    While the block of a `with` lasts, a thread renews the leases of the trials. An error there is
    logged, and the renewal is tried again: a lost lease costs one evaluation, not the run.
    """

    study: Runnable
    tally: RunTally
    watch: FailureWatch
    interrupts: Interrupts
    worker: str = ""  # the name under which trials are asked for
    total: int | None = None  # trials that the study may have, those of other processes included
    each: list[RunningTrial] = field(default_factory=list)
    asked: int = 0
    store_failed: bool = False  # while a failed run was being ended
    _taken: set[int] = field(default_factory=set)  # trials of which a warning was given
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> RunningTrials:
        self._thread = threading.Thread(target=self._renew, name="outcrop-heartbeat", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join()

    def __len__(self) -> int:
        return len(self.each)

    def ask(self) -> RunningTrial:
        """The next trial, `SpaceExhausted` or `TotalReached`; its lease is renewed meanwhile."""
        left = None if self.tally.total is None else self.tally.total - self.asked
        trial = self.study.ask(lease=LEASE, total=self.total, remaining=left, worker=self.worker)
        running = RunningTrial(trial)
        self.each.append(running)
        self.asked += 1
        return running

    def done(self) -> list[RunningTrial]:
        """Trials whose evaluation has ended."""
        return [running for running in self.each if running.job and running.job.done()]

    def tell(self, running: RunningTrial) -> Trial | None:
        """Tell the outcome of an evaluation that has ended; the finished or failed trial.

        None if it was given back, or if another process has released or told it meanwhile.
        """
        assert running.job is not None  # it has ended
        outcome = running.job.outcome()
        if outcome.lost or (outcome.died and self.interrupts.is_draining):
            self._give_back(running, f"{outcome.reason}: ")
            self.asked -= 1  # another trial takes its place
            return None
        before = self.watch.mistake
        if self.watch.is_mistake(running.trial, outcome):
            self._give_back(running)
            if self.each and before is None:
                left, mistake = len(self.each), self.watch.mistake
                logger.warning("the run ends when %d running trials have ended: %s", left, mistake)
            return None
        trial = None
        try:
            if outcome.value is not None:
                trial = self.study.tell(running.trial, outcome.value)
            else:
                info = {"traceback": outcome.traceback} if outcome.traceback else None
                trial = self.study.fail(running.trial, outcome.reason, info=info)
        except TrialError as error:
            logger.warning("the outcome of a trial is not kept (%s): %s", outcome, error)
        self.each.remove(running)
        if trial is not None:
            self.tally.count(trial)
            self.watch.record(trial, outcome)
        return trial

    # After an error or Ctrl-C: further errors are logged, so that the first one is raised. A store
    # that fails is not tried again, since that may take a minute; leases expire by themselves.

    def tell_done(self) -> list[Trial]:
        """Tell the outcomes that have arrived; the trials that have ended."""
        done = self.done()
        told: list[Trial] = []
        try:
            for running in done:
                with attempt("tell a result"):
                    trial = self.tell(running)
                    told += [trial] if trial is not None else []
        except StorageError as error:
            self._log_store_failure(error)
            for running in done:
                if running in self.each and running.job is not None:
                    number, outcome = running.trial.number, running.job.outcome()
                    logger.warning("trial %d is not told: %s", number, outcome)
        return told

    def abandon(self, reason: str) -> None:
        """Give back all trials that are left, and record why the run ended."""
        if self.store_failed:
            return
        try:
            for running in list(self.each):
                self._give_back(running, f"{reason}: ")
            with attempt("record why the run ended"):
                interrupted = reason.startswith(INTERRUPTED)
                if interrupted:
                    logger.warning("%s: %d trials are kept", reason, len(self.study.trials))
                if interrupted or self.asked:
                    self.study.stop(reason)
        except StorageError as error:
            self._log_store_failure(error)

    def _give_back(self, running: RunningTrial, reason: str = "") -> None:
        trial = running.trial
        with attempt(f"give trial {trial.number} back"):
            self.study.release(trial)
            params = dict(trial.params)
            if trial.why.get("source") == "queue":
                self.study.enqueue(params)  # the user wanted it
            logger.warning("%strial %d is given back, %s", reason, trial.number, params)
        self.each.remove(running)

    def _renew(self) -> None:
        while not self._over.wait(LEASE / 3):
            numbers = sorted({running.trial.number for running in list(self.each)})
            if not numbers:
                continue
            try:
                held = self.study.renew(numbers, LEASE)
                self._warn_of_taken({*numbers} - held)
            except Exception as error:
                logger.warning("the leases of trials %s could not be renewed: %s", numbers, error)

    def _warn_of_taken(self, numbers: set[int]) -> None:
        """Warn once of each trial that runs here and that another worker has got meanwhile."""
        if not numbers:
            return
        ours = {running.trial.number: running.trial.attempt for running in list(self.each)}
        for trial in self.study.trials:
            number = trial.number
            if number not in numbers or number in self._taken:
                continue
            if trial.attempt == ours.get(number, trial.attempt):
                continue  # it has just ended
            self._taken.add(number)
            advice = "; give each worker a name of its own" if trial.worker == self.worker else ""
            logger.warning(
                "trial %d was handed out again meanwhile, to worker %r; the first of the two "
                "results counts%s",
                number,
                trial.worker,
                advice,
            )

    def _log_store_failure(self, error: StorageError) -> None:
        self.store_failed = True
        logger.warning("the end of the run could not be recorded in the store: %s", error)


@contextmanager
def attempt(what: str) -> Iterator[None]:
    """Log an error of the block, except for one of the store."""
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        logger.warning("could not %s: %s", what, error_text(error))
