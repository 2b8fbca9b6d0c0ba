"""The simulation in virtual time: one optimiser and several workers.

The optimiser computes one suggestion after the other, each from all trials that have finished when
its computation starts. In asynchronous mode it starts as soon as a worker is free, and the worker
starts when the suggestion is ready. In synchronous mode it starts when all workers are free, and
they start together when there is a suggestion for each.
"""

from __future__ import annotations

__all__ = ["simulate"]

import heapq
import logging
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from outcrop.errors import MethodError, SpaceExhausted
from outcrop.problems.base import Problem
from outcrop.space import Space
from outcrop.space.plain import exact_float, exact_int
from outcrop.strategies.registry import MethodLike
from outcrop.study.argument_checks import checked_count, checked_seconds, checked_seed
from outcrop.study.optimizer import Optimizer
from outcrop.study.running.evaluation import Outcome, checked_objective, evaluate
from outcrop.study.running.progress import ProgressView, RunTally, progress_view
from outcrop.study.running.protocol import Objective, Shown
from outcrop.study.running.result import DONE, EXHAUSTED
from outcrop.study.simulation.durations import Duration, HalfNormal, checked_duration
from outcrop.study.simulation.result import Simulation
from outcrop.study.trial import Trial
from outcrop.typing import Params

logger = logging.getLogger(__name__)

MODES = ("asynchronous", "synchronous")
MEASURED = "measured"
TRIALS = 100  # if neither n_trials nor until is given
UNTIL = "until reached"
DURATIONS, INITIAL = 101, 102  # streams of random numbers that differ from the optimiser's


def simulate(
    problem: Problem | str | Objective,
    method: MethodLike = "auto",
    *,
    n_workers: int,
    n_trials: int | None = None,
    until: float | None = None,
    duration: Duration | float = HalfNormal(),  # noqa: B008 - a frozen value
    mode: Literal["asynchronous", "synchronous"] = "asynchronous",
    overhead: float | Literal["measured"] = 0.0,
    initial: int | Sequence[Params] = (),
    enqueue: Sequence[Params] = (),
    space: Space | None = None,
    direction: str = "minimize",
    noise: bool | float | None = None,
    seed: int | None = 0,
    progress: Shown = "auto",
) -> Simulation:
    """Simulate a search on `n_workers` workers, in virtual time.

        simulation = oc.simulate("hartmann-6", "gp", n_workers=16, n_trials=200)
        simulation.best_value, simulation.makespan, simulation.utilisation
        oc.simulate(objective, space=space, n_workers=4, until=3600.0, duration=60.0)

    `problem` is one of `outcrop.problems`, its name, or a function together with its `space`. The
    simulation ends after `n_trials` trials, failures included, or starts none after the time
    `until`, in virtual seconds; without either, it ends after 100 trials. `duration` is the time of
    an evaluation (see `outcrop.durations`).

    A suggestion takes `overhead` virtual seconds, during which free workers wait; "measured" is the
    real time of its computation, so that two simulations differ. Everything else is reproducible
    with the same seed, and a trial of the same number takes equally long for every method and mode.

    `initial` are configurations that are evaluated before time 0, or how many of them to draw with
    the seed, so that compared methods start with the same data. They do not count as trials.
    `enqueue` are configurations that the workers evaluate first. `noise` is as in `Optimizer`.
    """
    objective, found = _objective_of(problem, space)
    if mode not in MODES:
        raise MethodError(f"mode={mode!r}: expected 'asynchronous' or 'synchronous'")
    if n_trials is None and until is None:
        n_trials = TRIALS
    chosen = checked_seed(seed)
    run = Run(
        Optimizer(
            found, method=method, direction=direction, seed=chosen, noise=noise, ask_seconds=None
        ),
        objective,
        checked_duration(duration, found),
        chosen,
        checked_count(n_workers, "n_workers"),
        mode,
        _checked_overhead(overhead),
        None if n_trials is None else checked_count(n_trials, "n_trials"),
        None if until is None else checked_seconds(until, "until"),
    )
    run.begin(_initial_points(initial, found, chosen), enqueue)
    run.go(progress)
    return run.result()


@dataclass(order=True)
class VirtualJob:
    """A running evaluation; jobs are ordered by the time at which they end."""

    finished: float
    number: int
    worker: int = field(compare=False)
    started: float = field(compare=False)
    trial: Trial = field(compare=False)
    outcome: Outcome = field(compare=False)


