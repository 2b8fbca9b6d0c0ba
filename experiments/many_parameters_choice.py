"""Priors of the lengthscales of 20 to 40 numbers: the searches they were chosen by.

Lengthscales are learnt `apart`, or vary around one that they `share`; the number is the standard
deviation of their logarithms. Functions and starts differ from those that are reported.
`results/many_parameters_choice@explored.jsonl` holds the searches that the choice rests on, some of
them of variants that were not kept.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence
from dataclasses import dataclass, replace

import outcrop as oc
from experiments.comparison import gap_table
from experiments.harness import Cell, Experiment, Row
from experiments.searches import initial_points, search
from experiments.wide_problems import CHOOSE, wide_problem
from outcrop.kernels import Kernel, Matern52, SharedScale
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.strategies.initial import design_size
from outcrop.surrogates import Situation
from outcrop.surrogates.kind import KernelKind
from outcrop.surrogates.situation import LENGTHSCALES

FIRST = 1000  # number of the first run
TRIALS = 60


@dataclass(frozen=True)
class Spread(KernelKind):
    """A process whose lengthscales have logarithms with this standard deviation."""

    spread: float
    is_shared: bool
    label = "spread"

    def kernel(self, situation: Situation) -> Kernel:
        size = len(situation.numbers)
        if self.is_shared:
            own = Matern52(free(LogNormal(0.0, self.spread), size=size))
            return situation.kernel(lambda _: SharedScale(free(LENGTHSCALES.for_size(size)), own))
        prior = replace(LENGTHSCALES, scale=self.spread)
        return situation.kernel(lambda _: Matern52(free(prior, size=size)))


METHODS = {
    f"{'shared' if is_shared else 'apart'} {spread}": Spread(spread, is_shared)
    for is_shared, spreads in ((False, (1.0, 0.7, 0.5, 0.35)), (True, (0.35, 0.2)))
    for spread in spreads
}


def run(cell: Cell, number: int) -> Row:
    problem = wide_problem(cell["problem"], FIRST + number)
    initial = initial_points(problem.space, design_size(problem.space), FIRST + number)
    method = oc.Method(surrogate=METHODS[cell["method"]])
    return search(problem, method, initial, TRIALS, FIRST + number)


def report(rows: Sequence[Row]) -> str:
    return gap_table(rows, [*CHOOSE], "apart 1.0", [TRIALS])


EXPERIMENT = Experiment(
    "many_parameters_choice",
    "Priors of many lengthscales",
    [[{"problem": problem, "method": method} for problem in CHOOSE for method in METHODS]],
    run,
    report,
    documented=False,
)
