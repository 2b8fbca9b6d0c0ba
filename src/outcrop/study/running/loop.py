"""The loop: ask, evaluate, tell, in one process or many, until there is a reason to stop.

One thread asks and tells. It asks as soon as a worker is free, after everything that has arrived
was told, so that each suggestion knows all there is to know.
"""

from __future__ import annotations

__all__ = ["run"]

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from outcrop.errors import (
    AllTrialsFailed,
    ObjectiveError,
    SpaceExhausted,
    StorageError,
    TrialError,
)
from outcrop.study.argument_checks import checked_count, checked_seconds
from outcrop.study.running import lease_renewal
from outcrop.study.running.evaluation import checked_objective, described
from outcrop.study.running.interrupts import Interrupts
from outcrop.study.running.progress import ProgressView, RunTally, Silent, progress_view
from outcrop.study.running.protocol import Callback, Rule, Runnable
from outcrop.study.running.result import Result
from outcrop.study.running.run_limits import EXHAUSTED, INTERRUPTED, Limits, functions
from outcrop.study.running.workers import InProcess, Job, Workers, workers_for
from outcrop.study.trial import Trial

logger = logging.getLogger(__name__)

HOPELESS = 5  # an objective that raises this often from the start is broken
# Seconds between two looks at what runs: this share of the time since something happened, so that
# a worker waits for no more than that share of its evaluation, within bounds.
WAIT_SHARE, SHORTEST_WAIT, LONGEST_WAIT = 0.005, 0.001, 0.02


def run(
    study: Runnable,
    objective: Any,
    n_trials: int | None = None,
    *,
    timeout: float | None = None,
    n_workers: int | None = None,
    executor: Any = None,
    trial_timeout: float | None = None,
    callbacks: Iterable[Callback] | Callback = (),
    stop: Iterable[Rule] | Rule = (),
    progress: bool | Literal["auto"] = "auto",
) -> Result:
    """Evaluate `n_trials` new trials of a study, failures included.

    `objective` is a function of a dict of parameters, or an object with a method `evaluate(trial)`;
    raising, or returning anything but a finite number, fails the trial. After `timeout` seconds, or
    once a rule of `stop` says why, nothing new is started and what runs is finished. One worker
    evaluates in this process; several, or a `trial_timeout` in seconds, use processes of which each
    can die alone. An `executor`, any of the kind of `concurrent.futures`, is used instead, for
    `n_workers` trials at once.

    `callbacks` are called with the study and each trial that is done. Ctrl-C ends the workers,
    gives running trials back and returns what was found so far, marked `interrupted`. If the first
    5 trials of a study all raise, `AllTrialsFailed` shows the first traceback. This and any other
    exception carries the trials so far as its attribute `result`.
    """
    from outcrop.study.running.worker_process import end_if_probed  # loads multiprocessing

    end_if_probed()
    limits = Limits(
        None if n_trials is None else checked_count(n_trials, "n_trials"),
        None if timeout is None else checked_seconds(timeout, "timeout"),
        functions(stop, "stop"),
    )
    tally = RunTally(limits.n_trials, maximise=study.direction == "maximize")
    for trial in study.trials:
        tally.consider(trial)
    checked_objective(objective)
    called = functions(callbacks, "callbacks")
    with (
        Interrupts() as interrupts,
        lease_renewal.Heartbeat(study, lease_renewal.LEASE) as heartbeat,
    ):
        here = InProcess(objective, interrupts)  # until the workers are there
        loop = Loop(study, limits, called, tally, heartbeat, interrupts, here)
        return loop.result(
            lambda: workers_for(objective, n_workers, executor, trial_timeout, interrupts),
            lambda: progress_view(tally, progress),
        )


@dataclass(eq=False)
class RunningTrial:
    """A trial between its ask and its tell."""

    trial: Trial
    job: Job | None = None  # None until it is handed to a worker


