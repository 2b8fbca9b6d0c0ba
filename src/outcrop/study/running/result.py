"""The result of a run, and the reasons why it ended."""

from __future__ import annotations

__all__ = [
    "CALLBACK",
    "DONE",
    "DRAINED",
    "EXHAUSTED",
    "INTERRUPTED",
    "MISTAKE",
    "TIMEOUT",
    "Result",
]

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from outcrop.study import data_frames
from outcrop.study.failed_branches import FailedBranch, failed_branches
from outcrop.study.running.protocol import Runnable
from outcrop.study.trial import HasBest, Trial, best_of

# Reasons why a run ended; stopping rules return their own.
DONE, TIMEOUT = "n_trials done", "timeout"
EXHAUSTED, INTERRUPTED = "space exhausted", "interrupted"
CALLBACK, MISTAKE = "a callback returned True", "a mistake in the objective"
DRAINED = "drained after SIGTERM"

SHOWN = 3  # failed branches in a line


@dataclass(frozen=True, eq=False, repr=False)
class Result(HasBest):
    """The result of a run; `trials` are all trials of the study.

    If no trial has finished, the properties of the best one raise `NoBelief`.
    """

    study: Any  # a `Runnable`, usually a `Study`
    trials: tuple[Trial, ...]
    interrupted: bool = False  # by Ctrl-C, SIGTERM or SIGHUP
    reason: str = ""  # why the run ended
    signal: int | None = None  # that interrupted it
    raised: Mapping[str, int] = field(default_factory=dict)  # how often, by type and place

    @classmethod
    def of(
        cls,
        study: Runnable,
        reason: str,
        raised: Mapping[str, int],
        *,
        interrupted: bool = False,
        signal: int | None = None,
    ) -> Result:
        """The result of a run, with the current trials of the study."""
        return cls(study, tuple(study.trials), interrupted, reason, signal, dict(raised))

    @property
    def best_trial(self) -> Trial:
        """The finished trial with the best value observed."""
        return best_of(self.trials, -1.0 if self.study.direction == "maximize" else 1.0)

    @property
    def n_failed(self) -> int:
        return sum(trial.state == "failed" for trial in self.trials)

    @property
    def failed_branches(self) -> tuple[FailedBranch, ...]:
        """Branches of a conditional space in which every trial failed."""
        return failed_branches(self.study.space, self.trials)

    def to_frame(self) -> Any:
        """All trials as a pandas DataFrame."""
        return data_frames.to_frame(self.trials, self.study.space)

    def __repr__(self) -> str:
        best = "nothing finished"
        if any(trial.state == "finished" for trial in self.trials):
            best = f"best_value={self.best_value!r}, best_params={dict(self.best_params)!r}"
        ended = f", {self.reason}" if self.reason else ""
        dead = "".join(f"; {branch}" for branch in self.failed_branches[:SHOWN])
        return f"Result({best}, {len(self.trials)} trials, {self.n_failed} failed{ended}{dead})"

    def _repr_html_(self) -> str:
        from outcrop.study.study_html import result_html  # needed by notebooks alone

        return result_html(self)
