"""The loop of a run: ask, evaluate and tell until there is a reason to stop.

One thread asks and tells. It asks as soon as a worker is free, after it has told every outcome that
has arrived, so that each suggestion uses all values there are.
"""

from __future__ import annotations

__all__ = ["run"]

import logging
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from outcrop.errors import MethodError, ObjectiveError, SpaceExhausted, TotalReached
from outcrop.study.argument_checks import checked_count, checked_seconds
from outcrop.study.running.evaluation import checked_objective, error_text
from outcrop.study.running.failure_watch import FailureWatch, checked_on_error
from outcrop.study.running.forked_copies import without_copies
from outcrop.study.running.interrupts import Interrupts
from outcrop.study.running.progress import ProgressView, RunTally, progress_view
from outcrop.study.running.protocol import (
    Callback,
    Executor,
    Objective,
    OnError,
    Runnable,
    Shown,
    StopRule,
)
from outcrop.study.running.result import (
    CALLBACK,
    DONE,
    DRAINED,
    EXHAUSTED,
    INTERRUPTED,
    MISTAKE,
    TIMEOUT,
    Result,
)
from outcrop.study.running.running_trials import RunningTrial, RunningTrials, attempt
from outcrop.study.running.stopping import MaxTrials
from outcrop.study.running.worker_names import worker_name
from outcrop.study.running.workers import Workers, workers_for
from outcrop.study.stop_requests import StopRequest
from outcrop.study.trial import Trial
from outcrop.study.trial_counts import counted

logger = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., object])

# Seconds between two looks at what runs: this share of the time since something happened, so that
# a worker waits for no more than that share of its evaluation, within bounds.
WAIT_SHARE, SHORTEST_WAIT, LONGEST_WAIT = 0.005, 0.001, 0.02


def run(
    study: Runnable,
    objective: Objective,
    n_trials: int | None = None,
    *,
    timeout: float | None = None,
    n_workers: int | None = None,
    executor: Executor | None = None,
    trial_timeout: float | None = None,
    callbacks: Iterable[Callback] | Callback = (),
    stop: Iterable[StopRule] | StopRule = (),
    progress: Shown = "auto",
    on_error: OnError = "stop",
    worker: str | None = None,
    drain: bool = False,
    requested: StopRequest | None = None,
) -> Result:
    """Evaluate `n_trials` new trials of a study, as `Study.optimize` describes."""
    from outcrop.study.running.worker_process import end_if_probed  # loads multiprocessing

    end_if_probed()
    total = None if n_trials is None else checked_count(n_trials, "n_trials")
    seconds = None if timeout is None else checked_seconds(timeout, "timeout")
    rules = _functions(stop, "stop")
    if total is None and seconds is None and not rules:
        raise MethodError(
            "a run needs a limit: pass n_trials=, timeout= in seconds, or a rule in stop="
        )
    most = min((rule.total for rule in rules if isinstance(rule, MaxTrials)), default=None)
    before = _done_before(study, total, most)
    tally = RunTally(total, maximise=study.direction == "maximize", before=before)
    for trial in study.trials:
        tally.consider(trial)
    checked_objective(objective)
    called = _functions(callbacks, "callbacks")
    watch = FailureWatch(study, checked_on_error(on_error))
    request = requested or StopRequest()
    interruptions = Interrupts(partial(request.make, DRAINED) if drain else None)
    mine = RunningTrials(study, tally, watch, interruptions, worker_name(worker), most)
    with interruptions as interrupts, mine as trials:
        try:
            with request:
                workers = workers_for(objective, n_workers, executor, trial_timeout, interrupts)
                tally.workers = workers.size
                with _at_end(workers.stop, "end the workers"):
                    view = progress_view(tally, progress)
                    with _at_end(view.close, "close the progress display"):
                        loop = Loop(
                            study,
                            seconds,
                            rules,
                            called,
                            tally,
                            interrupts,
                            trials,
                            workers,
                            view,
                            request,
                        )
                        loop.go()
            study.stop(loop.reason)
        except KeyboardInterrupt:
            reason = _interruption(interrupts)
            trials.abandon(reason)
            result = Result.of(
                study, reason, watch.raised, interrupted=True, signal=interrupts.number
            )
        except BaseException as error:
            trials.abandon(f"error: {error_text(error).splitlines()[0]}")
            _attach_result(study, watch, error)
            raise
        else:
            logger.info("the run ended after %d trials: %s", tally.done, loop.reason)
            pressed, number = interrupts.pressed, interrupts.number
            result = Result.of(study, loop.reason, watch.raised, interrupted=pressed, signal=number)
        watch.log_counts()
        _warn_of_failures(result)
        return result


def _done_before(study: Runnable, total: int | None, most: int | None) -> int:
    """The trials of the study that are done, if the run makes the rest of `most`; else 0."""
    if total is None or most is None:
        return 0
    done = counted(study.trials) - sum(trial.state == "running" for trial in study.trials)
    return done if done + total == most else 0


