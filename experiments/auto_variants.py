"""Variants of `"auto"` on the choosing half of the suite: boxes and mixed spaces of all groups.

`results/auto_choice.jsonl` holds searches of earlier variants, by a script that was not kept.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT", "VARIANTS"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from typing import Any

import numpy as np

import outcrop as oc
from experiments.harness import Cell, Experiment, Row
from experiments.suite.experiment import run_method
from experiments.suite.variants import (
    Exploring,
    SmallDesign,
    categorical_cells,
    cells,
    noisy_cells,
    report,
    tree_cells,
)
from outcrop.data import Observations
from outcrop.kernels import RBF, Fourier, Kernel, Matern32, Matern52, Scaled
from outcrop.params import free
from outcrop.priors import Beta, LogNormal, Uniform
from outcrop.strategies.initial import design_size
from outcrop.surrogates import (
    CategoryMix,
    Ensemble,
    Heteroscedastic,
    Kind,
    Latent,
    Mixture,
    PartlyAdditive,
    Situation,
    Treed,
    TreeStructured,
)
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.ensemble import MEMBERS, MOST_CHANGE, WeighedMembers
from outcrop.surrogates.kind import KernelKind
from outcrop.surrogates.situation import LENGTHSCALES
from outcrop.typing import Rng, Vector

FULLY_BALANCED = 50  # observations, of `GrowinglyBalanced`
STEP = 0.5  # of a member's weight by one result, of `Stacked`
SHORT = PartlyAdditive(LogNormal(log(0.25), 1.0), Beta(1.0, 9.0))
LONG = PartlyAdditive(LogNormal(log(0.5), 1.0), Uniform(0.0, 1.0))
OTHERS = MEMBERS[:-1]
WITHOUT_LATENT = tuple(kind for kind in MEMBERS if not isinstance(kind, Latent))
USUAL = "as shipped"


@dataclass(frozen=True)
class Rough(KernelKind):
    """The plain process with a Matérn-3/2 kernel."""

    label = "rough GP"

    def kernel(self, situation: Situation) -> Kernel:
        return situation.kernel(Matern32)


@dataclass(frozen=True)
class Smooth(KernelKind):
    """The plain process with a squared exponential kernel."""

    label = "smooth GP"

    def kernel(self, situation: Situation) -> Kernel:
        return situation.kernel(RBF)


@dataclass(frozen=True)
class Trend(Smooth):
    """The same with a learnt noise, also where there is none: what is finer counts as noise."""

    label = "smooth trend"

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not isinstance(situation.noise.declared, float):
            situation = replace(situation, noise=replace(situation.noise, declared=True))
        return super().surrogate(situation)


@dataclass(frozen=True)
class TwoScales(KernelKind):
    """A smooth process and a fine one that add up."""

    label = "two scales"

    def kernel(self, situation: Situation) -> Kernel:
        def both(lengthscales: Vector) -> Kernel:
            fine = Matern52(free(LogNormal(log(0.1), 0.7), size=len(situation.numbers)))
            return RBF(lengthscales) + Scaled(free(LogNormal(log(0.1), 1.5)), fine)

        return situation.kernel(both)


class Tempered(WeighedMembers):
    """Weights follow the square roots of the members' probabilities."""

    def _weights(self, evidence: Mapping[str, float], n: int) -> dict[str, float]:
        return super()._weights({label: sqrt(p) for label, p in evidence.items()}, n)


class Stacked(WeighedMembers):
    """Weights under which the mixture predicts well [Yao et al. 2018], learnt result by result.

    Each result moves a weight in proportion to the member's density beside that of the mixture, a
    step along the gradient of the mixture's log density [Orseau, Lattimore & Legg 2017]. Members
    that are needed together keep their weights, where a product of densities leaves one of them.
    """

    def _evidence(self, data: Observations, before: Mapping[str, Any]) -> dict[str, float]:
        labels = sorted(self.members)
        known, even = before.get("evidence", {}), 1 / len(labels)
        w = np.array([known.get(label, even) for label in labels])
        for gains in self._gains(labels, data, before):
            density = np.exp(np.clip(gains - gains.mean(), -MOST_CHANGE, MOST_CHANGE))
            w = w * (1 - STEP + STEP * density / (w @ density))
        return dict(zip(labels, (w / w.sum()).tolist(), strict=True))


