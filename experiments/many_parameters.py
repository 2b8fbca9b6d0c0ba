"""Searches of 20 to 40 numbers, beside Optuna's samplers and BoTorch.

Every run has a function of its own: its minimiser, the axes that matter and, where it is rotated,
its directions are drawn anew. Methods of one run share the function and the initial points.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT", "rank_table", "run"]

from collections.abc import Sequence

import numpy as np

from benchmarks.reporting import table
from experiments.comparison import by_method, corrected_p_values, gap_table
from experiments.harness import Cell, Experiment, Row
from experiments.peers import peer_search
from experiments.provenance import is_peer
from experiments.searches import initial_points, search
from experiments.wide_problems import CONFIRM, wide_problem
from outcrop.strategies.initial import design_size
from outcrop.typing import Matrix

TRIALS, HALF = 100, 50
OURS, PEERS = "gp", ("TPE", "GPSampler", "BoTorch")
METHODS = (OURS, *PEERS)


def run(cell: Cell, number: int) -> Row:
    problem = wide_problem(cell["problem"], number)
    initial = initial_points(problem.space, design_size(problem.space), number)
    if is_peer(cell):
        return peer_search(problem, cell["method"], initial, TRIALS, number)
    return search(problem, cell["method"], initial, TRIALS, number)


def report(rows: Sequence[Row]) -> str:
    return "\n\n".join(
        [READING, rank_table(rows, [*CONFIRM]), gap_table(rows, [*CONFIRM], OURS, [HALF, TRIALS])]
    )


def rank_table(rows: Sequence[Row], problems: Sequence[str]) -> str:
    """Mean ranks over all runs, and those of each problem; 1 is the best."""
    each = {problem: ranks(rows, problem, TRIALS) for problem in problems}
    last, half = np.vstack([*each.values()]), np.vstack([ranks(rows, p, HALF) for p in problems])
    p_values = corrected_p_values(
        {
            name: (dict(enumerate(last[:, i])), dict(enumerate(last[:, 0])))
            for i, name in enumerate(METHODS)
            if name != OURS
        }
    )
    lines = []
    for i, name in enumerate(METHODS):
        columns = [half, last, *each.values()]
        line = [name, *(f"{found[:, i].mean():.2f}" if len(found) else "" for found in columns)]
        lines.append([*line, f"{p_values[name]:.1e}" if name in p_values else ""])
    return table(["method", f"at {HALF}", f"at {TRIALS}", *problems, "p"], lines)


def ranks(rows: Sequence[Row], problem: str, trials: int) -> Matrix:
    """Ranks of the methods by their best value, `(runs, methods)`, in runs that all have."""
    from scipy.stats import rankdata

    searches = by_method(rows, problem)
    if not all(name in searches for name in METHODS):
        return np.empty((0, len(METHODS)))
    best = [searches[name].gaps(trials) for name in METHODS]
    shared = sorted(set.intersection(*map(set, best)))
    return np.array([rankdata([-own[run] for own in best]) for run in shared])


READING = f"""\
Searches of {TRIALS} trials, 12 initial ones included, on functions of 20 to 40 numbers. The last
three have two to six active directions. A function that is not rotated is shifted; every run has
another shift, other axes or another rotation. First mean ranks over all runs that every method has,
1 the best, after {HALF} and {TRIALS} trials, and by function; p: two-sided Wilcoxon test of the
ranks after {TRIALS} trials against `{OURS}`, Holm over the column."""

EXPERIMENT = Experiment(
    "many_parameters",
    "Many parameters",
    [[{"problem": problem, "method": method} for problem in CONFIRM for method in METHODS]],
    run,
    report,
)
