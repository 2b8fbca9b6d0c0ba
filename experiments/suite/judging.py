"""Two methods compared over groups of problems: differences of problems, tests, verdicts.

The gap of a run is the part of the way from the best initial value to the optimum that it went,
between 0 and 1. The runs of a problem that both methods have are averaged first; what is tested are
the differences of problems, by two-sided Wilcoxon signed-rank tests with Holm's correction for the
number of groups. A difference matters from 0.02 for a group and from 0.05 for a single problem.
"""

from __future__ import annotations

__all__ = [
    "GROUP_EFFECT",
    "PROBLEM_EFFECT",
    "GroupJudgement",
    "ProblemDifference",
    "bootstrap_interval",
    "gap",
    "judge",
    "problem_differences",
    "verdict",
]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from benchmarks.comparison import holm, paired_p_value
from outcrop.typing import Vector

GROUP_EFFECT, PROBLEM_EFFECT = 0.02, 0.05  # smallest differences of gaps that matter
LEVEL = 0.05
RESAMPLES = 10_000

Gaps: TypeAlias = Mapping[tuple[str, str], Mapping[int, float]]  # by group and problem, then run


@dataclass(frozen=True)
class ProblemDifference:
    """Mean gaps of a method and its reference on one problem, over the runs that both have."""

    group: str
    problem: str
    runs: int
    gap: float
    reference: float
    error: float  # standard error of the difference
    p: float  # of the runs' differences, not corrected

    @property
    def difference(self) -> float:
        return self.gap - self.reference


@dataclass(frozen=True)
class GroupJudgement:
    """What the problems of one group say together; `low` and `high` bound the difference."""

    group: str
    problems: int
    runs: int
    gap: float
    reference: float
    low: float
    high: float
    p: float  # corrected

    @property
    def difference(self) -> float:
        return self.gap - self.reference

    @property
    def verdict(self) -> str:
        return verdict(self.difference, self.low, self.high, self.p)


def gap(start: float, found: float, optimum: float) -> float:
    """The part of the way from `start` to `optimum`; 1 if the start was optimal."""
    if start <= optimum:
        return 1.0
    return float(np.clip((start - found) / (start - optimum), 0.0, 1.0))


def problem_differences(method: Gaps, reference: Gaps) -> list[ProblemDifference]:
    """One for each problem that both methods have a run of, in the order of `method`."""
    found = []
    for (group, problem), runs in method.items():
        others = reference.get((group, problem), {})
        both = sorted(runs.keys() & others.keys())
        if both:
            mine, theirs = (np.array([each[run] for run in both]) for each in (runs, others))
            apart = mine - theirs
            error = apart.std(ddof=1) / np.sqrt(len(both)) if len(both) > 1 else np.nan
            means, p = (float(mine.mean()), float(theirs.mean())), paired_p_value(apart)
            found.append(ProblemDifference(group, problem, len(both), *means, float(error), p))
    return found


def judge(differences: Sequence[ProblemDifference]) -> list[GroupJudgement]:
    """One for each group, in the order of their first problem."""
    groups = {one.group: [d for d in differences if d.group == one.group] for one in differences}
    each = {group: np.array([one.difference for one in those]) for group, those in groups.items()}
    p_values = holm([paired_p_value(values) for values in each.values()])
    return [
        GroupJudgement(
            group,
            len(those),
            sum(one.runs for one in those),
            float(np.mean([one.gap for one in those])),
            float(np.mean([one.reference for one in those])),
            *bootstrap_interval(each[group]),
            p,
        )
        for (group, those), p in zip(groups.items(), p_values, strict=True)
    ]


def bootstrap_interval(values: Vector, share: float = 0.95) -> tuple[float, float]:
    """Percentile interval of the mean; problems are drawn again with replacement."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(len(values), size=(RESAMPLES, len(values)))].mean(1)
    low, high = np.quantile(means, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)


def verdict(difference: float, low: float, high: float, p: float) -> str:
    """Better or worse need a significant difference that matters.

    There is none that matters if the whole interval is below the smallest such effect.
    """
    if max(abs(low), abs(high)) < GROUP_EFFECT:
        return "no difference that matters"
    if p < LEVEL and abs(difference) >= GROUP_EFFECT:
        return "better" if difference > 0 else "worse"
    return "undecided"
