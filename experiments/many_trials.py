"""Searches of 300 trials: whether a cheaper inference of many observations keeps their regret.

Versions are kept apart by `--label`, and compared run by run. The method "auto" of the cells is
what it was when the first of these searches were made: "tree" in conditional spaces, else "gp".
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence

from experiments.comparison import gap_table
from experiments.harness import Cell, Experiment, Row
from experiments.searches import initial_points, problem_of, search
from outcrop.strategies.initial import design_size

TRIALS = 300
PROBLEMS = (
    "hartmann-6",
    "griewank-2",
    "func-3C",
    "tree-large-shared",
    "michalewicz-5",
    "ackley-6",
    "holder-table",
    "ackley-5C",
    "tree-small-shared",
    "shubert",
)


def run(cell: Cell, number: int) -> Row:
    problem = problem_of(cell["problem"])
    initial = initial_points(problem.space, design_size(problem.space), number)
    is_conditional = any(column.conditions for column in problem.space.columns)
    return search(problem, "tree" if is_conditional else "gp", initial, TRIALS, number)


def report(rows: Sequence[Row]) -> str:
    return gap_table(rows, PROBLEMS, "auto", [60, TRIALS])


EXPERIMENT = Experiment(
    "many_trials",
    "Searches of many trials",
    [[{"problem": problem, "method": "auto"}] for problem in PROBLEMS],
    run,
    report,
    documented=False,
)
