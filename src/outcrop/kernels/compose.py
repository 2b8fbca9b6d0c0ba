"""Kernels around kernels: sums, products, scaling, a part of the dimensions."""

from __future__ import annotations

__all__ = ["Constant", "Offset", "Product", "Scaled", "Subspace", "Sum", "products_of_others"]

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull, lifted
from outcrop.kernels.wrappers import Combination, PointMap, Wrapper
from outcrop.params import Free, shaped
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class Constant(Kernel):
    """k = 1: the same unknown level everywhere."""

    stationary = True
    categories_only = True

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            return np.zeros_like(pairs.X1), np.zeros_like(pairs.X2)

        return np.ones(pairs.shape), Pull(lambda K_bar: self, inputs)

    def diag(self, X: Points) -> Vector:
        return np.ones(len(X))

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        signs = rng.choice([-1.0, 1.0], count)
        return FeatureMap(lambda X: np.tile(signs, (len(X), 1)), lambda X, bar: np.zeros_like(X))


@dataclass(frozen=True, eq=False)
class Offset(Wrapper):
    """k + `variance`: a function around a level that is itself unknown, N(0, `variance`).

    It marginalises a constant mean, so that no sampler has to find it. The same as
    `k + Scaled(variance, Constant())`, at the cost of one addition.
    """

    variance: float
    kernel: Kernel
    stationary = True
    passes_expectation = True

    def __post_init__(self) -> None:
        _require_positive(self)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        inner, pull = self.kernel.on(pairs)

        def parameters(K_bar: Matrix) -> Kernel:
            return shaped(self, variance=float(K_bar.sum()), kernel=pull.parameters(K_bar))

        return inner + lifted(self.variance, 2), Pull(parameters, pull.inputs)

    def diag(self, X: Points) -> Vector:
        return lifted(self.variance, 1) + self.kernel.diag(X)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        level = np.sqrt(self.variance) * rng.choice([-1.0, 1.0], count)
        values, pull = self.kernel.features(rng, count, dimension)
        return FeatureMap(lambda X: level + values(X), pull)


@dataclass(frozen=True, eq=False)
class Scaled(Wrapper):
    """`variance` times a kernel."""

    variance: float
    kernel: Kernel
    stationary = True
    passes_expectation = True

    def __post_init__(self) -> None:
        _require_positive(self)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        inner, pull = self.kernel.on(pairs)
        variance = lifted(self.variance, 2)

        def parameters(K_bar: Matrix) -> Kernel:
            variance_bar = float(np.vdot(K_bar, inner))
            return shaped(self, variance=variance_bar, kernel=pull.parameters(variance * K_bar))

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            return pull.inputs(variance * K_bar)

        return variance * inner, Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        return lifted(self.variance, 1) * self.kernel.diag(X)

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        return self.kernel.pull_diag(X, lifted(self.variance, 1) * diag_bar)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        values, pull = self.kernel.features(rng, count, dimension)
        scale = np.sqrt(self.variance)
        return FeatureMap(lambda X: scale * values(X), lambda X, bar: pull(X, scale * bar))


@dataclass(frozen=True, eq=False)
class Sum(Combination):
    """Σ of kernels: independent effects that add up. `k1 + k2` writes the same."""

    kernels: tuple[Kernel, ...]

    def combined(self, values: Sequence[Matrix], axes: int) -> Matrix:
        return reduce(add, values)

    def pull_combined(self, bar: Matrix, values: Sequence[Matrix], axes: int) -> Sequence[Matrix]:
        return [bar] * len(values)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        """Random functions of the parts added: independent, mean zero, so mean products add."""
        maps = [kernel.features(rng, count, dimension) for kernel in self.kernels]
        return FeatureMap(
            lambda X: np.sum([part.values(X) for part in maps], axis=0),
            lambda X, bar: np.sum([part.pull(X, bar) for part in maps], axis=0),
        )


@dataclass(frozen=True, eq=False)
class Product(Combination):
    """Π of kernels: similar only if similar in every respect. `k1 * k2` writes the same."""

    kernels: tuple[Kernel, ...]
    multiplies = True

    def combined(self, values: Sequence[Matrix], axes: int) -> Matrix:
        return reduce(mul, values)

    def pull_combined(self, bar: Matrix, values: Sequence[Matrix], axes: int) -> Sequence[Matrix]:
        return [bar * rest for rest in products_of_others(values)]

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        """Random functions of the parts multiplied: independent, so mean products multiply."""
        maps = [kernel.features(rng, count, dimension) for kernel in self.kernels]

        def values(X: Points) -> Matrix:
            return reduce(mul, [part.values(X) for part in maps])

        def pull(X: Points, values_bar: Matrix) -> Points:
            others = products_of_others([part.values(X) for part in maps])
            return np.sum(
                [part.pull(X, values_bar * rest) for part, rest in zip(maps, others, strict=True)],
                axis=0,
            )

        return FeatureMap(values, pull)


@dataclass(frozen=True, eq=False)
class Subspace(PointMap):
    """A kernel of some of the dimensions."""

    columns: tuple[int, ...]
    kernel: Kernel
    stationary = True
    passes_expectation = True

    def __post_init__(self) -> None:
        columns = tuple(int(column) for column in self.columns)
        if not columns or len(set(columns)) < len(columns) or min(columns) < 0:
            raise ModelError(
                f"Subspace(columns={self.columns!r}): expected distinct indices from 0"
            )
        object.__setattr__(self, "columns", columns)

    def image(self, X: Points) -> Points:
        return X[:, self.columns]

    def pull_image(self, X: Points, image_bar: Points) -> Points:
        X_bar = np.zeros_like(X)
        X_bar[:, self.columns] = image_bar
        return X_bar

    def image_pairs(self, pairs: Pairs) -> Pairs:
        return pairs.columns(self.columns)

    def image_dimension(self, dimension: int) -> int:
        return len(self.columns)

    def scales(self, dimension: int) -> Vector:
        inner = self.kernel.scales(len(self.columns))
        whole = np.ones((*inner.shape[:-1], dimension))
        whole[..., self.columns] = inner
        return whole


def _require_positive(kernel: Scaled | Offset) -> None:
    if not isinstance(kernel.variance, Free):
        if not 0 < kernel.variance < np.inf:
            raise ModelError(
                f"{type(kernel).__name__}(variance={kernel.variance!r}): expected a finite number "
                "above 0"
            )
        object.__setattr__(kernel, "variance", float(kernel.variance))


def products_of_others(factors: Sequence[Matrix]) -> list[Matrix]:
    """For each factor the product of all others, without dividing."""
    ones = np.ones_like(factors[0])
    before, after = [ones], [ones]
    for factor in factors[:-1]:
        before.append(before[-1] * factor)
    for factor in reversed(factors[1:]):
        after.append(after[-1] * factor)
    return [left * right for left, right in zip(before, reversed(after), strict=True)]
