"""The best of several trials, and its parameters and value."""

from __future__ import annotations

__all__ = ["HasBest", "best_of"]

from abc import ABC, abstractmethod
from collections.abc import Iterable

from outcrop.errors import NoBelief
from outcrop.study.trial import Trial
from outcrop.typing import Params


def best_of(trials: Iterable[Trial], sign: float) -> Trial:
    """The finished trial with the best value, the first of equals; `NoBelief` if none finished."""
    finished = [(trial.value, trial) for trial in trials if trial.value is not None]
    if not finished:
        raise NoBelief("no trial has finished yet, so there is no best one; tell a value first")
    return min(finished, key=lambda pair: sign * pair[0])[1]


class HasBest(ABC):
    """A base class that derives the best parameters and value from the best trial."""

    @property
    @abstractmethod
    def best_trial(self) -> Trial:
        """The finished trial with the best value observed; `NoBelief` if there is none."""

    @property
    def best_params(self) -> Params:
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        value = self.best_trial.value
        assert value is not None  # it is finished
        return value
