"""Heteroscedastic treed Gaussian processes [Assael et al. 2014].

A regression tree, grown anew at every fit, cuts the cube where values differ most; each leaf has a
Gaussian process with hyperparameters of its own, whose pseudo-likelihood includes its ancestors.
Chains belong to leaves and pass from one tree to the next, see `warm_chains.LeafChains`. The tree
is compared with one process without it.
"""

from __future__ import annotations

__all__ = ["Contested", "Treed", "TreedGP"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any, cast

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Draws, Inference
from outcrop.kernels import Offset
from outcrop.linalg import Indices
from outcrop.params import Layout, free
from outcrop.priors import Normal
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.contest import LARGEST, Contest, log_odds
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.kind import KernelKind, Kind
from outcrop.surrogates.leafwise import LeafwisePosterior
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.partition import Partition
from outcrop.surrogates.pseudo import Ancestry, AncestryTarget
from outcrop.surrogates.situation import Situation
from outcrop.surrogates.warm_chains import LeafChains, conditioned
from outcrop.typing import Matrix, Rng, Vector

LEAST = 0.01  # share of all squared error that a split must remove
FEWEST = 5  # observations in a leaf, per column; in one dimension that of the source
BEYOND = 5  # observations outside a leaf that its process sees, per column
MOST_LEAVES = 64  # beyond some hundreds of observations leaves grow instead of their number
FACTOR_ROWS = 64  # most observations of a node in the pseudo-likelihood of its leaves
CHANCE = 0.1  # prior probability that a tree predicts better


@dataclass(frozen=True)
class Treed(Kind):
    """Gaussian processes with hyperparameters of their own in the leaves of a regression tree.

        oc.Method(surrogate=oc.surrogates.Treed())
        oc.Method(surrogate=oc.surrogates.Treed(leaves=oc.surrogates.Warped()))
        oc.Method(  # the source's
            surrogate=oc.surrogates.Treed(smallest=5, least=0.0, chance=1.0, beyond=0)
        )

    `smallest` is the least number of observations in a leaf, shared ones included; None is 5 for
    every column, and more once there would be more than 64 leaves. `least` is the share of all
    squared error that a split must remove, unless more than 200 observations would stay in one
    leaf. The tree is cut along numbers that are always active.

    The process of a leaf is conditioned on its own observations and on the `beyond` nearest ones
    outside; None is 5 for every column. Without the latter it would be most uncertain at its
    borders, and suggestions would pile up there. Hyperparameters are inferred from the observations
    of the leaf and of its ancestors.

    `chance` is the prior probability that the tree predicts better than one process without it.
    The tree is used once predictions have made it the more probable model; with 1 it always is.
    """

    leaves: KernelKind | None = None
    smallest: int | None = None
    least: float = LEAST
    chance: float = CHANCE
    beyond: int | None = None
    label = "treed GP"

    def __post_init__(self) -> None:
        if self.leaves is not None and not isinstance(self.leaves, KernelKind):
            raise ModelError(
                f"Treed(leaves={self.leaves!r}): expected a kind that changes only the kernel of "
                "numbers, such as Warped(), or None for plain Gaussian processes"
            )
        if self.smallest is not None and (type(self.smallest) is not int or self.smallest < 2):
            raise ModelError(f"Treed(smallest={self.smallest!r}): expected an integer ≥ 2, or None")
        if self.beyond is not None and (type(self.beyond) is not int or self.beyond < 0):
            raise ModelError(f"Treed(beyond={self.beyond!r}): expected an integer ≥ 0, or None")
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
        tree = TreedGP(
            leaf_model(model), inference, columns, self.smallest, self.least, self.beyond
        )
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
        parts = cast(tuple[GPPosterior, ...], belief.components)
        components = tuple(LeafwisePosterior(alone, (part,)) for part in parts)
        return replace(belief, components=components)


@dataclass(frozen=True, eq=False)
class TreedGP:
    """`model` in the leaves of a tree cut along `columns`; one component per chain."""

    model: GP
    inference: Inference
    columns: tuple[int, ...]
    smallest: int | None = None
    least: float = LEAST
    beyond: int | None = None

    def __post_init__(self) -> None:
        if self.inference.has_covariance:
            raise ModelError(
                "a treed Gaussian process has no Laplace approximation; use Slice() or MAP()"
            )

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        data, partition = observations, self.partition(observations)
        layout = Layout.of(self.model, data)
        seen = self._seen(data, partition)
        if layout.dim == 0:
            leaves = tuple(self.model.condition(part) for part in seen)
            return Mixture.single(LeafwisePosterior(partition, leaves))
        before = LeafChains.restored(layout, previous) or self._cold(data, rng)
        warm = before.inherited(data, partition)
        marks = [data.rows(rows).mark for rows in partition.leaf_rows]
        for leaf in warm.due(marks):
            start = warm.thetas[leaf]
            warm.thetas[leaf] = self._sampled(data, partition, leaf, start, warm.widths, rng)
            warm.ages[leaf] = 0
        # After a change of inference, leaves may differ in their number of chains.
        chains = list(zip(*warm.thetas, strict=False))

        def posterior(chain: tuple[Vector, ...]) -> LeafwisePosterior:
            pairs = zip(chain, seen, strict=True)
            leaves = tuple(layout.bind(theta).condition(part) for theta, part in pairs)
            return LeafwisePosterior(partition, leaves)

        components, weights = conditioned(chains, np.ones(len(chains)), posterior)
        return Mixture(components, weights, warm._replace(marks=marks).stored(layout))

    def partition(self, data: Observations) -> Partition:
        """The tree grown on `data`."""
        smallest = self.smallest
        if smallest is None:
            smallest = max(FEWEST * data.dimension, ceil(len(data) / MOST_LEAVES))
        return Partition.of(data.X, data.y, self.columns, smallest, self.least, LARGEST)

    def _seen(self, data: Observations, partition: Partition) -> list[Observations]:
        """What the process of each leaf is conditioned on: its observations and its neighbours'."""
        count = BEYOND * data.dimension if self.beyond is None else self.beyond
        pairs = zip(partition.leaf_rows, partition.neighbours(data.X, count), strict=True)
        return [data.rows(np.union1d(own, near)) for own, near in pairs]

    def _cold(self, data: Observations, rng: Rng) -> LeafChains:
        """Chains inferred from a part of the data as if there were one leaf only."""
        part = data.rows(_spread(np.arange(len(data)), 2 * FACTOR_ROWS))
        draws = self.inference.infer(AncestryTarget(self.model, part, Ancestry.of([part])), rng)
        alone = Partition.of(data.X, data.y, (), len(data))
        widths = None if draws.widths is None else draws.widths[0]
        return LeafChains(alone, [draws.thetas], [-1], [0], widths)

    def _sampled(
        self,
        data: Observations,
        partition: Partition,
        leaf: int,
        thetas: Matrix,
        widths: Vector | None,
        rng: Rng,
    ) -> Matrix:
        factors = [data.rows(_spread(rows, FACTOR_ROWS)) for rows in partition.factor_rows(leaf)]
        target = AncestryTarget(self.model, factors[0], Ancestry.of(factors))
        steps = None if widths is None else np.tile(widths, (len(thetas), 1))
        start = Draws.equal(thetas, np.full(len(thetas), np.nan), steps)
        inference = self.inference.without_restarts()  # chains of another leaf may be unlikely
        return inference.infer(target, rng, start).thetas


def _spread(rows: Indices, most: int) -> Indices:
    """At most `most` of `rows`, evenly spaced in the order of trials."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)]
