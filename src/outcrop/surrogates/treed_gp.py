"""Heteroscedastic treed Gaussian processes [Assael et al. 2014].

A regression tree cuts the cube where values differ most, anew at every fit; each leaf has a
Gaussian process with hyperparameters of its own, whose pseudo-likelihood leans on its ancestors.

Chains belong to leaves. A leaf takes over the chains of the leaf of the previous tree in which most
of its observations were, so that they outlive the tree they began in. Leaves whose observations
changed are sampled at once, the others in turn.
"""

from __future__ import annotations

__all__ = ["LARGEST", "LEAST", "TreedGP", "taken"]

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError, NumericalError
from outcrop.inference import Draws, Inference, Laplace, Slice
from outcrop.params import Layout
from outcrop.surrogates.gp import GP
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.partition import Partition, Rows
from outcrop.surrogates.pseudo import Ancestry, AncestryTarget
from outcrop.surrogates.treed_posterior import TreedPosterior
from outcrop.typing import Matrix, Rng, Vector

logger = logging.getLogger(__name__)

LEAST = 0.01  # share of all squared error that a split must take away
FEWEST = 5  # observations a leaf must hold for each column; in one dimension that of the source
MOST_LEAVES = 64  # beyond some hundreds of observations leaves grow instead of their number
LARGEST = 200  # observations beyond which a leaf is split for the sake of speed, if it can be
FACTOR_ROWS = 64  # observations of a node that its leaves' hyperparameters see
AT_ONCE = 8  # leaves sampled for one belief at most, those that changed first
IN_TURN = 1  # leaves sampled although nothing changed in them
DIGITS = 4  # of chains as they are stored: far below their spread


class _Warm(NamedTuple):
    """What an earlier fit left behind."""

    partition: Partition
    thetas: list[Matrix]  # of each leaf, (chains, dim)
    marks: list[int]  # of each leaf's observations
    ages: list[int]  # of each leaf: beliefs formed since it was sampled
    widths: Vector | None  # of every chain's steps, (dim,)


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
        own = [taken(data, rows) for rows in partition.leaf_rows]
        if layout.dim == 0:
            leaves = tuple(self.model.condition(part) for part in own)
            return Mixture.single(TreedPosterior(partition, leaves))
        warm = _restored(layout, previous) or self._cold(data, rng)
        thetas, marks, ages = _inherited(warm, data, partition)
        for leaf in _due(marks, [_mark(part) for part in own], ages):
            thetas[leaf] = self._sampled(data, partition, leaf, thetas[leaf], warm.widths, rng)
            ages[leaf] = 0
        components = self._components(layout, partition, own, thetas)
        after = _Warm(partition, thetas, [_mark(part) for part in own], ages, warm.widths)
        return Mixture(components, np.ones(len(components)), _stored(layout, after))

    def partition(self, data: Observations) -> Partition:
        """The tree that `data` are cut by."""
        smallest = self._smallest(data)
        return Partition.of(data.X, data.y, self.columns, smallest, self.least, LARGEST)

    def _smallest(self, data: Observations) -> int:
        if self.smallest is not None:
            return self.smallest
        return max(FEWEST * data.dimension, ceil(len(data) / MOST_LEAVES))

    def _cold(self, data: Observations, rng: Rng) -> _Warm:
        """Chains that have seen a part of the data as if there were one leaf only."""
        part = taken(data, _spread(np.arange(len(data)), 2 * FACTOR_ROWS))
        draws = self.inference.infer(AncestryTarget(self.model, part, Ancestry.of([part])), rng)
        alone = Partition.of(data.X, data.y, (), len(data))
        widths = None if draws.widths is None else draws.widths[0]
        return _Warm(alone, [draws.thetas], [-1], [0], widths)

    def _sampled(
        self,
        data: Observations,
        partition: Partition,
        leaf: int,
        thetas: Matrix,
        widths: Vector | None,
        rng: Rng,
    ) -> Matrix:
        factors = [taken(data, _spread(rows, FACTOR_ROWS)) for rows in partition.factor_rows(leaf)]
        target = AncestryTarget(self.model, factors[0], Ancestry.of(factors))
        steps = None if widths is None else np.tile(widths, (len(thetas), 1))
        start = Draws.equal(thetas, np.full(len(thetas), np.nan), steps)
        inference = self.inference
        if isinstance(inference, Slice):  # what another leaf held likely is no reason to begin anew
            inference = replace(inference, patience=inf)
        return inference.infer(target, rng, start).thetas

    def _components(
        self,
        layout: Layout[GP],
        partition: Partition,
        own: Sequence[Observations],
        thetas: Sequence[Matrix],
    ) -> tuple[TreedPosterior, ...]:
        components = []
        for chain in zip(*thetas, strict=False):  # a leaf may hold chains of another inference
            try:
                leaves = tuple(
                    layout.bind(theta).condition(part)
                    for theta, part in zip(chain, own, strict=True)
                )
                components.append(TreedPosterior(partition, leaves))
            except NumericalError as error:
                logger.warning("a set of hyperparameter draws was left out: %s", error)
        if not components:
            raise NumericalError(
                f"none of {len(thetas[0])} sets of hyperparameters gives covariances that factorise"
            )
        return tuple(components)


def taken(data: Observations, rows: Rows) -> Observations:
    """Some of the observations."""
    return Observations(
        data.X[rows], data.y[rows], None if data.noise is None else data.noise[rows]
    )


def _spread(rows: Rows, most: int) -> Rows:
    """At most so many of `rows`, evenly spaced in their order, which is that of trials."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)]


def _mark(data: Observations) -> int:
    """A number that is another one once other points are in the leaf."""
    return crc32(data.X.tobytes())


def _inherited(
    warm: _Warm, data: Observations, partition: Partition
) -> tuple[list[Matrix], list[int], list[int]]:
    """Chains, marks and ages of each leaf, from the earlier leaf that held most of its points."""
    before = warm.partition.leaf_of(data.X)
    heirs = [int(np.bincount(before[rows]).argmax()) for rows in partition.leaf_rows]
    return (
        [warm.thetas[leaf] for leaf in heirs],
        [warm.marks[leaf] for leaf in heirs],
        [warm.ages[leaf] + 1 for leaf in heirs],
    )


def _due(before: Sequence[int], now: Sequence[int], ages: Sequence[int]) -> list[int]:
    """The leaves to be sampled: those that changed, then others; of each the longest unsampled."""
    is_same = np.array(before) == np.array(now)
    order = np.lexsort((-np.array(ages), is_same))
    return order[: min(int((~is_same).sum()) + IN_TURN, AT_ONCE)].tolist()


def _stored(layout: Layout[GP], state: _Warm) -> dict[str, Any]:
    slots = [[slot.name, slot.size] for slot in layout.slots]
    stored: dict[str, Any] = {
        "tree": state.partition.to_json(),
        "slots": slots,
        "thetas": [np.round(thetas, DIGITS).tolist() for thetas in state.thetas],
        "marks": state.marks,
        "ages": state.ages,
    }
    if state.widths is not None:
        stored["widths"] = state.widths.tolist()
    return stored


def _restored(layout: Layout[GP], state: Mapping[str, Any] | None) -> _Warm | None:
    """What `_stored` wrote, unless the slots are others today."""
    if not state or state.get("slots") != [[slot.name, slot.size] for slot in layout.slots]:
        return None
    return _Warm(
        Partition.from_json(state["tree"]),
        [np.array(thetas) for thetas in state["thetas"]],
        state["marks"],
        state["ages"],
        np.array(state["widths"]) if "widths" in state else None,
    )
