"""Divisions of a space into leaves: which leaf a point is in."""

from __future__ import annotations

__all__ = ["Branches", "Division"]

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from outcrop.errors import ModelError, ShapeError
from outcrop.kernels.within import holding
from outcrop.linalg import Indices
from outcrop.typing import Conditions, Matrix, Points, Vector


class Division(ABC):
    """A space divided into leaves, numbered from 0."""

    @abstractmethod
    def leaf_of(self, X: Points) -> Indices:
        """The leaf that each row of `X` is predicted in."""

    @abstractmethod
    def shares(self, X: Points) -> list[Indices]:
        """For each leaf the rows of `X` that it learns from: a border point may have two leaves."""

    @abstractmethod
    def same_as(self, other: Division) -> bool:
        """Whether both divide the space into the same leaves, numbered alike."""

    @abstractmethod
    def typical(self, scales: Matrix) -> Vector:
        """One lengthscale per column, `(d,)`, from those of every leaf, `(leaves, d)`."""

    def grouped(self, X: Points) -> Iterator[tuple[int, Indices]]:
        """Each leaf that contains rows of `X`, with those rows."""
        leaf = self.leaf_of(X)
        order = np.argsort(leaf, kind="stable")
        starts = np.flatnonzero(np.diff(leaf[order], prepend=-1))
        for rows in np.split(order, starts[1:]) if len(order) else ():
            yield int(leaf[rows[0]]), rows


@dataclass(frozen=True)
class Branches(Division):
    """The branches of a conditional space: a point is in the leaf whose conditions it meets."""

    conditions: tuple[Conditions, ...]  # of each leaf
    dimension: int  # columns of a point

    def leaf_of(self, X: Points) -> Indices:
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise ShapeError(f"expected X (m, {self.dimension}), got {X.shape}")
        inside = holding(self.conditions, X)
        if not inside.any(1).all():
            raise ModelError("points lie in no leaf of the model; make the model for this space")
        return inside.argmax(1)

    def shares(self, X: Points) -> list[Indices]:
        leaf = self.leaf_of(X)
        return [np.flatnonzero(leaf == i) for i in range(len(self.conditions))]

    def same_as(self, other: Division) -> bool:
        return self == other

    def typical(self, scales: Matrix) -> Vector:
        """The shortest: a leaf whose kernel ignores a column has 1 there."""
        return np.min(scales, axis=0)
