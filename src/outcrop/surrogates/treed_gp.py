"""Heteroscedastic treed Gaussian processes [Assael et al. 2014].

A regression tree, grown anew at every fit, cuts the cube where values differ most; each leaf has a
Gaussian process with hyperparameters of its own, whose pseudo-likelihood includes its ancestors.

Chains belong to leaves and pass from one tree to the next, see `warm_chains.LeafChains`.
"""

from __future__ import annotations

__all__ = ["LARGEST", "LEAST", "TreedGP"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Draws, Inference, Laplace, Slice
from outcrop.linalg import Indices
from outcrop.params import Layout
from outcrop.surrogates.gp import GP
from outcrop.surrogates.leafwise import LeafwisePosterior
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.partition import Partition
from outcrop.surrogates.pseudo import Ancestry, AncestryTarget
from outcrop.surrogates.warm_chains import LeafChains, conditioned
from outcrop.typing import Matrix, Rng, Vector

LEAST = 0.01  # share of all squared error that a split must remove
FEWEST = 5  # observations in a leaf, per column; in one dimension that of the source
MOST_LEAVES = 64  # beyond some hundreds of observations leaves grow instead of their number
LARGEST = 200  # observations beyond which a leaf is split for the sake of speed, if it can be
FACTOR_ROWS = 64  # most observations of a node in the pseudo-likelihood of its leaves


@dataclass(frozen=True, eq=False)
class TreedGP:
    """`model` in the leaves of a tree cut along `columns`; one component per chain."""

    model: GP
    inference: Inference
    columns: tuple[int, ...]
    smallest: int | None = None
    least: float = LEAST

    def __post_init__(self) -> None:
        if isinstance(self.inference, Laplace):
            raise ModelError(
                "a treed Gaussian process has no Laplace approximation; use Slice() or MAP()"
            )

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        data, partition = observations, self.partition(observations)
        layout = Layout.of(self.model, data)
        own = [data.rows(rows) for rows in partition.leaf_rows]
        if layout.dim == 0:
            leaves = tuple(self.model.condition(part) for part in own)
            return Mixture.single(LeafwisePosterior(partition, leaves))
        before = LeafChains.restored(layout, previous) or self._cold(data, rng)
        warm = before.inherited(data, partition)
        marks = [part.mark for part in own]
        for leaf in warm.due(marks):
            start = warm.thetas[leaf]
            warm.thetas[leaf] = self._sampled(data, partition, leaf, start, warm.widths, rng)
            warm.ages[leaf] = 0
        # After a change of inference, leaves may differ in their number of chains.
        chains = list(zip(*warm.thetas, strict=False))

        def posterior(chain: tuple[Vector, ...]) -> LeafwisePosterior:
            pairs = zip(chain, own, strict=True)
            leaves = tuple(layout.bind(theta).condition(part) for theta, part in pairs)
            return LeafwisePosterior(partition, leaves)

        components, weights = conditioned(chains, np.ones(len(chains)), posterior)
        return Mixture(components, weights, warm._replace(marks=marks).stored(layout))

    def partition(self, data: Observations) -> Partition:
        """The tree grown on `data`."""
        smallest = self._smallest(data)
        return Partition.of(data.X, data.y, self.columns, smallest, self.least, LARGEST)

    def _smallest(self, data: Observations) -> int:
        if self.smallest is not None:
            return self.smallest
        return max(FEWEST * data.dimension, ceil(len(data) / MOST_LEAVES))

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
        inference = self.inference
        if isinstance(inference, Slice):  # chains of another leaf may be unlikely here: no restarts
            inference = replace(inference, patience=inf)
        return inference.infer(target, rng, start).thetas


def _spread(rows: Indices, most: int) -> Indices:
    """At most `most` of `rows`, evenly spaced in the order of trials."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)]
