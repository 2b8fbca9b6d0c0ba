"""The share of categories that two points have in common, as a kernel."""

from __future__ import annotations

__all__ = ["Matches"]

from dataclasses import dataclass

import numpy as np

from outcrop.data import Pairs
from outcrop.kernels.base import FeatureMap, Kernel, Pull
from outcrop.kernels.categorical import Overlap
from outcrop.typing import Matrix, Points, Rng, Vector

UNLIKE = np.array([1e-3])  # lengthscale at which the overlap kernel of two codes is 0


@dataclass(frozen=True, eq=False)
class Matches(Kernel):
    """k = (1/d) Σᵢ 1[hᵢ = h'ᵢ], the overlap kernel of CoCaBO [Alvi 2019, eq. 5.2].

    Categories have effects of their own that add up. Its rank is at most 1 + Σᵢ (levelsᵢ − 1), so a
    combination without observations has little uncertainty once every level was observed; `Overlap`
    has full rank.
    """

    stationary = True
    categories_only = True

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        shares = np.full(pairs.X1.shape[1], 1 / pairs.X1.shape[1])
        K = 1.0 - (shares @ pairs.mismatches).reshape(pairs.shape)

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            return np.zeros_like(pairs.X1), np.zeros_like(pairs.X2)

        return K, Pull(lambda K_bar: self, inputs)

    def diag(self, X: Points) -> Vector:
        return np.ones(len(X))

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        """Each feature is a sign per code of one column, and columns have equal shares of them."""
        owners = rng.integers(dimension, size=count)
        parts = [np.flatnonzero(owners == i) for i in range(dimension)]
        signs = [Overlap(UNLIKE).features(rng, len(part), 1) for part in parts]

        def values(X: Points) -> Matrix:
            total = np.empty((len(X), count))
            for i, part in enumerate(parts):
                total[:, part] = signs[i].values(X[:, i : i + 1])
            return total

        return FeatureMap(values, lambda X, values_bar: np.zeros_like(X))