class Drawn(WeighedMembers):
    """One member, drawn by its weight, decides each trial."""

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        every = super().fit(observations, rng, previous)
        kinds = np.array(every.members)
        own = np.flatnonzero(kinds == kinds[rng.choice(len(every), p=every.weights)])
        return replace(
            every,
            components=tuple(every.components[i] for i in own),
            weights=every.weights[own],
            members=tuple(kinds[own].tolist()),
        )


class AveragedOrVoted(WeighedMembers):
    """By lot, improvements are averaged as they are, or each member has a vote."""

    power = 1.0

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        balance = self.power * float(rng.integers(2))
        return replace(super().fit(observations, rng, previous), balance=balance)


class AveragedOrBalanced(AveragedOrVoted):
    """By lot, improvements are averaged as they are, or put on one scale as usual."""

    power = Ensemble.balance


class GrowinglyBalanced(WeighedMembers):
    """Improvements are averaged as they are at first, and put on one scale little by little."""

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        balance = Ensemble.balance * min(1.0, len(observations) / FULLY_BALANCED)
        return replace(super().fit(observations, rng, previous), balance=balance)


@dataclass(frozen=True)
class Weighed(Ensemble):
    """`"auto"` with members that are weighed in another way."""

    how: type[WeighedMembers] = WeighedMembers

    def surrogate(self, situation: Situation) -> Surrogate | None:
        usual = super().surrogate(situation)
        if not isinstance(usual, WeighedMembers):
            return usual
        return self.how(usual.ensemble, usual.members, usual.situation)


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
    USUAL: "auto",
    "with smooth": oc.Method(surrogate=Ensemble((*MEMBERS, Smooth()))),
    "with trend": oc.Method(surrogate=Ensemble((*MEMBERS, Trend()))),
    "trend for latent": oc.Method(surrogate=Ensemble((*WITHOUT_LATENT, Trend()))),
    "two scales for latent": oc.Method(surrogate=Ensemble((*WITHOUT_LATENT, TwoScales()))),
    "without latent": oc.Method(surrogate=Ensemble(WITHOUT_LATENT)),
    "equal weights": oc.Method(surrogate=Ensemble(shared=1.0)),
    "nothing shared": oc.Method(surrogate=Ensemble(shared=0.0)),
    "tempered": oc.Method(surrogate=Weighed(shared=0.0, how=Tempered)),
    "stacked": oc.Method(surrogate=Weighed(shared=0.0, how=Stacked)),
    "half stacked": oc.Method(surrogate=Weighed(how=Stacked)),
    "drawn": oc.Method(surrogate=Weighed(how=Drawn)),
    "averaged or balanced": oc.Method(surrogate=Weighed(how=AveragedOrBalanced)),
    "averaged or voted": oc.Method(surrogate=Weighed(how=AveragedOrVoted)),
    "half the design": SmallDesign(Ensemble(), 0.5),
    "a quarter of the design": SmallDesign(Ensemble(), 0.25),
    "growing balance": oc.Method(surrogate=Weighed(how=GrowinglyBalanced)),
}
MIXED = {"with category mix": oc.Method(surrogate=Ensemble((*MEMBERS, CategoryMix())))}
NOISY = {"with noise that varies": oc.Method(surrogate=Ensemble((*MEMBERS, Heteroscedastic())))}
CONDITIONAL = {
    "leaves with Fourier features": oc.Method(surrogate=TreeStructured(Fourier())),
    "leaves without one process for all": oc.Method(surrogate=TreeStructured(chance=1.0)),
    "one process for all": oc.Method(),
}
EVERY = {**VARIANTS, **MIXED, **NOISY, **CONDITIONAL}


def run(cell: Cell, number: int) -> Row:
    method = EVERY[cell["variant"]]
    points = method.points if isinstance(method, SmallDesign) else design_size
    return run_method(method, cell, number, points=points)


def reported(rows: Sequence[Row]) -> str:
    return report(rows, EVERY)


EXPERIMENT = Experiment(
    "auto_variants",
    "Variants of auto",
    [
        cells(VARIANTS),
        categorical_cells(MIXED),
        noisy_cells([USUAL, *NOISY]),
        tree_cells([USUAL, *CONDITIONAL]),
    ],
    run,
    reported,
    documented=False,
)
