"""Functions on which the search of many parameters was chosen; variants are kept by `--label`."""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence

from experiments import many_parameters
from experiments.comparison import gap_table
from experiments.harness import Cell, Experiment, Row
from experiments.many_parameters import HALF, OURS, TRIALS
from experiments.wide_problems import CHOOSE

FIRST = 1000  # number of the first run: starts and functions differ from those that are reported


def run(cell: Cell, number: int) -> Row:
    return many_parameters.run(cell, FIRST + number)


def report(rows: Sequence[Row]) -> str:
    return gap_table(rows, [*CHOOSE], OURS, [HALF, TRIALS])


EXPERIMENT = Experiment(
    "many_parameters_choice",
    "Many parameters: functions to choose on",
    [[{"problem": problem, "method": method} for problem in CHOOSE for method in (OURS,)]],
    run,
    report,
    documented=False,
)
