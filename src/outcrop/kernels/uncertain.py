"""Pairs of points of which one or both are uncertain, with Gaussian noise.

Covariances of points are variances `(1, d)` or `(n, d)`, or matrices `(1, d, d)` or `(n, d, d)`;
a first axis of 1 applies to all points, and None means exact points.
"""

from __future__ import annotations

__all__ = ["UncertainPairs", "matrices", "part_of"]

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from outcrop.data import Pairs, Triangle
from outcrop.errors import ModelError
from outcrop.linalg import packed_indices
from outcrop.typing import Indices, Matrix, Points, Vector


@dataclass(frozen=True, eq=False)
class UncertainPairs(Pairs):
    """The pairs `visible` of intended points, with the covariances of the actual ones.

    `ExpectedRBF` and `TaylorRBF` use the covariances; all other kernels use the intended points.
    """

    visible: Pairs = field(kw_only=True)
    cov1: Matrix | None = field(kw_only=True)
    cov2: Matrix | None = field(kw_only=True)
    ends: int = field(default=0, kw_only=True)  # points of a pair with noise the kernel learns
    same: bool = field(default=False, kw_only=True)  # whether a row paired with itself is one draw

    @classmethod
    def of(
        cls,
        visible: Pairs,
        cov1: Matrix | None,
        cov2: Matrix | None,
        ends: int = 0,
        same: bool = False,
    ) -> UncertainPairs:
        points = visible.X1, visible.X2, visible.second_moves
        return cls(*points, visible=visible, cov1=cov1, cov2=cov2, ends=ends, same=same)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.visible.shape

    @property
    def mismatches(self) -> Matrix:
        return self.visible.mismatches

    @property
    def diagonal(self) -> tuple[Indices, ...]:
        """The index, in a matrix over the pairs, of rows paired with themselves."""
        if isinstance(self.visible, Triangle):
            return (packed_indices(len(self.X1))[2],)
        rows = np.arange(len(self.X1))
        return rows, rows

    def shared(self, cov: Matrix | None) -> Vector | None:
        """The variances `(d,)` that all points have in common; None if they differ."""
        if cov is None:
            return np.zeros(self.X1.shape[1])
        return cov[0] if cov.ndim == 2 and len(cov) == 1 else None

    def squared_distances(self, weights: Vector) -> Matrix:
        return self.visible.squared_distances(weights)

    def pull_weights(self, r2_bar: Matrix, weights: Vector) -> Vector:
        return self.visible.pull_weights(r2_bar, weights)

    def pull_inputs(self, r2_bar: Matrix, weights: Vector) -> tuple[Points, Points]:
        return self.visible.pull_inputs(r2_bar, weights)

    def products(self, u1: Vector, u2: Vector) -> Matrix:
        return self.visible.products(u1, u2)

    def columns(self, columns: tuple[int, ...]) -> UncertainPairs:
        cov1, cov2 = (
            None if cov is None else part_of(cov, columns) for cov in (self.cov1, self.cov2)
        )
        return UncertainPairs.of(self.visible.columns(columns), cov1, cov2, self.ends, self.same)

    def mapped(self, key: Hashable, function: Callable[[Points], Points]) -> UncertainPairs:
        """For maps that replace inactive columns only, whose covariances are 0 already."""
        moved = self.visible.mapped(key, function)
        if moved.X1.shape[1] != self.X1.shape[1]:
            raise ModelError(
                "a kernel of features does not support uncertain points; use NIGP or UTGP with it"
            )
        return replace(self, X1=moved.X1, X2=moved.X2, visible=moved)

    def moved(self, X1: Points, X2: Points) -> Pairs:
        raise ModelError(
            "a kernel that maps points does not support noise in them; use NIGP or "
            'UTGP(kind="full") with it'
        )


def matrices(cov: Matrix) -> Matrix:
    """Covariances as matrices `(…, d, d)`."""
    return cov if cov.ndim == 3 else cov[:, :, None] * np.eye(cov.shape[1])


def part_of(cov: Matrix, columns: tuple[int, ...]) -> Matrix:
    """The covariances of some columns."""
    part = cov[:, columns]
    return part if cov.ndim == 2 else part[:, :, columns]
