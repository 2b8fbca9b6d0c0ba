"""Variants of `"gp"` on the choosing half of the suite: search, chains, priors and designs.

Each variant changes one choice of decisions 6 to 8. A variant with other candidates or chains has
as many of them with any number of observations, where `"gp"` has fewer beyond 50.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT", "VARIANTS"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import outcrop as oc
from experiments.harness import Cell, Experiment, Row
from experiments.lower_bend import BentLower
from experiments.suite.experiment import run_method
from experiments.suite.variants import Exploring, SmallDesign, cells, report
from experiments.unbent import Unbent
from outcrop.inference import Slice
from outcrop.maximise import Maximiser
from outcrop.priors import LogNormal, Prior
from outcrop.strategies.base import Strategy
from outcrop.strategies.initial import Design, RandomDesign, Sobol, design_size
from outcrop.strategies.model_based import ModelBased
from outcrop.surrogates import Kind, Plain, Situation
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.situation import INFERENCE
from outcrop.typing import Points, Rng


@dataclass(frozen=True)
class Variant:
    """A method and the initial points that it starts from."""

    method: Any
    design: Design | None = None  # a Latin hypercube
    points: Callable[[oc.Space], int] = design_size


@dataclass(frozen=True)
class BoundsAlike:
    """`"gp"` without the preference for the interior."""

    def strategy(self, space: oc.Space) -> Strategy:
        strategy = oc.Method().strategy(space)
        assert isinstance(strategy, ModelBased)
        return replace(strategy, avoids_bounds=False)


@dataclass(frozen=True)
class WithLengthscales(Kind):
    """The plain process with another prior of lengthscales."""

    prior: Prior
    label = "GP"

    def surrogate(self, situation: Situation) -> Surrogate:
        priors = replace(situation.priors, lengthscales=self.prior)
        return Plain().surrogate(replace(situation, priors=priors))


@dataclass(frozen=True)
class BestOnly(Maximiser):
    """The usual maximiser, with perturbations of the best observation only."""

    def candidates(self, space: oc.Space, rng: Rng, incumbents: Points | None = None) -> Points:
        return super().candidates(space, rng, None if incumbents is None else incumbents[:1])


def twice_size(space: oc.Space) -> int:
    return 2 * design_size(space)


def priors(median: float, growth: float = 0.5) -> oc.Method:
    return oc.Method(surrogate=WithLengthscales(LogNormal(log(median), 1.0, growth=growth)))


def chains(number: int) -> oc.Method:
    return oc.Method(inference=replace(INFERENCE, chains=number))


def candidates(share: float) -> oc.Method:
    usual = Maximiser()
    return oc.Method(
        maximiser=replace(
            usual,
            spread=int(share * usual.spread),
            perturbations=int(share * usual.perturbations),
            resamples=int(share * usual.resamples),
        )
    )


HALF = SmallDesign(Plain(), 0.5)
VARIANTS = {
    "as shipped": Variant("gp"),
    "bounds alike": Variant(BoundsAlike()),
    "unbent": Variant(Unbent("gp")),
    "bent from lower down": Variant(BentLower("gp", 3.0)),
    "bent from lower down sooner": Variant(BentLower("gp", 1.0)),
    "a quarter of the candidates": Variant(candidates(0.25)),
    "four times the candidates": Variant(candidates(4.0)),
    "near the best only": Variant(oc.Method(maximiser=BestOnly())),
    "three chains": Variant(chains(3)),
    "twelve chains": Variant(chains(12)),
    "chains never restart": Variant(oc.Method(inference=Slice(chains=INFERENCE.chains))),
    "half the lengthscales": Variant(priors(0.25)),
    "twice the lengthscales": Variant(priors(1.0)),
    "no growth": Variant(priors(0.5, growth=0.0)),
    "a random trial in ten": Variant(Exploring(oc.Method())),
    "Sobol design": Variant("gp", Sobol()),
    "uniform design": Variant("gp", RandomDesign()),
    "half the design": Variant(HALF, points=HALF.points),
    "twice the design": Variant("gp", points=twice_size),
}


def run(cell: Cell, number: int) -> Row:
    variant = VARIANTS[cell["variant"]]
    return run_method(variant.method, cell, number, variant.design, variant.points)


def reported(rows: Sequence[Row]) -> str:
    return report(rows, VARIANTS)


EXPERIMENT = Experiment(
    "plain_variants", "Variants of gp", [cells(VARIANTS)], run, reported, documented=False
)
