"""Initial designs: the first trials, before a model is used.

Every trial takes the next point of the sequence, so the first points of any number are spread well.
Where a point violates a constraint of the space, another takes its place: among the first `size`
points one that is far from all of them, and after these a random one.
"""

from __future__ import annotations

__all__ = ["Design", "LatinHypercube", "OnePerBranch", "Sobol", "RandomDesign", "design_size"]

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from outcrop.errors import ModelError
from outcrop.former_names import offer_former_names
from outcrop.space import Space
from outcrop.space.admissible_points import Region
from outcrop.surrogates.space_nodes import SpaceNode, nodes_of
from outcrop.typing import Points, Rng, Vector

SPARE = 16  # random points from which each one that is missing is selected
AFFORDABLE = 32  # branches beyond which not each gets an initial trial


def design_size(space: Space) -> int:
    """The number of initial points before a model is used: 2d + 2, at most 12."""
    return min(2 * len(space.columns) + 2, 12)


@dataclass(frozen=True)
class Design(ABC):
    """`size` space-filling points; None: a number that follows from that of the parameters."""

    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is not None and (type(self.size) is not int or self.size < 1):
            raise ModelError(
                f"{type(self).__name__}(size={self.size!r}): expected a whole number of at least 1"
            )

    @abstractmethod
    def uniforms(self, n: int, dimension: int, rng: Rng) -> Points:
        """The first `n` points of the sequence, `(n, dimension)` in [0, 1)."""

    def points(self, space: Space, n: int, rng: Rng) -> Points:
        """The first `n` points of the sequence, admissible and encoded."""
        if not space.constraints:
            return space.from_uniform(self.uniforms(n, len(space.columns), rng))
        # A generator that does not depend on n, so that designs of any length begin alike.
        spare, size = np.random.default_rng(rng.integers(1 << 62)), self.size_for(space)
        U = self.uniforms(max(n, size), len(space.columns), rng)
        return _mended(space, space.region, U, size, spare)[:n]

    def size_for(self, space: Space) -> int:
        return self.size or design_size(space)


@dataclass(frozen=True)
class Sobol(Design):
    """A scrambled Sobol sequence [Owen 1998]."""

    def uniforms(self, n: int, dimension: int, rng: Rng) -> Points:
        if dimension == 0:
            return np.zeros((n, 0))
        from scipy.stats import qmc  # here, because it takes longer to import than Outcrop

        # Drawn to a power of two, which the balance of the sequence needs; else SciPy warns.
        sequence = qmc.Sobol(dimension, scramble=True, rng=rng)
        return np.asarray(sequence.random_base2(max(n - 1, 1).bit_length())[:n])


@dataclass(frozen=True)
class LatinHypercube(Design):
    """One point in each of `size` slices of every parameter; further points are uniform."""

    def uniforms(self, n: int, dimension: int, rng: Rng) -> Points:
        slices = self.size or min(2 * dimension + 2, 12)
        ranks = rng.permuted(np.tile(np.arange(slices)[:, None], dimension), axis=0)
        first = (ranks + rng.random((slices, dimension))) / slices
        return np.vstack([first, rng.random((max(n - slices, 0), dimension))])[:n]


@dataclass(frozen=True)
class RandomDesign(Design):
    """Independent uniform points."""

    def uniforms(self, n: int, dimension: int, rng: Rng) -> Points:
        return rng.random((n, dimension))


@dataclass(frozen=True)
class OnePerBranch(Design):
    """Every branch once in random order, then again, spread in all numbers.

    Without a `size`, and with at most 32 branches, it has as many points as branches, and at least
    2m + 2, at most 12, where m is the number of parameters of the longest branch.
    """

    def uniforms(self, n: int, dimension: int, rng: Rng) -> Points:
        return LatinHypercube(self.size).uniforms(n, dimension, rng)

    def points(self, space: Space, n: int, rng: Rng) -> Points:
        if space.n_branches > AFFORDABLE and space.constraints:
            return super().points(space, n, rng)
        # A generator that does not depend on n, so that designs of any length begin alike.
        order, size = np.random.default_rng(rng.integers(1 << 62)), self.size_for(space)
        seed = order.integers(1 << 62) if space.constraints else 0
        made = max(n, size) if space.constraints else n
        U = LatinHypercube(size).uniforms(made, len(space.columns), rng)
        if space.n_branches > AFFORDABLE or not n:
            return space.from_uniform(U)[:n]
        leaves = admissible_leaves(space)
        turns = [order.permutation(len(leaves)) for _ in range(-(-made // len(leaves)))]
        turn = np.concatenate(turns)[:made]
        for row, leaf in zip(U, turn, strict=True):
            lead(space, row, leaves[leaf])
        if not space.constraints:
            return space.from_uniform(U)
        X = np.empty_like(U)
        for i in np.unique(turn).tolist():
            rows, region = np.flatnonzero(turn == i), space.region.branch(leaves[i].conditions)
            spare, early = np.random.default_rng([seed, i]), int((rows < size).sum())
            X[rows] = _mended(space, region, U[rows], early, spare)
        return X[:n]

    def size_for(self, space: Space) -> int:
        if self.size is not None:
            return self.size
        if space.n_branches > AFFORDABLE:
            return LatinHypercube().size_for(space)
        _, leaves = nodes_of(space)
        return max(len(leaves), min(2 * max(len(leaf.seen) for leaf in leaves) + 2, 12))


def admissible_leaves(space: Space) -> tuple[SpaceNode, ...]:
    """The leaves of a space that have points which satisfy its constraints."""
    _, leaves = nodes_of(space)
    if not space.constraints:
        return leaves
    return tuple(leaf for leaf in leaves if not space.region.branch(leaf.conditions).is_empty)


def _mended(space: Space, region: Region, U: Points, size: int, rng: Rng) -> Points:
    """The points of `U`, with others of the region in the place of those that are not admissible.

    Among the first `size` they are far from one another and from the rest.
    """
    X = space.from_uniform(U)
    missing = np.flatnonzero(~space.admits(X))
    early, late = missing[missing < size], missing[missing >= size]
    spare = region.points(rng, SPARE * len(early))
    there = np.setdiff1d(np.arange(min(size, len(X))), early)
    distances = _nearest(space, spare, X[there])
    for row in early:
        farthest = int(distances.argmax())
        X[row] = spare[farthest]
        distances = np.minimum(distances, _nearest(space, spare, X[row : row + 1]))
    X[late] = region.points(rng, len(late))
    return X


def _nearest(space: Space, X: Points, others: Points) -> Vector:
    """The squared distance from each row of `X` to the nearest of `others`; codes differ by 1."""
    codes = np.array([column.is_code for column in space.columns], dtype=np.bool_)
    away = X[:, None] - others
    squares = np.where(codes, away != 0.0, np.square(away)).sum(2)
    return squares.min(1, initial=np.inf)


def lead(space: Space, U: Points, leaf: SpaceNode) -> None:
    """Change uniform numbers, `(D,)` or `(n, D)`, to those of points in a leaf."""
    for column, code in leaf.conditions:
        U[..., column] = (code + 0.5) / (space.columns[column].levels or 1)


offer_former_names(__name__)