@dataclass
class Loop:
    """A run under way."""

    study: Runnable
    timeout: float | None
    rules: Sequence[StopRule]
    callbacks: Sequence[Callback]
    tally: RunTally
    interrupts: Interrupts
    trials: RunningTrials
    workers: Workers
    view: ProgressView
    request: StopRequest
    reason: str = ""  # why nothing more is asked
    due: deque[tuple[Callback, Trial]] = field(default_factory=deque)  # calls that are to be made
    changed: float = field(default_factory=time.monotonic)  # when something happened
    has_said_draining: bool = False

    def go(self) -> None:
        """Run until there is a reason to stop and nothing runs; an error loses no outcome."""
        try:
            self._go()
        except BaseException:
            self._announce(self.trials.tell_done())
            self._call_despite_errors()
            raise
        if self.workers.broken:
            raise ObjectiveError(
                f"the executor broke ({self.workers.broken}); the trials that ran are given back, "
                "all others are kept. If a process died, n_workers= instead of executor= would "
                "have lost its trial only"
            )
        if self.trials.watch.mistake is not None:
            raise self.trials.watch.mistake

    def _go(self) -> None:
        while True:
            while done := self.trials.done():
                for running in done:
                    self._finish(running)
            self.interrupts.check()
            if not self.reason and len(self.trials) < self.workers.size:
                self.reason = self.workers.broken or self._limit()
                if not self.reason:
                    self._start_one()
                    continue
            if not self.trials:
                return
            self._wait()

    def _limit(self) -> str:
        """The reason to start no further trial, or an empty text."""
        if self.trials.watch.mistake is not None:
            return MISTAKE
        if self.request.reason:
            return self.request.reason
        for rule in self.rules:
            with without_copies():
                reason = rule(self.study)
            if reason:
                return str(reason)
        if self.timeout is not None and self.tally.elapsed >= self.timeout:
            return TIMEOUT
        return DONE if self.trials.asked == self.tally.total else ""

    def _start_one(self) -> None:
        began = time.perf_counter()
        try:
            running = self.trials.ask()
        except SpaceExhausted as exhausted:
            logger.info("no configuration is left: %s", exhausted)
            self.reason = EXHAUSTED
            return
        except TotalReached as reached:
            self.reason = str(reached)
            return
        self._show(thinking=time.perf_counter() - began)
        running.job = self.workers.start(running.trial)

    def _finish(self, running: RunningTrial) -> None:
        """Tell the outcome of a trial, then call the callbacks."""
        began = time.perf_counter()
        trial = self.trials.tell(running)
        self._show(thinking=time.perf_counter() - began)
        if trial is None:
            return
        self._announce([trial])
        while self.due:
            with self.interrupts.allowed(), without_copies():
                callback, ended = self.due.popleft()
                if callback(self.study, ended) is True:
                    self.request.make(CALLBACK)
        self.trials.watch.check_hope()

    def _announce(self, trials: Iterable[Trial]) -> None:
        """Let every callback see these trials."""
        self.due.extend((callback, trial) for trial in trials for callback in self.callbacks)

    def _call_despite_errors(self) -> None:
        """Make the calls that are due after an error or Ctrl-C; further errors are logged."""
        while self.due:
            callback, trial = self.due.popleft()
            try:
                with without_copies():
                    callback(self.study, trial)
            except Exception as error:
                logger.warning("a callback failed after the run: %s", error_text(error))

    def _show(self, thinking: float) -> None:
        self.changed = time.monotonic()
        self.tally.thinking += thinking
        self.tally.busy = len(self.trials)
        self.view.update()

    def _wait(self) -> None:
        share = WAIT_SHARE * (time.monotonic() - self.changed)
        with self.interrupts.allowed():
            time.sleep(min(max(share, SHORTEST_WAIT), LONGEST_WAIT))
        if self.interrupts.is_draining and not self.has_said_draining:
            self.has_said_draining = True
            logger.warning(
                "SIGTERM: the run ends when %d running trials have ended; a second SIGTERM or "
                "Ctrl-C gives them back",
                len(self.trials),
            )
        self.view.update()


def _functions(given: Iterable[F] | F, name: str) -> list[F]:
    """A list of functions, from one function or several."""
    try:
        listed: list[F] = [given] if callable(given) else list(given)
    except TypeError:
        raise MethodError(f"{name} must be a list of functions, got {given!r}") from None
    for each in listed:
        if isinstance(each, type):
            raise MethodError(f"{name}: {each.__name__} is a class; write {each.__name__}(…)")
        if not callable(each):
            raise MethodError(f"{name} must hold functions, got {each!r}")
    return listed


@contextmanager
def _at_end(close: Callable[[], None], what: str) -> Iterator[None]:
    """Call `close` after the block; if the block raises, an error of `close` is only logged."""
    try:
        yield
    except BaseException:
        with attempt(what):
            close()
        raise
    close()


def _interruption(interrupts: Interrupts) -> str:
    """Why a run was interrupted: by Ctrl-C, or by a signal that is named."""
    if interrupts.number in (None, signal.SIGINT):
        return INTERRUPTED
    return f"{INTERRUPTED} by {signal.Signals(interrupts.number).name}"


def _warn_of_failures(result: Result) -> None:
    if result.trials and result.n_failed == len(result.trials):
        first = result.trials[0].reason
        logger.warning("none of %d trials gave a value; the first: %s", result.n_failed, first)
        return
    for branch in result.failed_branches:
        logger.warning("%s", branch)


def _attach_result(study: Runnable, watch: FailureWatch, error: BaseException) -> None:
    try:
        result = Result.of(study, error_text(error), watch.raised)
        error.result = result  # type: ignore[attr-defined]
    except Exception:
        return  # the store is gone, or the exception takes no attributes
    error.add_note("the trials so far are in this exception's attribute `result`")
