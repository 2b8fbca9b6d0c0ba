"""Variants of `"auto"` on the choosing half of the suite: boxes and mixed spaces of all groups.

`results/auto_choice.jsonl` holds searches of earlier variants, by a script that was not kept.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT", "VARIANTS"]

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

import outcrop as oc
from benchmarks.comparison import paired_p_value
from benchmarks.reporting import table
from experiments.harness import Cell, Experiment, Row
from experiments.suite.experiment import run_method
from experiments.suite.groups import GROUPS
from experiments.suite.judging import gap
from outcrop.kernels import Kernel, Matern32
from outcrop.priors import Beta, LogNormal, Uniform
from outcrop.strategies.base import Belief, Strategy, Suggestion, View
from outcrop.surrogates import Ensemble, Kind, PartlyAdditive, Situation, Treed
from outcrop.surrogates.ensemble import MEMBERS
from outcrop.surrogates.kind import KernelKind
from outcrop.surrogates.situation import LENGTHSCALES
from outcrop.typing import Rng

SUITE = "bbob", "bounds", "own"
LARGEST = "-d10"  # functions of ten dimensions are left out
EXPLORES = 10  # one trial of so many is drawn at random, in a variant
SHORT = PartlyAdditive(LogNormal(log(0.25), 1.0), Beta(1.0, 9.0))
LONG = PartlyAdditive(LogNormal(log(0.5), 1.0), Uniform(0.0, 1.0))
OTHERS = MEMBERS[:-1]


@dataclass(frozen=True)
class Rough(KernelKind):
    """The plain process with a Matérn-3/2 kernel."""

    label = "rough GP"

    def kernel(self, situation: Situation) -> Kernel:
        return situation.kernel(Matern32)


@dataclass(frozen=True)
class Exploring:
    """A method of which some trials are uniform random points."""

    method: oc.Method

    def strategy(self, space: oc.Space) -> Strategy:
        return _ExploringStrategy(self.method.strategy(space), space)


@dataclass(frozen=True)
class _ExploringStrategy:
    strategy: Strategy
    space: oc.Space

    def propose(self, view: View, rng: Rng) -> Suggestion:
        suggestion = self.strategy.propose(view, rng)
        if view.number % EXPLORES:
            return suggestion
        [params] = self.space.sample(rng, 1)
        return replace(suggestion, params=params)

    def belief(self, view: View, rng: Rng) -> Belief:
        return self.strategy.belief(view, rng)


def ensemble(
    *members: Kind, balance: float = 0.0, forgetting: float = Ensemble.forgetting
) -> oc.Method:
    """`"auto"` with other members or settings; without `balance`, improvements are averaged."""
    return oc.Method(surrogate=Ensemble(members, balance=balance, forgetting=forgetting))


VARIANTS = {
    "growing": ensemble(*OTHERS, PartlyAdditive(LENGTHSCALES, Uniform(0.0, 1.0))),
    "effects": ensemble(*OTHERS, LONG),
    "effects, 0.01 forgotten": ensemble(*OTHERS, LONG, forgetting=0.01),
    "short effects": ensemble(*OTHERS, SHORT),
    "balanced": ensemble(*OTHERS, LONG, balance=0.75),
    "short and balanced": ensemble(*OTHERS, SHORT, balance=0.75),
    "exploring": Exploring(ensemble(*OTHERS, SHORT)),
    "with rough": ensemble(*OTHERS, SHORT, Rough()),
    "with treed": ensemble(*OTHERS, SHORT, Treed()),
}


def run(cell: Cell, number: int) -> Row:
    return run_method(VARIANTS[cell["variant"]], cell, number)


def report(rows: Sequence[Row]) -> str:
    """Mean gaps, and their differences from the first variant, over problems that both have."""
    found: dict[str, dict[tuple[str, int], float]] = {}
    for row in rows:
        key = row["cell"]["problem"], row["run"]
        reached = gap(row["start"], row["found"], 0.0)
        found.setdefault(row["cell"]["variant"], {})[key] = reached
    first = next(variant for variant in VARIANTS if variant in found)
    lines = []
    for variant, gaps in found.items():
        both = sorted(gaps.keys() & found[first].keys())
        apart = np.array([gaps[key] - found[first][key] for key in both])
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        line = [variant, str(len(both)), f"{np.mean([gaps[key] for key in both]):.3f}"]
        if variant != first:
            line += [f"{apart.mean():+.3f} ± {error:.3f}", f"{paired_p_value(apart):.3f}"]
        lines.append([*line, "", ""][:5])
    return table(["variant", "problems", "gap", "beside the first", "p"], lines)


EXPERIMENT = Experiment(
    "auto_variants",
    "Variants of auto",
    [
        [
            {"variant": variant, "group": group, "half": "choose", "problem": problem}
            for group in SUITE
            for problem in GROUPS[group].problems
            if not problem.endswith(LARGEST)
            for variant in VARIANTS
        ]
    ],
    run,
    report,
    documented=False,
)
