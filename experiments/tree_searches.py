"""Which search of the leaves of a tree is the default: 20 runs of five trees, one version.

The shares that compete were chosen by other runs (`tree_search_choice`); here the default is
compared with what it replaced and with the two steps of Jenatton et al. (2017).
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Mapping, Sequence

import numpy as np

import outcrop as oc
from benchmarks.comparison import holm, paired_p_value
from benchmarks.reporting import table
from experiments.comparison import Searches, by_method
from experiments.harness import Cell, Experiment, Row
from experiments.suite.judging import LEVEL, PROBLEM_EFFECT, bootstrap_interval
from experiments.tree_figure2 import TWO_STEPS, logarithms, tree_search
from outcrop.strategies import EachBranch
from outcrop.surrogates import TreeStructured
from outcrop.typing import Vector

TRIALS = 40
SHOWN = (20, 40)  # trials after which regrets are compared
DEFAULT = "auto"
METHODS = {
    DEFAULT: oc.Method(surrogate=TreeStructured()),
    "auto all leaves": oc.Method(surrogate=TreeStructured(), maximiser=EachBranch()),
    "tree two steps": oc.Method(
        surrogate=TreeStructured(sees_shared=False, chance=1.0),
        acquisition=TWO_STEPS,
        maximiser=EachBranch(),
    ),
}
PROBLEMS = (
    "tree-small",
    "tree-small-shared",
    "tree-large",
    "tree-large-shared",
    "tree-unbalanced-4",
)
EVERY_TREE = "mean of the trees"
LOG, GAP = "log₁₀ regret", "gap"
EFFECTS = {LOG: 0.3, GAP: PROBLEM_EFFECT}  # smallest differences that matter


def run(cell: Cell, number: int) -> Row:
    return tree_search(cell, METHODS, number, TRIALS)


def report(rows: Sequence[Row]) -> str:
    found = {problem: by_method(rows, problem) for problem in PROBLEMS}
    parts = [READING, reached(found)]
    for rival in METHODS:
        if rival == DEFAULT or not any(rival in methods for methods in found.values()):
            continue
        for measure, effect in EFFECTS.items():
            header = ["tree", "trials", "runs", DEFAULT, rival, "gain", "better : worse", "p"]
            lines = compared(found, rival, measure, effect)
            parts += [f"`{DEFAULT}` and `{rival}`, {measure}:", table([*header, "verdict"], lines)]
    return "\n\n".join([*parts, FINDINGS])


def reached(found: Mapping[str, Mapping[str, Searches]]) -> str:
    """Right leaves, the worst run and the time of every method."""
    lines = []
    for problem, methods in found.items():
        for method, each in methods.items():
            right = np.sum([row["right"][: len(SHOWN)] for row in each.rows.values()], axis=0)
            last = logarithms(each.values, each.minimum)[:, -1]
            line = [problem, method, str(len(each)), *map(str, right)]
            lines.append([*line, f"{last.max():.2f}", f"{each.seconds():.3f}"])
    header = ["tree", "method", "runs", *(f"right leaf at {n}" for n in SHOWN)]
    return table([*header, "worst", "s"], lines)


def compared(
    found: Mapping[str, Mapping[str, Searches]], rival: str, measure: str, effect: float
) -> list[list[str]]:
    """A line for each tree and number of trials, and for the mean of the trees."""
    pairs: dict[tuple[str, int], tuple[Vector, Vector]] = {}
    for problem, methods in found.items():
        if DEFAULT in methods and rival in methods:
            both = sorted(methods[DEFAULT].rows.keys() & methods[rival].rows.keys())
            for n in SHOWN:
                one, other = (
                    measured(methods[method], both, n, measure) for method in (DEFAULT, rival)
                )
                pairs[problem, n] = one, other
    if (
        len(pairs) == len(PROBLEMS) * len(SHOWN)
        and len({len(one) for one, _ in pairs.values()}) == 1
    ):
        for n in SHOWN:
            ones, others = zip(*(pairs[problem, n] for problem in PROBLEMS), strict=True)
            pairs[EVERY_TREE, n] = np.mean(ones, axis=0), np.mean(others, axis=0)
    sign = 1 if measure == GAP else -1
    p_values = holm([paired_p_value(one - other) for one, other in pairs.values()])
    lines = []
    for ((problem, n), (one, other)), p in zip(pairs.items(), p_values, strict=True):
        gains = sign * (one - other)
        low, high = bootstrap_interval(gains)
        line = [problem, str(n), str(len(gains)), f"{one.mean():.3f}", f"{other.mean():.3f}"]
        line += [f"{gains.mean():.3f} [{low:.3f}, {high:.3f}]"]
        line += [f"{(gains > 0).sum()} : {(gains < 0).sum()}", f"{p:.3f}"]
        lines.append([*line, verdict(float(gains.mean()), low, high, p, effect)])
    return lines


def measured(searches: Searches, runs: Sequence[int], n: int, measure: str) -> Vector:
    """The gap or the logarithm of the regret of some runs after `n` trials."""
    some = Searches({run: searches.rows[run] for run in runs}, searches.minimum)
    if measure == GAP:
        return np.array(list(some.gaps(n).values()))
    return np.asarray(logarithms(some.values[:, :n], some.minimum)[:, -1])


def verdict(gain: float, low: float, high: float, p: float, effect: float) -> str:
    """Better or worse need a significant difference of at least `effect`."""
    if max(abs(low), abs(high)) < effect:
        return "no difference that matters"
    if p < LEVEL and abs(gain) >= effect:
        return "better" if gain > 0 else "worse"
    return "undecided"


READING = f"""\
The trees of Figure 2 with {TRIALS} trials; all methods of a run start from the same points, one in
each leaf. All results are of one version of the library.

