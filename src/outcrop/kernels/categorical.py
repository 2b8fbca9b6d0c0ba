"""Kernels for columns that hold category codes, and for columns that are not always active."""

from __future__ import annotations

__all__ = ["CodeKernel", "Conditional", "Matches", "Overlap"]

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull, PullParameters
from outcrop.kernels.stationary import positive_vector, summed_like
from outcrop.kernels.wrappers import PointMap
from outcrop.params import shaped
from outcrop.typing import Matrix, Points, Rng, Vector

UNLIKE = np.array([1e-3])  # lengthscale at which the overlap kernel of two codes is 0

ColumnCondition = tuple[int, tuple[tuple[int, int], ...], bool]


class CodeKernel(Kernel):
    """A kernel of category codes, with unit variance; it has no gradient in the inputs."""

    stationary = True
    categories_only = True

    @abstractmethod
    def covariances(self, pairs: Pairs) -> tuple[Matrix, PullParameters]:
        """Covariances of all pairs, and the pullback to the fields of the kernel."""

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        K, parameters = self.covariances(pairs)
        return K, Pull(parameters, lambda K_bar: (np.zeros_like(pairs.X1), np.zeros_like(pairs.X2)))

    def diag(self, X: Points) -> Vector:
        return np.ones(len(X))


@dataclass(frozen=True, eq=False)
class Overlap(CodeKernel):
    """k = exp(−Σᵢ 1[hᵢ ≠ h'ᵢ] / ℓᵢ): covariance falls with every category that differs.

    With a large ℓᵢ category i hardly matters. Unlike a sum of overlaps the kernel has full rank, so
    a combination without observations keeps an uncertainty of its own.
    """

    lengthscales: Vector  # (d,) or (1,)

    def __post_init__(self) -> None:
        value = positive_vector("Overlap", "lengthscales", self.lengthscales)
        object.__setattr__(self, "lengthscales", value)

    def covariances(self, pairs: Pairs) -> tuple[Matrix, PullParameters]:
        dimension = pairs.X1.shape[1]
        batch = self.lengthscales.shape[:-1]
        rates = np.broadcast_to(1 / self.lengthscales, (*batch, dimension))
        K = np.exp(-(rates @ pairs.mismatches)).reshape(*batch, *pairs.shape)

        def parameters(K_bar: Matrix) -> Kernel:
            bar = pairs.mismatches @ (K_bar * K).reshape(-1)
            bar = summed_like(bar, self.lengthscales)
            return shaped(self, lengthscales=bar / self.lengthscales**2)

        return K, parameters

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        """Per column √ρ s + √(1 − ρ) g(code): a sign shared by all codes, and one per code."""
        rates = np.broadcast_to(1 / self.lengthscales, (dimension,))
        shared = rng.choice([-1.0, 1.0], (dimension, count))
        seeds = rng.integers(1 << 62, size=dimension)

        def values(X: Points) -> Matrix:
            total = np.ones((len(X), count))
            for i in range(dimension):
                rho = np.exp(-rates[i])
                codes, index = np.unique(X[:, i], return_inverse=True)
                signs = np.stack(
                    [
                        np.random.default_rng([seeds[i], int(code) & 0xFFFFFFFF]).choice(
                            [-1.0, 1.0], count
                        )
                        for code in codes
                    ]
                )
                total *= np.sqrt(rho) * shared[i] + np.sqrt(1 - rho) * signs[index]
            return total

        return FeatureMap(values, lambda X, values_bar: np.zeros_like(X))


@dataclass(frozen=True, eq=False)
class Matches(CodeKernel):
    """k = (1/d) Σᵢ 1[hᵢ = h'ᵢ], the overlap kernel of CoCaBO [Alvi 2019, eq. 5.2].

    Categories have effects of their own that add up. Its rank is at most 1 + Σᵢ (levelsᵢ − 1), so a
    combination without observations has little uncertainty once every level was observed; `Overlap`
    has full rank.
    """

    def covariances(self, pairs: Pairs) -> tuple[Matrix, PullParameters]:
        shares = np.full(pairs.X1.shape[1], 1 / pairs.X1.shape[1])
        K = 1.0 - (shares @ pairs.mismatches).reshape(pairs.shape)
        return K, lambda K_bar: self

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


@dataclass(frozen=True, eq=False)
class Conditional(PointMap):
    """A kernel that does not depend on the values of inactive parameters.

    `conditions` lists `(column, ((choice column, code), …), is_code)` for each column that is
    active only where all its choices hold those codes. Elsewhere the inner kernel sees the middle
    of the range, or the code −1 of a category: configurations without the parameter agree in it.
    """

    conditions: tuple[ColumnCondition, ...]
    kernel: Kernel
    stationary = True
    passes_expectation = True

    def __post_init__(self) -> None:
        if not self.conditions:
            raise ModelError("Conditional(conditions=()): without conditions use the kernel itself")

    def image(self, X: Points) -> Points:
        return self._masked(X)[0]

    def pull_image(self, X: Points, image_bar: Points) -> Points:
        return image_bar * self._masked(X)[1]

    def image_pairs(self, pairs: Pairs) -> Pairs:
        return pairs.mapped(self.conditions, self.image)

    def _masked(self, X: Points) -> tuple[Points, Points]:
        """`X` with inactive entries replaced, and 1 where it is active."""
        masked, active = X.copy(), np.ones_like(X)
        for column, needs, is_code in self.conditions:
            on = np.logical_and.reduce([X[:, choice] == code for choice, code in needs])
            masked[~on, column] = -1.0 if is_code else 0.5
            active[:, column] = on
        return masked, active
