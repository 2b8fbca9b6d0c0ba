"""`"warped"` and `"spartan"` beside `"gp"`, as a user gets them.

Where the objective is not stationary they should be far ahead, where it is they should do no harm.
The document on Spartan BO claims both of its own settings (`spartan_figures`); these are ours.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence

from experiments.comparison import gap_table
from experiments.harness import Cell, Experiment, Row
from experiments.searches import initial_points, problem_of, search
from outcrop.strategies.initial import design_size

TRIALS = 50
METHODS = ("gp", "warped", "spartan")
PROBLEMS = ("exp-2d-wide", "branin", "hartmann-6")


def run(cell: Cell, number: int) -> Row:
    problem = problem_of(cell["problem"])
    initial = initial_points(problem.space, design_size(problem.space), number)
    return search(problem, cell["method"], initial, TRIALS, number)


def report(rows: Sequence[Row]) -> str:
    shown = gap_table(rows, PROBLEMS, "gp", [TRIALS])
    return f"Searches of {TRIALS} trials with the methods' own priors and designs.\n\n{shown}"


EXPERIMENT = Experiment(
    "rugged_presets",
    "Warped and Spartan as they come",
    [[{"problem": problem, "method": method} for problem in PROBLEMS for method in METHODS]],
    run,
    report,
)
