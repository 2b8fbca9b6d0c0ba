"""Treed Gaussian processes as a kind of surrogate, compared with one process without a tree."""

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

CHANCE = 0.1  # prior probability that a tree predicts better


@dataclass(frozen=True)
class Treed(Kind):
    """Gaussian processes with hyperparameters of their own in the leaves of a regression tree.

        oc.Method(surrogate=oc.surrogates.Treed())
        oc.Method(surrogate=oc.surrogates.Treed(leaves=oc.surrogates.Warped()))
        oc.Method(surrogate=oc.surrogates.Treed(smallest=5, least=0.0, chance=1.0))  # the source's

    `smallest` is the least number of observations in a leaf, shared ones included; None is 5 for
    every column, and more once there would be more than 64 leaves. `least` is the share of all
    squared error that a split must remove, unless more than 200 observations would stay in one
    leaf. The tree is cut along numbers that are always active.

    `chance` is the prior probability that the tree predicts better than one process without it.
    The tree is used once predictions have made it the more probable model; with 1 it always is.
    """

    leaves: KernelKind | None = None
    smallest: int | None = None
    least: float = LEAST
    chance: float = CHANCE
    label = "treed GP"

    def __post_init__(self) -> None:
        if self.leaves is not None and not isinstance(self.leaves, KernelKind):
            raise ModelError(
                f"Treed(leaves={self.leaves!r}): expected a kind that changes only the kernel of "
                "numbers, such as Warped(), or None for plain Gaussian processes"
            )
        if self.smallest is not None and (type(self.smallest) is not int or self.smallest < 2):
            raise ModelError(f"Treed(smallest={self.smallest!r}): expected an integer ≥ 2, or None")
        if not 0 <= self.least < 1:
            raise ModelError(f"Treed(least={self.least!r}): expected a share from 0 to below 1")
        if not 0 < self.chance <= 1:
            raise ModelError(
                f"Treed(chance={self.chance!r}): expected a probability above 0 and at most 1; "
                "1 always uses the tree"
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
    """`model` with a level that is inferred instead of integrated out.

    Integrated out, it would depend on the leaf's few observations alone.
    """
    if not isinstance(model.kernel, Offset):
        return model
    level = free(Normal(0.0, sqrt(model.kernel.variance)))
    return GP(model.kernel.kernel, model.noise, level)


@dataclass(frozen=True, eq=False)
class Contested(Contest):
    """The contest of a regression tree; if it is behind, the belief is a tree of one leaf."""

    def is_divided(self, data: Observations) -> bool:
        return len(self.tree.partition(data)) > 1

    def as_tree(self, belief: Mixture, data: Observations) -> Mixture:
        alone = Partition.of(data.X, data.y, (), len(data))
        parts = [part for part in belief.components if isinstance(part, GPPosterior)]
        components = tuple(LeafwisePosterior(alone, (part,)) for part in parts)
        return Mixture(components, belief.weights, belief.state)

    def as_trailing(self, surrogate: Any) -> Any:
        """Unchanged: of leaves without new observations only one is sampled anyway."""
        return surrogate
