"""Stored results of many methods ranked, as a Markdown report.

Only runs that all methods have count. On each problem methods are ranked by the mean gap of their
runs, to three decimals, so that methods which solve a problem share a place; ranks and gaps are
then averaged over the problems of a group, and over all problems. A second rank compares single
runs from the same start by the gap without rounding.
"""

from __future__ import annotations

__all__ = ["Standing", "rank", "standings"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.reporting import table
from experiments.suite.comparing import Side, gaps_of, require_comparable
from experiments.suite.judging import Gaps
from experiments.suite.known_best import Best

DECIMALS = 3  # of gaps that are ranked
EVERY = "all"  # the column of all problems together

ABOUT = f"""\
Ranks: mean over problems of the place by the mean gap of a problem's runs, to {DECIMALS} decimals;
1 is best, equal gaps share a place. Ranks of runs: single runs from the same start, gaps without
rounding. Only runs that all methods have count."""


@dataclass(frozen=True)
class Standing:
    """Means of one method, by group and over all problems."""

    name: str
    rank: dict[str, float]
    run_rank: dict[str, float]
    gap: dict[str, float]


def rank(sides: Sequence[Side], best: Best, heading: str = "##") -> str:
    """Tables of mean ranks and mean gaps, the method with the best rank first."""
    for one, other in combinations(sides, 2):
        require_comparable(one, other)
    gaps = {side.name: gaps_of(side.rows, best) for side in sides}
    ranked = sorted(standings(gaps), key=lambda one: one.rank[EVERY])
    counts = _counts(gaps)
    return "\n\n".join(
        [
            f"{heading} Ranks",
            _table(ranked, counts, lambda one: one.rank, 2),
            f"{heading} Ranks of runs",
            _table(ranked, counts, lambda one: one.run_rank, 2),
            f"{heading} Gaps",
            _table(ranked, counts, lambda one: one.gap, 3),
            ABOUT,
        ]
    )


def standings(gaps: dict[str, Gaps]) -> list[Standing]:
    """The standing of each method, in the order given."""
    from scipy.stats import rankdata

    common = _common(gaps)
    if not common:
        raise ValueError(f"{', '.join(gaps)} have no runs in common")
    means, ranks, run_ranks = [], [], []
    for problem, runs in common.items():
        values = np.array([[of[problem][run] for run in runs] for of in gaps.values()])
        means.append(values.mean(1))
        ranks.append(rankdata(-means[-1].round(DECIMALS)))
        run_ranks.append(rankdata(-values, axis=0).mean(1))
    groups = np.array([group for group, _ in common])

    def of_groups(values: Sequence[np.ndarray], method: int) -> dict[str, float]:
        column = np.array(values)[:, method]
        each = {group: float(column[groups == group].mean()) for group in dict.fromkeys(groups)}
        return {EVERY: float(column.mean()), **each}

    return [
        Standing(name, of_groups(ranks, i), of_groups(run_ranks, i), of_groups(means, i))
        for i, name in enumerate(gaps)
    ]


def _common(gaps: dict[str, Gaps]) -> dict[tuple[str, str], list[int]]:
    """The runs of each problem that all methods have."""
    first, *others = gaps.values()
    shared = {
        problem: sorted(set(runs).intersection(*(other.get(problem, {}) for other in others)))
        for problem, runs in first.items()
    }
    return {problem: runs for problem, runs in shared.items() if runs}


def _counts(gaps: dict[str, Gaps]) -> dict[str, int]:
    """How many problems each column has."""
    groups = [group for group, _ in _common(gaps)]
    return {EVERY: len(groups), **{group: groups.count(group) for group in groups}}


def _table(
    ranked: Sequence[Standing],
    counts: dict[str, int],
    values: Callable[[Standing], dict[str, float]],
    decimals: int,
) -> str:
    header = ["method", *(f"{name} ({count})" for name, count in counts.items())]
    lines = [
        [one.name, *(f"{values(one)[name]:.{decimals}f}" for name in counts)] for one in ranked
    ]
    return table(header, lines)
