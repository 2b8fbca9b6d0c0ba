"""Kernels restricted to a part of a conditional space.

A condition is a pair (column of a choice, code of an option); a part of the space is where all of
some conditions hold.
"""

from __future__ import annotations

__all__ = ["Within", "holding"]

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import EllipsisType

import numpy as np

from outcrop.data import Pairs
from outcrop.kernels.base import FeatureMap, Kernel, Pull
from outcrop.kernels.wrappers import Wrapper
from outcrop.params import changed
from outcrop.typing import Conditions, Indices, Mask, Matrix, Points, Rng, Vector


def holding(parts: Sequence[Conditions], X: Points) -> Mask:
    """Which rows of `X` lie in which of the parts, `(n, len(parts))`."""
    columns, codes, needed = _compiled(tuple(parts))
    holds = (X[:, columns] == codes).astype(float)
    inside: Mask = holds @ needed == needed.sum(0)
    return inside


@lru_cache(maxsize=256)
def _compiled(parts: tuple[Conditions, ...]) -> tuple[Indices, Vector, Matrix]:
    """Columns and codes of all conditions, and a 1 for each that a part needs, a column a part."""
    known = list(dict.fromkeys(condition for part in parts for condition in part))
    needed = np.zeros((len(known), len(parts)))
    for i, part in enumerate(parts):
        needed[[known.index(condition) for condition in part], i] = 1.0
    columns = np.array([column for column, _ in known], dtype=np.intp)
    return columns, np.array([code for _, code in known], dtype=float), needed


@dataclass(frozen=True, eq=False)
class Within(Wrapper):
    """`kernel` between points that both lie in a part of the space, and 0 between others.

        Within(((0, 1),), Subspace((2, 3), Matern52([0.3, 0.5])))

    The kernel of an effect that only some configurations have.
    """

    conditions: Conditions
    kernel: Kernel

    def for_children(self, X: Points) -> Points:
        return X[self._holds(X)]

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        part, place = pairs.among(self.conditions, self._holds)
        at: tuple[EllipsisType | Indices, ...] = (..., *place)
        is_empty = 0 in part.shape
        if is_empty:  # an arbitrary pair, for the shapes of the results
            nowhere = np.zeros((1, pairs.X1.shape[1]))
            part = Pairs(nowhere, nowhere)
        inner, pull = self.kernel.on(part)
        K = np.zeros((*inner.shape[: inner.ndim - len(part.shape)], *pairs.shape))
        if not is_empty:
            K[at] = inner

        def of_part(K_bar: Matrix) -> Matrix:
            if is_empty:
                return np.zeros((*K_bar.shape[: K_bar.ndim - len(pairs.shape)], 1, 1))
            return K_bar[at]

        def parameters(K_bar: Matrix) -> Kernel:
            return changed(self, kernel=pull.parameters(of_part(K_bar)))

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            X1_bar, X2_bar = np.zeros_like(pairs.X1), np.zeros_like(pairs.X2)
            if not is_empty:
                X1_bar[place[0][:, 0]], X2_bar[place[1][0]] = pull.inputs(of_part(K_bar))
            return X1_bar, X2_bar

        return K, Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        return self.kernel.diag(X) * self._holds(X)

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        return self.kernel.pull_diag(X, diag_bar * self._holds(X))

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        values, pull = self.kernel.features(rng, count, dimension)
        return FeatureMap(
            lambda X: values(X) * self._holds(X)[:, None],
            lambda X, bar: pull(X, bar * self._holds(X)[:, None]),
        )

    def _holds(self, X: Points) -> Mask:
        return holding((self.conditions,), X)[:, 0]
