"""A design with points in every leaf of a conditional space."""

from __future__ import annotations

__all__ = ["OnePerBranch"]

from dataclasses import dataclass

import numpy as np

from outcrop.space import Space
from outcrop.strategies.initial.designs import Design, LatinHypercube
from outcrop.surrogates.space_nodes import SpaceNode, nodes_of
from outcrop.typing import Points, Rng

AFFORDABLE = 32  # branches beyond which not each gets an initial trial


@dataclass(frozen=True)
class OnePerBranch(Design):
    """Every branch once in random order, then again, spread in all numbers.

    Without a `size`, and with at most 32 branches, it has as many points as branches, and at least
    2m + 2, at most 12, where m is the number of parameters of the longest branch.
    """

    def uniforms(self, n: int, dimension: int, rng: Rng) -> Points:
        return LatinHypercube(self.size).uniforms(n, dimension, rng)

    def points(self, space: Space, n: int, rng: Rng) -> Points:
        # A generator that does not depend on n, so that designs of any length begin alike.
        order = np.random.default_rng(rng.integers(1 << 62))
        U = LatinHypercube(self.size_for(space)).uniforms(n, len(space.columns), rng)
        if space.n_branches > AFFORDABLE or not n:
            return space.from_uniform(U)
        _, leaves = nodes_of(space)
        turns = [order.permutation(len(leaves)) for _ in range(-(-n // len(leaves)))]
        for row, leaf in zip(U, np.concatenate(turns)[:n], strict=True):
            lead(space, row, leaves[leaf])
        return space.from_uniform(U)

    def size_for(self, space: Space) -> int:
        if self.size is not None:
            return self.size
        if space.n_branches > AFFORDABLE:
            return LatinHypercube().size_for(space)
        _, leaves = nodes_of(space)
        return max(len(leaves), min(2 * max(len(leaf.seen) for leaf in leaves) + 2, 12))


def lead(space: Space, U: Points, leaf: SpaceNode) -> None:
    """Change uniform numbers, `(D,)` or `(n, D)`, to those of points in a leaf."""
    for column, code in leaf.conditions:
        U[..., column] = (code + 0.5) / (space.columns[column].levels or 1)
