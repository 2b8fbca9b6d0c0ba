"""Searches of several methods on one problem, described by themselves and compared in pairs.

The gap is the part of the way from the best initial value to the minimum that a search went; 1 is a
solved problem. "After n iterations" leaves initial points out, "after n trials" counts them.
"""

from __future__ import annotations

__all__ = [
    "COLUMNS",
    "Searches",
    "best_traces",
    "best_value_table",
    "by_method",
    "corrected_p_values",
    "extent",
    "gap_table",
]

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from benchmarks.comparison import gaps, holm, paired_p_value
from benchmarks.reporting import table
from experiments.harness import Cell, Row
from experiments.searches import problem_of
from outcrop.typing import Matrix, Vector

K = TypeVar("K", bound=Hashable)
Numbers: TypeAlias = Mapping[int, float]  # by run

SOLVED = 0.99  # the gap of a search that found the minimum's basin and its bottom
COLUMNS = f"""\
Columns. gap: mean ± sd of the part of the way from the best initial value to the minimum, after so
many trials with the initial ones; solved: runs with a gap of {SOLVED} or more; iterations: how many
those needed, initial points left out, median; regret: best value less the minimum, median; p:
two-sided Wilcoxon test of the last gap, paired by run, against the first method, Holm over the
table; s: seconds of processor time per suggestion, mean of a run, median of the runs."""


@dataclass(frozen=True, eq=False)
class Searches:
    """The searches of one method on one problem, by the number of the run."""

    rows: Mapping[int, Row]
    minimum: float

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_initial(self) -> int:
        return int(next(iter(self.rows.values()))["n_initial"])

    @property
    def values(self) -> Matrix:
        """`(runs, trials)`; searches of different lengths are cut to the shortest."""
        shortest = min(len(row["values"]) for row in self.rows.values())
        return np.array([row["values"][:shortest] for row in self.rows.values()])

    def gaps(self, trials: int | None = None) -> dict[int, float]:
        """The gap of each run after so many trials, initial ones included; or after all."""
        found = gaps(self.values[:, :trials], self.n_initial, self.minimum)
        return dict(zip(self.rows, found.tolist(), strict=True))

    def regrets(self, trials: int | None = None) -> Vector:
        """Best value less the minimum, after so many trials of each run."""
        return np.maximum(self.values[:, :trials].min(1) - self.minimum, 0.0)

    def iterations_to(self, gap: float, trials: int | None = None) -> list[int | None]:
        """After how many iterations each run came so far, or None if not within `trials`."""
        n, traces = self.n_initial, best_traces(self.values[:, :trials])
        first = traces[:, n - 1]
        reached = traces <= (first - gap * (first - self.minimum))[:, None]
        return [max(int(row.argmax()) + 1 - n, 0) if row.any() else None for row in reached]

    def seconds(self) -> float:
        """Seconds of processor time per suggestion: the mean of a run, and of these the median."""
        return float(np.median([np.mean(row["seconds"]) for row in self.rows.values()]))


def best_traces(values: Matrix) -> Matrix:
    """The best value so far, `(runs, trials)`."""
    return np.minimum.accumulate(values, axis=1)


def by_method(rows: Sequence[Row], problem: str) -> dict[str, Searches]:
    """The searches on one problem, by method in the order of their first row.

    A minimum that is not known is the best value of all of them.
    """
    found: dict[str, dict[int, Row]] = {}
    for row in rows:
        if row["cell"]["problem"] == problem:
            found.setdefault(row["cell"]["method"], {})[row["run"]] = row
    minimum = problem_of(problem).minimum
    if minimum is None:
        values = [row["values"] for runs in found.values() for row in runs.values()]
        minimum = min(map(min, values), default=0.0)
    return {method: Searches(runs, minimum) for method, runs in found.items()}


