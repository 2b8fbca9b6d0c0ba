"""Treed Gaussian processes as a choice of surrogate, held against the process without a tree."""

from __future__ import annotations

__all__ = ["Contested", "Treed", "TreedGP"]

from dataclasses import dataclass
from math import sqrt
from typing import Any

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Inference
from outcrop.kernels import Offset
from outcrop.params import free
from outcrop.priors import Normal
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.contest import Contest, log_odds
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.kind import KernelKind, Kind
from outcrop.surrogates.leafwise import LeafwisePosterior
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.partition import Partition
from outcrop.surrogates.situation import Situation
from outcrop.surrogates.treed_gp import LEAST, TreedGP

CHANCE = 0.1  # that a tree predicts better, before it has predicted anything


@dataclass(frozen=True)
class Treed(Kind):
    """Gaussian processes with hyperparameters of their own in the leaves of a regression tree.

        oc.Method(surrogate=oc.surrogates.Treed())
        oc.Method(surrogate=oc.surrogates.Treed(leaves=oc.surrogates.Warped()))
        oc.Method(surrogate=oc.surrogates.Treed(smallest=5, least=0.0, chance=1.0))  # the source's

    `smallest` counts the observations a leaf must hold, the shared ones included; None is 5 for
    every column, and more once there would be more than 64 leaves. `least` is the share of all
    squared error that a split must take away, unless more than 200 observations would stay in one
    leaf. The tree is cut along numbers that are always active.

    `chance` is the prior probability that the tree predicts better than one process without it.
    The space is cut once predictions have made that the more probable; with 1, whatever they say.
    """

    leaves: KernelKind | None = None
    smallest: int | None = None
    least: float = LEAST
    chance: float = CHANCE
    label = "treed GP"

    def __post_init__(self) -> None:
        if self.leaves is not None and not isinstance(self.leaves, KernelKind):
            raise ModelError(
                f"Treed(leaves={self.leaves!r}): expected a kind that changes nothing but the "
                "kernel of numbers, such as Warped(), or None for plain Gaussian processes"
            )
        if self.smallest is not None and (type(self.smallest) is not int or self.smallest < 2):
            raise ModelError(f"Treed(smallest={self.smallest!r}): expected an integer ≥ 2, or None")
        if not 0 <= self.least < 1:
            raise ModelError(f"Treed(least={self.least!r}): expected a share from 0 to below 1")
        if not 0 < self.chance <= 1:
            raise ModelError(
                f"Treed(chance={self.chance!r}): expected a probability above 0, 1 for a tree "
                "whatever it predicts"
            )

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not situation.numbers:
            return None
        kernel = situation.kernel() if self.leaves is None else self.leaves.kernel(situation)
        cut = situation.unconditional_numbers
        return situation.over_noise(
            lambda noise, inference: self.fitted(GP(kernel, noise), inference, cut)
        )

    def fitted(self, model: GP, inference: Inference, columns: tuple[int, ...]) -> Surrogate:
        """`model` in the leaves of a tree cut along `columns`, against `model` without a tree."""
        tree = TreedGP(leaf_model(model), inference, columns, self.smallest, self.least)
        if self.chance == 1:
            return tree
        return Contested(Inferred(model, inference), tree, log_odds(self.chance))


def leaf_model(model: GP) -> GP:
    """`model` with a level to be inferred where it has one that is integrated out.

    Integrated out it would be known from the leaf's few observations alone.
    """
    if not isinstance(model.kernel, Offset):
        return model
    level = free(Normal(0.0, sqrt(model.kernel.variance)))
    return GP(model.kernel.kernel, model.noise, level)


@dataclass(frozen=True, eq=False)
class Contested(Contest):
    """The contest of a regression tree, which is a tree of one leaf where it is behind."""

    def is_divided(self, data: Observations) -> bool:
        return len(self.tree.partition(data)) > 1

    def shown(self, belief: Mixture, data: Observations) -> Mixture:
        alone = Partition.of(data.X, data.y, (), len(data))
        parts = [part for part in belief.components if isinstance(part, GPPosterior)]
        components = tuple(LeafwisePosterior(alone, (part,)) for part in parts)
        return Mixture(components, belief.weights, belief.state)

    def eased(self, surrogate: Any) -> Any:
        """As it is: leaves that did not change take turns anyway."""
        return surrogate
