"""`"treed"` beside `"gp"` where it should be ahead: objectives that differ between two regions."""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence

from experiments.comparison import gap_table
from experiments.harness import Cell, Experiment, Row
from experiments.landscapes import LANDSCAPES
from experiments.searches import initial_points, problem_of, search
from outcrop.strategies.initial import design_size

TRIALS = 80
METHODS = ("gp", "treed")


def run(cell: Cell, number: int) -> Row:
    problem = problem_of(cell["problem"])
    initial = initial_points(problem.space, design_size(problem.space), number)
    return search(problem, cell["method"], initial, TRIALS, number)


def report(rows: Sequence[Row]) -> str:
    return "\n\n".join([READING, gap_table(rows, list(LANDSCAPES), "gp", [40, TRIALS]), FINDINGS])


READING = f"""\
Objectives made for this comparison, each of which jumps at a border (`experiments/landscapes.py`):
`terraces`, a bowl with jumps beside its minimum; `cliff`, a smooth bowl beside waves; `moor`, a
plane beside waves that hold the minimum. Searches of {TRIALS} trials with the methods' own priors
and designs. Nothing was chosen on these runs."""

FINDINGS = """\
No advantage of `"treed"` was found, here or in the other sections: on `cliff` both methods find the
minimum at once, on `terraces` `"treed"` is behind in the mean, not significantly. `moor` is not run
yet."""

EXPERIMENT = Experiment(
    "treed_landscapes",
    "Treed processes on objectives with borders",
    [[{"problem": problem, "method": method} for method in METHODS] for problem in LANDSCAPES],
    run,
    report,
    source="ours",
    summary='no advantage of `"treed"`',
)
