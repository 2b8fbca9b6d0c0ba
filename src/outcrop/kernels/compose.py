"""Kernels around kernels: sums, products, scaling, a part of the dimensions."""

from __future__ import annotations

__all__ = ["Constant", "Offset", "Product", "Scaled", "Subspace", "Sum", "SumProduct"]

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull, PullParameters, latest_on, lifted
from outcrop.kernels.categorical import CodeKernel
from outcrop.kernels.stationary import positive_number, share
from outcrop.kernels.wrappers import Combination, PointMap, Wrapper
from outcrop.params import shaped
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class Constant(CodeKernel):
    """k = 1: the same unknown level everywhere."""

    def covariances(self, pairs: Pairs) -> tuple[Matrix, PullParameters]:
        return np.ones(pairs.shape), lambda K_bar: self

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        signs = rng.choice([-1.0, 1.0], count)
        return FeatureMap(lambda X: np.tile(signs, (len(X), 1)), lambda X, bar: np.zeros_like(X))


@dataclass(frozen=True, eq=False)
class _WithVariance(Wrapper):
    """A kernel around another, with a variance of its own."""

    variance: float
    kernel: Kernel
    stationary = True
    passes_expectation = True

    def __post_init__(self) -> None:
        variance = positive_number(type(self).__name__, "variance", self.variance)
        object.__setattr__(self, "variance", variance)


@dataclass(frozen=True, eq=False)
class Offset(_WithVariance):
    """k + `variance`: a function around a level that is itself unknown, N(0, `variance`).

    It marginalises a constant mean, so that no sampler has to find it. The same as
    `k + Scaled(variance, Constant())`, at the cost of one addition.
    """

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        inner, pull = latest_on(self.kernel, pairs, Offset)

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
class Scaled(_WithVariance):
    """`variance` times a kernel."""

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        inner, pull = latest_on(self.kernel, pairs, Scaled)
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
class SumProduct(Combination):
    """A compromise between effects that add up and effects that interact.

        k = (1 − λ) (1/m) Σᵢ kᵢ + λ Πᵢ kᵢ,    i = 1, …, m

        SumProduct(0.5, (Subspace((0,), Matern52([0.3])), Subspace((1, 2), Matches())))

    With a kernel of numbers and one of categories it is the kernel of CoCaBO [Alvi 2019, eq. 5.3],
    with the sum divided by two: kernels of unit variance then give unit variance for every λ.
    """

    mix: float  # λ in [0, 1]: 0 is the mean of the kernels, 1 their product
    kernels: tuple[Kernel, ...]
    multiplies = True

    def __post_init__(self) -> None:
        if not self.kernels:
            raise ModelError("SumProduct(kernels=()): expected at least one kernel")
        object.__setattr__(self, "mix", share("SumProduct", "mix", self.mix))

    def combined(self, values: Sequence[Matrix], axes: int) -> Matrix:
        mean, product = self._mean_and_product(values)
        mix = lifted(self.mix, axes)
        return (1 - mix) * mean + mix * product

    def pull_combined(self, bar: Matrix, values: Sequence[Matrix], axes: int) -> Sequence[Matrix]:
        mix = lifted(self.mix, axes)
        others = products_of_others(values)
        return [bar * ((1 - mix) / len(values) + mix * rest) for rest in others]

    def own_bars(self, K_bar: Matrix, Ks: Sequence[Matrix]) -> dict[str, float]:
        mean, product = self._mean_and_product(Ks)
        return {"mix": float(np.vdot(K_bar, product - mean))}

    def _mean_and_product(self, values: Sequence[Matrix]) -> tuple[Matrix, Matrix]:
        return reduce(add, values) / len(values), reduce(mul, values)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        parts: list[Kernel] = []
        if self.mix < 1:
            parts += [Scaled((1 - self.mix) / len(self.kernels), one) for one in self.kernels]
        if self.mix > 0:
            parts.append(Scaled(self.mix, Product(self.kernels)))
        return Sum(tuple(parts)).features(rng, count, dimension)


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


def products_of_others(factors: Sequence[Matrix]) -> list[Matrix]:
    """For each factor the product of all others, without dividing."""
    ones = np.ones_like(factors[0])
    before, after = [ones], [ones]
    for factor in factors[:-1]:
        before.append(before[-1] * factor)
    for factor in reversed(factors[1:]):
        after.append(after[-1] * factor)
    return [left * right for left, right in zip(before, reversed(after), strict=True)]
