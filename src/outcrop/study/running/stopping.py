"""Stopping rules.

A rule is a function that is called with the study before each ask and returns the reason to stop,
or None. Running trials are still finished. Any function of the study can be a rule.
"""

from __future__ import annotations

__all__ = ["ImprovementLeft", "MaxTrials", "NoImprovement", "Target"]

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from outcrop.errors import MethodError, TotalReached
from outcrop.space.plain import exact_float
from outcrop.study.argument_checks import checked_count
from outcrop.study.running.protocol import Runnable
from outcrop.study.trial import Trial
from outcrop.study.trial_counts import check_total

CONSECUTIVE = 3  # suggestions that must all expect little improvement


@dataclass(frozen=True)
class Target:
    """A value at least as good as this one was found.

    >>> Target(0.1)
    Target(value=0.1)
    """

    value: float

    def __post_init__(self) -> None:
        _number(self, "value")

    def __call__(self, study: Runnable) -> str | None:
        sign, values = _signed(study, study.trials)
        if values and min(values) <= sign * self.value:
            return f"target {self.value:g} reached: {sign * min(values):g}"
        return None


@dataclass(frozen=True)
class NoImprovement:
    """None of the last `trials` ended trials, failed ones included, was better by more than `by`.

    >>> NoImprovement(trials=20, by=0.01)
    NoImprovement(trials=20, by=0.01)
    """

    trials: int
    by: float = 0.0  # in units of the objective

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", checked_count(self.trials, "trials"))
        _number(self, "by", least=0.0)

    def __call__(self, study: Runnable) -> str | None:
        ended = [trial for trial in study.trials if trial.has_outcome]
        ended.sort(key=lambda trial: (trial.finished or 0.0, trial.number))
        _, before = _signed(study, ended[: -self.trials])
        _, since = _signed(study, ended[-self.trials :])
        if not before or min(before) - min(since, default=math.inf) > self.by:
            return None
        wanted = f" by more than {self.by:g}" if self.by else ""
        return f"no improvement{wanted} in {self.trials} trials"


@dataclass(frozen=True)
class ImprovementLeft:
    """The next trial is expected to gain less than a fraction of what was gained so far.

        study.optimize(objective, stop=[ImprovementLeft(0.01)])

    The fraction is of the difference between the best and the median value. Suggestions without a
    model, such as those of the initial design, record no expected improvement, and the study
    continues.
    """

    fraction: float

    def __post_init__(self) -> None:
        _number(self, "fraction", least=0.0)
        if self.fraction == 0:
            raise MethodError("fraction must be above 0: an expected improvement is never 0")

    def __call__(self, study: Runnable) -> str | None:
        trials = study.trials
        newest = [trial for trial in trials if trial.source == "asked"][-CONSECUTIVE:]
        left = [exact_float(trial.why.get("improvement")) for trial in newest]
        _, values = _signed(study, trials)
        if not values or len(left) < CONSECUTIVE:
            return None
        limit = self.fraction * (median(values) - min(values))
        if any(each is None or each >= limit for each in left):
            return None
        return f"expected improvement {left[-1]:.3g}, less than {self.fraction:g} of the spread"


@dataclass(frozen=True)
class MaxTrials:
    """The study has this many trials; running ones count, discarded ones do not.

    Trials of other processes count too, and every ask checks their number where it is written:
    processes that share a study and this rule never make more.

    >>> MaxTrials(100)
    MaxTrials(total=100)
    """

    total: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", checked_count(self.total, "total"))

    def __call__(self, study: Runnable) -> str | None:
        try:
            check_total(study.trials, self.total)
        except TotalReached as reached:
            return str(reached)
        return None


def _number(rule: object, name: str, least: float = -math.inf) -> None:
    """Convert a field to a float, or raise `MethodError`."""
    given = getattr(rule, name)
    number = exact_float(given)
    if number is None or number < least:
        bound = "" if least == -math.inf else f" of at least {least:g}"
        raise MethodError(f"{name} must be a finite number{bound}, got {given!r}")
    object.__setattr__(rule, name, number)


def _signed(study: Runnable, trials: Iterable[Trial]) -> tuple[float, list[float]]:
    """The sign that makes smaller better, and the finished values multiplied by it."""
    sign = -1.0 if study.direction == "maximize" else 1.0
    fitting = (trial for trial in trials if not trial.aside)
    return sign, [sign * trial.value for trial in fitting if trial.value is not None]