@dataclass
class Loop:
    """A run under way."""

    study: Runnable
    limits: Limits
    callbacks: list[Callback]
    tally: RunTally
    heartbeat: lease_renewal.Heartbeat
    interrupts: Interrupts
    workers: Workers
    view: ProgressView = field(default_factory=Silent)
    running: list[RunningTrial] = field(default_factory=list)
    asked: int = 0
    reason: str = ""  # why nothing more is asked
    tracebacks: list[str] = field(default_factory=list)  # while all trials raised
    changed: float = field(default_factory=time.monotonic)  # when something happened

    def result(self, workers: Callable[[], Workers], view: Callable[[], ProgressView]) -> Result:
        """Run to the end, whatever it is."""
        try:
            self.workers = workers()
            self.tally.workers = self.workers.size
            self.view = view()
            self._go()
            self._close()
            self.study.stop(self.reason)
        except KeyboardInterrupt:
            self._abandon(INTERRUPTED)
            return Result.of(self.study, INTERRUPTED, interrupted=True)
        except BaseException as error:
            self._abandon(f"error: {described(error).splitlines()[0]}")
            self._attach_result(error)
            raise
        result = Result.of(self.study, self.reason, interrupted=self.interrupts.pressed)
        logger.info("the run ended after %d trials: %s", self.tally.done, self.reason)
        if result.trials and result.n_failed == len(result.trials):
            first = result.trials[0].reason
            logger.warning("none of %d trials gave a value; the first: %s", result.n_failed, first)
        return result

    def _go(self) -> None:
        while True:
            self._tell_what_arrived()
            self.interrupts.check()
            if not self.reason and len(self.running) < self.workers.size:
                self.reason = self.workers.broken or self.limits.reached(
                    self.study, self.asked, self.tally.elapsed
                )
                if not self.reason:
                    self._start_one()
                    continue
            if not self.running:
                break
            self._wait()
        if self.workers.broken:
            raise ObjectiveError(
                f"the executor broke ({self.workers.broken}); what ran is recorded as failed, all "
                "else is kept. If a process died, n_workers= instead of executor= would have lost "
                "its trial only"
            )

    def _start_one(self) -> None:
        began = time.perf_counter()
        try:
            trial = self.study.ask(lease=lease_renewal.LEASE)
        except SpaceExhausted as exhausted:
            logger.info("nothing is left to ask for: %s", exhausted)
            self.reason = EXHAUSTED
            return
        running = RunningTrial(trial)
        self.running.append(running)
        self.heartbeat.hold(trial.number)
        self.asked += 1
        self._show(thinking=time.perf_counter() - began)
        running.job = self.workers.start(trial)

    def _tell_what_arrived(self) -> None:
        while arrived := self._arrived():
            for running in arrived:
                self._finish(running)

    def _arrived(self) -> list[RunningTrial]:
        return [each for each in self.running if each.job and each.job.done()]

    def _finish(self, running: RunningTrial) -> None:
        """Tell what came of a trial, and let the callbacks know."""
        began = time.perf_counter()
        trial = self._told(running)
        self._show(thinking=time.perf_counter() - began)
        if trial is None:
            return
        for callback in self.callbacks:
            with self.interrupts.allowed():
                callback(self.study, trial)
        if len(self.tracebacks) == self.tally.done - 1 and "traceback" in trial.info:
            self.tracebacks.append(trial.info["traceback"])
            if self.tally.done == HOPELESS and self.tally.best is None:
                raise AllTrialsFailed(
                    f"the first {HOPELESS} trials all raised; the first traceback:\n"
                    f"{self.tracebacks[0]}"
                )

    def _told(self, running: RunningTrial) -> Trial | None:
        """The trial, finished or failed, once the study knows; None if it is not wanted any more.

        Somebody else may have released it, or told what they like.
        """
        assert running.job is not None  # it is done
        outcome = running.job.outcome()
        trial = None
        try:
            if outcome.value is not None:
                trial = self.study.tell(running.trial, outcome.value)
            else:
                info = {"traceback": outcome.traceback} if outcome.traceback else None
                trial = self.study.fail(running.trial, outcome.reason, info=info)
        except TrialError as error:
            logger.warning("what came of a trial is not kept (%s): %s", outcome, error)
        self._forget(running)
        if trial is not None:
            self.tally.count(trial)
            if trial.state == "failed":
                logger.info("trial %d failed: %s", trial.number, trial.reason)
        return trial

    def _forget(self, running: RunningTrial) -> None:
        self.running.remove(running)
        self.heartbeat.let_go(running.trial.number)

    def _show(self, thinking: float) -> None:
        self.changed = time.monotonic()
        self.tally.thinking += thinking
        self.tally.busy = len(self.running)
        self.view.update()

    def _wait(self) -> None:
        share = WAIT_SHARE * (time.monotonic() - self.changed)
        with self.interrupts.allowed():
            time.sleep(min(max(share, SHORTEST_WAIT), LONGEST_WAIT))
        self.view.update()

    # The end

    def _close(self) -> None:
        try:
            self.view.close()
        finally:
            self.workers.stop()

    def _abandon(self, reason: str) -> None:
        """Keep what has arrived, end the workers, give back what ran, and say so.

        Something has gone wrong already, so that trouble on the way is logged and no more. A store
        that does not answer is not asked again: leases run out by themselves.
        """
        arrived = self._arrived()
        try:
            try:
                for running in arrived:
                    with _attempt("tell a result"):
                        self._told(running)
            finally:
                with _attempt("end the workers"):
                    self._close()
            for running in list(self.running):
                self._give_back(running, reason)
            with _attempt("record why the run ended"):
                if reason == INTERRUPTED:
                    logger.warning("interrupted: %d trials are kept", len(self.study.trials))
                if reason == INTERRUPTED or self.asked:
                    self.study.stop(reason)
        except StorageError as error:
            logger.warning("the store could not be told how the run ended: %s", error)
            for running in arrived:
                if running in self.running and running.job is not None:
                    number, outcome = running.trial.number, running.job.outcome()
                    logger.warning("trial %d is not told: %s", number, outcome)

    def _give_back(self, running: RunningTrial, reason: str) -> None:
        trial = running.trial
        with _attempt(f"give trial {trial.number} back"):
            self.study.release(trial)
            params = dict(trial.params)
            logger.warning("%s: trial %d is given back, %s", reason, trial.number, params)
        self._forget(running)

    def _attach_result(self, error: BaseException) -> None:
        try:
            error.result = Result.of(self.study, described(error))  # type: ignore[attr-defined]
        except Exception:
            return  # the store is gone, or the exception takes no attributes
        error.add_note("the trials so far are in this exception's attribute `result`")


@contextmanager
def _attempt(what: str) -> Iterator[None]:
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        logger.warning("could not %s: %s", what, described(error))
