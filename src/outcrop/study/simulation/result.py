"""The result of a simulation: its trials and their times."""

from __future__ import annotations

__all__ = ["Simulation"]

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from outcrop.study import data_frames
from outcrop.study.optimizer import Optimizer
from outcrop.study.trial import HasBest, Trial, best_of
from outcrop.typing import Vector


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(HasBest):
    """A simulated search on `n_workers` workers.

    `trials` are ordered by number, with `started` and `finished` in virtual seconds; initial ones
    have no `started` and finished at time 0. If none has finished, `best_trial` raises `NoBelief`.
    """

    study: Optimizer  # its own trials have real times
    trials: tuple[Trial, ...]
    workers: tuple[int | None, ...]  # where each trial ran, from 0; None for initial ones
    n_workers: int
    mode: str
    thinking: float  # virtual seconds of the optimiser
    reason: str  # why it ended

    @property
    def best_trial(self) -> Trial:
        """The finished trial with the best value; the first by number of equals."""
        return best_of(self.trials, self._sign)

    @cached_property
    def evaluated(self) -> tuple[Trial, ...]:
        """Trials that ran on the workers, by number."""
        return tuple(trial for trial in self.trials if trial.started is not None)

    @property
    def n_evaluations(self) -> int:
        """How many trials ran on the workers, failures included."""
        return len(self.evaluated)

    @property
    def n_failed(self) -> int:
        return sum(trial.state == "failed" for trial in self.trials)

    @cached_property
    def makespan(self) -> float:
        """Virtual seconds from the start to the end of the last evaluation."""
        return float(np.max(self._spans[1], initial=0.0))

    @cached_property
    def busy(self) -> float:
        """Virtual seconds of all evaluations together."""
        started, finished = self._spans
        return float((finished - started).sum())

    @property
    def utilisation(self) -> float:
        """The share of the workers' time, over the whole makespan, in which they were busy.

        Waiting for the first suggestions, and at the end for the last evaluation, counts as idle.
        """
        return self.busy / (self.n_workers * self.makespan)

    @cached_property
    def best_so_far(self) -> tuple[Vector, Vector]:
        """Times at which values became known, and the best value from each of them on.

        Initial values were known at time 0.
        """
        told = sorted((_end(trial), trial.number, trial.value) for trial in self._finished)
        times = np.array([time for time, _, _ in told])
        values = np.array([value for _, _, value in told], dtype=float)
        return times, self._sign * np.minimum.accumulate(self._sign * values)

    def best_at(self, times: ArrayLike) -> Vector:
        """The best value that is known at each of `times`; NaN before the first."""
        known, best = self.best_so_far
        asked = np.asarray(times, dtype=float)
        return np.append(np.nan, best)[np.searchsorted(known, asked, side="right")]

    def to_frame(self) -> Any:
        """All trials as a pandas DataFrame; times are in virtual seconds."""
        frame = data_frames.to_frame(self.trials, self.study.space)
        for name in ("started", "finished"):
            frame[name] = np.array([getattr(trial, name) for trial in self.trials], dtype=float)
        frame["worker"] = np.array(self.workers, dtype=float)
        frame["worker"] = frame["worker"].astype("Int64")  # initial ones have none
        return frame

    def __repr__(self) -> str:
        best = f"best_value={self.best_value!r}, " if self._finished else ""
        return (
            f"Simulation({best}{self.n_evaluations} evaluations on {self.n_workers} workers, "
            f"{self.mode}, in {self.makespan:.6g} s, utilisation {self.utilisation:.3f}, "
            f"{self.n_failed} failed, {self.reason})"
        )

    @property
    def _sign(self) -> float:
        return -1.0 if self.study.direction == "maximize" else 1.0

    @property
    def _finished(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.value is not None]

    @cached_property
    def _spans(self) -> tuple[Vector, Vector]:
        """When each evaluation started and finished."""
        started = np.array([trial.started for trial in self.evaluated], dtype=float)
        return started, np.array([_end(trial) for trial in self.evaluated])


def _end(trial: Trial) -> float:
    assert trial.finished is not None  # a simulation ends when the last trial does
    return trial.finished