- `auto` is the default of conditional spaces, `method="tree"`: every third suggestion, by lot, is
  restricted to the leaf of the incumbent (`EachBranch(focus=1 / 3)`), the others search all leaves.
- `auto all leaves` is the same model with a search of all leaves at every suggestion
  (`EachBranch()`), the default before.
- `tree two steps` is the document's method: a leaf is chosen by its level, then a point in it
  (`TopBranches(count=1, extras=False, exact_up_to=0)`), and the model is always that of processes
  in leaves, which do not see shared variables.

Columns of the first table. right leaf: runs whose best trial lies in the leaf of the minimum after
so many trials; worst: log₁₀ of the largest regret of all runs after all trials; s: seconds of
processor time per suggestion, mean of a run, median of the runs. The other tables compare the
logarithms of regrets (at least 1e-9) and the gaps, the part of the way from the best initial value
to the minimum: means of both methods after so many trials; the gain of `auto` with a bootstrapped
95 % interval, positive where it is better; runs in which it is better and worse; p: two-sided
Wilcoxon test, paired by run, Holm over the table. `{EVERY_TREE}` averages a run over the trees
first. The smallest difference that matters is {EFFECTS[LOG]} decades, a factor of two in regret, or
{EFFECTS[GAP]} of the gap: "better" and "worse" need p < {LEVEL} and that much, "no difference that
matters" an interval within it."""

FINDINGS = """\
After 40 trials the default is ahead of a search of all leaves by a decade of regret in the mean of
the trees (19 of 20 runs, p < 0.001): by 2.4 decades on the large tree (p = 0.007) and by 1.9 on the
large tree with shared variables (17 of 20 runs, but p = 0.073 by Holm). On the small and the
unbalanced tree both are near rounding by then. It is ahead of the document's two steps by 0.8
decades (15 of 20 runs, p = 0.044); on no single tree is that difference significant.

In the gap there is no difference that matters from a search of all leaves after 40 trials. After 20
the default may be behind it: 0.870 against 0.917, interval of the difference −0.097 to −0.002,
though p = 0.68. 77 of its 100 best trials lie in the leaf of the minimum after 20 trials, and 87 of
those of either other search; after 40 it is 98, 100 with all leaves, and 96 with two steps. So the
default refines far sooner than a search of all leaves and finds the right leaf somewhat later: two
of its runs, on the large trees, were still 0.1 above the minimum after 40 trials."""


EXPERIMENT = Experiment(
    "tree_searches",
    "Which search of leaves is the default",
    [
        [{"problem": p, "method": m} for p in PROBLEMS for m in ms]
        for ms in ((DEFAULT, "auto all leaves"), ("tree two steps",))
    ],
    run,
    report,
    source="ours",
    summary="the default is ahead after 40 trials, perhaps behind after 20",
)