def extent(rows: Sequence[Row], cells: Sequence[Cell]) -> str:
    """How many runs the cells of problems and methods have, and which of them have none."""
    counts = {(cell["problem"], cell["method"]): 0 for cell in cells}
    for row in rows:
        counts[row["cell"]["problem"], row["cell"]["method"]] += 1
    found = sorted({count for count in counts.values() if count})
    runs = "no runs" if not found else f"{found[0]} to {found[-1]} runs"
    text = f"{found[0]} runs" if len(found) == 1 else runs
    absent = []
    for problem in dict.fromkeys(problem for problem, _ in counts):
        methods = [method for each, method in counts if each == problem]
        without = [method for method in methods if not counts[problem, method]]
        if without:
            named = f" with {', '.join(f'`{method}`' for method in without)}"
            absent.append(problem + (named if len(without) < len(methods) else ""))
    return f"{text}; without results: {'; '.join(absent)}." if absent else f"{text}."


def corrected_p_values(pairs: Mapping[K, tuple[Numbers, Numbers]]) -> dict[K, float]:
    """Whether two methods differ, given a number for each of their runs.

    Two-sided Wilcoxon tests over the runs that both have, with Holm's correction for their number.
    """
    p_values = {}
    for key, (one, other) in pairs.items():
        if both := sorted(one.keys() & other.keys()):
            p_values[key] = paired_p_value(np.array([one[run] - other[run] for run in both]))
    return dict(zip(p_values, holm(list(p_values.values())), strict=True))


def gap_table(
    rows: Sequence[Row],
    problems: Sequence[str],
    baseline: str,
    trials: Sequence[int],
    published: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """What each method reached on each problem, as Markdown.

    Gaps are shown after each of `trials`, mean ± sd. The last of them is the one that is compared
    with the baseline's, with one correction for the whole table. `published` says what a document
    tells of (problem, method).
    """
    last = trials[-1]
    every = {
        (problem, method): searches
        for problem in problems
        for method, searches in by_method(rows, problem).items()
    }
    p_values = corrected_p_values(
        {
            (problem, method): (searches.gaps(last), every[problem, baseline].gaps(last))
            for (problem, method), searches in every.items()
            if method != baseline and (problem, baseline) in every
        }
    )
    header = ["problem", "method", "runs", *(f"gap at {n}" for n in trials)]
    header += ["solved", "iterations", "regret", "p", "s"]
    lines = []
    for key, searches in every.items():
        reached = searches.iterations_to(SOLVED, last)
        solved = [n for n in reached if n is not None]
        line = [*key, str(len(searches))]
        line += [mean_and_sd(list(searches.gaps(n).values())) for n in trials]
        line += [f"{len(solved)}/{len(reached)}", f"{np.median(solved):.0f}" if solved else ""]
        line += [f"{np.median(searches.regrets(last)):.1e}"]
        line += [f"{p_values[key]:.3f}" if key in p_values else "", f"{searches.seconds():.3f}"]
        lines.append([*line, published.get(key, "")] if published else line)
    return table([*header, "published"] if published else header, lines)


def best_value_table(
    rows: Sequence[Row],
    problems: Sequence[str],
    methods: Sequence[str],
    published: Mapping[str, Sequence[str]],
) -> str:
    """The best value of a search, mean ± sd, and below it what a document says; as Markdown."""
    lines = []
    for problem in problems:
        searches = by_method(rows, problem)
        best = [searches[m].values.min(1) if m in searches else [] for m in methods]
        minimum = f"{problem_of(problem).minimum:.4f}"
        shown = [mean_and_sd(each) if len(each) else "" for each in best]
        lines.append([problem, minimum, str(max(map(len, best))), *shown])
        if problem in published:
            lines.append(["", "", "published", *published[problem]])
    return table(["problem", "minimum", "runs", *methods], lines)


def mean_and_sd(numbers: Sequence[float] | Vector) -> str:
    return f"{np.mean(numbers):.4f} ± {np.std(numbers):.4f}"
