"""Sampled hyperparameters beside a MAP estimate and the marginal GP, by what a search finds.

The thesis (section 6.2) asks which inference a search should use and sketches the marginal GP as
the cheap middle way; it gives no numbers to compare with.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence

import outcrop as oc
from experiments.comparison import gap_table
from experiments.harness import Cell, Experiment, Row
from experiments.searches import initial_points, problem_of, search
from outcrop.inference import MAP, Laplace, Slice
from outcrop.strategies.initial import design_size

TRIALS = 40
METHODS = {
    "sampled": oc.Method(),
    "sampled, every chain kept": oc.Method(inference=Slice(chains=6)),
    "MAP": oc.Method(inference=MAP()),
    "marginal GP": oc.Method(inference=Laplace()),
}
PROBLEMS = ("branin", "hartmann-6", "ackley-2", "griewank-2")


def run(cell: Cell, number: int) -> Row:
    problem = problem_of(cell["problem"])
    initial = initial_points(problem.space, design_size(problem.space), number)
    return search(problem, METHODS[cell["method"]], initial, TRIALS, number)


def report(rows: Sequence[Row]) -> str:
    return f"{READING}\n\n{gap_table(rows, PROBLEMS, 'sampled', [TRIALS])}"


READING = f"""\
Searches of {TRIALS} trials. `sampled` is the default: six chains, of which those are begun anew
that a surprising value has left 2.5 for each hyperparameter below the best in log density. All
other pages were made before it did so."""


EXPERIMENT = Experiment(
    "inference_methods",
    "Sampled, MAP or marginal: inference of hyperparameters",
    [[{"problem": problem, "method": method} for problem in PROBLEMS for method in METHODS]],
    run,
    report,
    source="ours",
    summary="sampled, MAP and marginal do not differ beyond chance",
)