@dataclass
class Run:
    """A running simulation."""

    optimizer: Optimizer
    objective: Objective
    duration: Duration
    seed: int
    n_workers: int
    mode: str
    overhead: float | None  # None if it is measured
    n_trials: int | None
    until: float | None
    clock: float = 0.0
    thinking: float = 0.0
    asked: int = 0
    reason: str = ""
    free: list[tuple[float, int]] = field(default_factory=list)  # a heap: free since, worker
    running: list[VirtualJob] = field(default_factory=list)  # a heap
    done: list[VirtualJob] = field(default_factory=list)

    def begin(self, initial: Sequence[Params], enqueue: Sequence[Params]) -> None:
        """Evaluate the initial configurations and queue the others for the workers."""
        for params in initial:
            self.optimizer.enqueue(params)
            trial = self.optimizer.ask()
            self._tell(trial, evaluate(self.objective, trial))
        for params in enqueue:
            self.optimizer.enqueue(params)
        self.free = [(0.0, worker) for worker in range(self.n_workers)]

    def go(self, progress: Shown) -> None:
        """Advance the time until the last trial has ended."""
        tally = RunTally(self.n_trials, self.n_workers, self.optimizer.direction == "maximize")
        for trial in self.optimizer.trials:
            tally.consider(trial)
        with closing(progress_view(tally, progress)) as view:
            self._go(tally, view)

    def result(self) -> Simulation:
        """The result, once all trials have ended."""
        jobs = {job.number: job for job in self.done}
        trials = [_timed(trial, jobs.get(trial.number)) for trial in self.optimizer.trials]
        simulation = Simulation(
            study=self.optimizer,
            trials=tuple(trials),
            workers=tuple(
                jobs[trial.number].worker if trial.number in jobs else None for trial in trials
            ),
            n_workers=self.n_workers,
            mode=self.mode,
            thinking=self.thinking,
            reason=self.reason,
        )
        if simulation.n_failed == len(trials):
            first = trials[0].reason
            logger.warning("none of %d trials gave a value; the first: %s", len(trials), first)
        return simulation

    def _go(self, tally: RunTally, view: ProgressView) -> None:
        while True:
            while self.running and self.running[0].finished <= self.clock:
                job = heapq.heappop(self.running)
                heapq.heappush(self.free, (job.finished, job.worker))
                self.done.append(job)
                tally.count(self._tell(job.trial, job.outcome))
                tally.busy = len(self.running)
                view.update()
            if self._is_ready and not self.reason:
                self.reason = self._limit()
                if not self.reason:
                    tally.thinking += self._start()
                    tally.busy = len(self.running)
            elif self.running:
                self.clock = self.running[0].finished
            else:
                return

    @property
    def _is_ready(self) -> bool:
        """Whether a worker can get a trial now."""
        return bool(self.free) if self.mode == "asynchronous" else not self.running

    def _limit(self) -> str:
        if self.until is not None and self.clock >= self.until:
            return UNTIL
        return DONE if self.asked == self.n_trials else ""

    def _start(self) -> float:
        """Ask for one trial, or in synchronous mode one for each worker, and start them.

        Returns the real time of the ask, in seconds.
        """
        count = 1 if self.mode == "asynchronous" else self.n_workers
        left = None if self.n_trials is None else self.n_trials - self.asked
        if left is not None:
            count = min(count, left)
        began = time.perf_counter()
        try:
            trials = self.optimizer.ask(count, remaining=left)
        except SpaceExhausted as exhausted:
            if not self.asked:
                raise
            logger.info("no configuration is left: %s", exhausted)
            self.reason = EXHAUSTED
            trials = []
        measured = time.perf_counter() - began
        spent = measured if self.overhead is None else self.overhead * len(trials)
        self.clock += spent
        self.thinking += spent
        self.asked += len(trials)
        for trial in trials:
            _, worker = heapq.heappop(self.free)
            end = self.clock + self._seconds(trial)
            outcome = evaluate(self.objective, trial)
            job = VirtualJob(end, trial.number, worker, self.clock, trial, outcome)
            heapq.heappush(self.running, job)
        return measured

    def _seconds(self, trial: Trial) -> float:
        rng = np.random.default_rng([self.seed, trial.number, DURATIONS])
        seconds = self.duration(trial.params.copy(), rng)
        return checked_seconds(seconds, f"duration of trial {trial.number}, {dict(trial.params)},")

    def _tell(self, trial: Trial, outcome: Outcome) -> Trial:
        if outcome.value is None:
            return self.optimizer.fail(trial, outcome.reason)
        return self.optimizer.tell(trial, outcome.value)


def _timed(trial: Trial, job: VirtualJob | None) -> Trial:
    """A trial with its virtual times; initial trials, without a job, finished at time 0."""
    if job is None:
        return replace(trial, started=None, finished=0.0)
    return replace(trial, started=job.started, finished=job.finished)


def _objective_of(
    problem: Problem | str | Objective, space: Space | None
) -> tuple[Objective, Space]:
    """The objective and its space."""
    if isinstance(problem, str):
        from outcrop.problems import get

        problem = get(problem)
    if isinstance(problem, Problem):
        if space is not None:
            raise MethodError(
                f"problem {problem.name!r} has its own space; leave space= out, or pass only its "
                "function"
            )
        return problem, problem.space
    checked_objective(problem)
    if space is None:
        raise MethodError(
            "a function needs the space of its parameters: simulate(objective, space=…)"
        )
    return problem, space


def _initial_points(initial: int | Sequence[Params], space: Space, seed: int) -> Sequence[Params]:
    if isinstance(initial, Sequence) and not isinstance(initial, str | bytes):
        return initial
    count = exact_int(initial)
    if count is None or count < 0:
        raise MethodError(
            f"initial={initial!r}: expected a list of configurations, or the number to draw"
        )
    return space.sample(np.random.default_rng([seed, INITIAL]), count)


def _checked_overhead(overhead: float | str) -> float | None:
    if overhead == MEASURED:
        return None
    seconds = exact_float(overhead)
    if seconds is None or seconds < 0:
        raise MethodError(
            f"overhead={overhead!r}: expected virtual seconds per suggestion, at least 0, or "
            "'measured'"
        )
    return seconds
