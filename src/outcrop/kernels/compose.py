"""Kernels around kernels: sums, products, scaling, a part of the dimensions, additive structure."""

from __future__ import annotations

__all__ = ["Additive", "Constant", "Offset", "Product", "Scaled", "Subspace", "Sum"]

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull, lifted
from outcrop.kernels.stationary import Stationary
from outcrop.params import Free, changed, shaped
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class Constant(Kernel):
    """k = 1: the same unknown level everywhere."""

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
class Offset(Kernel):
    """k + `variance`: a function around a level that is itself unknown, N(0, `variance`).

    It marginalises a constant mean, so that no sampler has to find it. The same as
    `k + Scaled(variance, Constant())`, at the price of one addition.
    """

    variance: float
    kernel: Kernel

    def __post_init__(self) -> None:
        _require_positive(self)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        inner, pull = self.kernel.on(pairs)

        def parameters(K_bar: Matrix) -> Kernel:
            return shaped(self, variance=float(K_bar.sum()), kernel=pull.parameters(K_bar))

        return inner + lifted(self.variance, 2), Pull(parameters, pull.inputs)

    def diag(self, X: Points) -> Vector:
        return lifted(self.variance, 1) + self.kernel.diag(X)

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        return self.kernel.pull_diag(X, diag_bar)

    def grounded(self, X: Points) -> Kernel:
        return changed(self, kernel=self.kernel.grounded(X))

    def scales(self, dimension: int) -> Vector:
        return self.kernel.scales(dimension)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        level = np.sqrt(self.variance) * rng.choice([-1.0, 1.0], count)
        values, pull = self.kernel.features(rng, count, dimension)
        return FeatureMap(lambda X: level + values(X), pull)


@dataclass(frozen=True, eq=False)
class Scaled(Kernel):
    """`variance` times a kernel."""

    variance: float
    kernel: Kernel

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

    def grounded(self, X: Points) -> Kernel:
        return changed(self, kernel=self.kernel.grounded(X))

    def scales(self, dimension: int) -> Vector:
        return self.kernel.scales(dimension)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        values, pull = self.kernel.features(rng, count, dimension)
        scale = np.sqrt(self.variance)
        return FeatureMap(lambda X: scale * values(X), lambda X, bar: pull(X, scale * bar))


@dataclass(frozen=True, eq=False)
class Sum(Kernel):
    """Σ of kernels: independent effects that add up. `k1 + k2` writes the same."""

    kernels: tuple[Kernel, ...]

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        Ks, pulls = zip(*(kernel.on(pairs) for kernel in self.kernels), strict=True)

        def parameters(K_bar: Matrix) -> Kernel:
            return shaped(self, kernels=tuple(pull.parameters(K_bar) for pull in pulls))

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            return sum_inputs([pull.inputs(K_bar) for pull in pulls])

        return sum(Ks[1:], Ks[0]), Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        return reduce(add, [kernel.diag(X) for kernel in self.kernels])

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        return np.sum([k.pull_diag(X, diag_bar) for k in self.kernels], axis=0)

    def grounded(self, X: Points) -> Kernel:
        kernels = tuple(kernel.grounded(X) for kernel in self.kernels)
        return changed(self, kernels=kernels)

    def scales(self, dimension: int) -> Vector:
        return reduce(np.minimum, [kernel.scales(dimension) for kernel in self.kernels])

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        """Random functions of the parts added: independent, mean zero, so mean products add."""
        maps = [kernel.features(rng, count, dimension) for kernel in self.kernels]
        return FeatureMap(
            lambda X: np.sum([part.values(X) for part in maps], axis=0),
            lambda X, bar: np.sum([part.pull(X, bar) for part in maps], axis=0),
        )


@dataclass(frozen=True, eq=False)
class Product(Kernel):
    """Π of kernels: similar only if similar in every respect. `k1 * k2` writes the same."""

    kernels: tuple[Kernel, ...]

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        Ks, pulls = zip(*(kernel.on(pairs) for kernel in self.kernels), strict=True)

        def parameters(K_bar: Matrix) -> Kernel:
            others = products_of_others(Ks)
            return shaped(
                self,
                kernels=tuple(
                    pull.parameters(K_bar * rest) for pull, rest in zip(pulls, others, strict=True)
                ),
            )

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            others = products_of_others(Ks)
            return sum_inputs(
                [pull.inputs(K_bar * rest) for pull, rest in zip(pulls, others, strict=True)]
            )

        return reduce(mul, Ks), Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        return reduce(mul, [kernel.diag(X) for kernel in self.kernels])

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        others = products_of_others([kernel.diag(X) for kernel in self.kernels])
        pairs = zip(self.kernels, others, strict=True)
        return np.sum([kernel.pull_diag(X, diag_bar * rest) for kernel, rest in pairs], axis=0)

    def grounded(self, X: Points) -> Kernel:
        kernels = tuple(kernel.grounded(X) for kernel in self.kernels)
        return changed(self, kernels=kernels)

    def scales(self, dimension: int) -> Vector:
        return reduce(np.minimum, [kernel.scales(dimension) for kernel in self.kernels])

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
class Subspace(Kernel):
    """A kernel that sees some of the dimensions only."""

    columns: tuple[int, ...]
    kernel: Kernel

    def __post_init__(self) -> None:
        columns = tuple(int(column) for column in self.columns)
        if not columns or len(set(columns)) < len(columns) or min(columns) < 0:
            raise ModelError(
                f"Subspace(columns={self.columns!r}): expected distinct indices from 0"
            )
        object.__setattr__(self, "columns", columns)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        K, pull = self.kernel.on(pairs.columns(self.columns))

        def parameters(K_bar: Matrix) -> Kernel:
            return shaped(self, columns=self.columns, kernel=pull.parameters(K_bar))

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            part1, part2 = pull.inputs(K_bar)
            return self._spread(part1, pairs.X1), self._spread(part2, pairs.X2)

        return K, Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        return self.kernel.diag(X[:, self.columns])

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        return self._spread(self.kernel.pull_diag(X[:, self.columns], diag_bar), X)

    def grounded(self, X: Points) -> Kernel:
        return changed(self, kernel=self.kernel.grounded(X[:, self.columns]))

    def scales(self, dimension: int) -> Vector:
        inner = self.kernel.scales(len(self.columns))
        whole = np.ones((*inner.shape[:-1], dimension))
        whole[..., self.columns] = inner
        return whole

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        values, pull = self.kernel.features(rng, count, len(self.columns))
        return FeatureMap(
            lambda X: values(X[:, self.columns]),
            lambda X, bar: self._spread(pull(X[:, self.columns], bar), X),
        )

    def _spread(self, part: Points, X: Points) -> Points:
        whole = np.zeros_like(X)
        whole[:, self.columns] = part
        return whole


@dataclass(frozen=True, eq=False)
class Additive(Kernel):
    """One-dimensional effects that add up, with a share of their full interaction.

        k = (1 − ρ) (1/d) Σᵢ kᵢ(xᵢ, x'ᵢ) + ρ Πᵢ kᵢ(xᵢ, x'ᵢ)

    kᵢ is `kernel` restricted to dimension i with its own lengthscale [after Duvenaud et al. 2011].
    """

    interaction: float  # ρ in [0, 1]
    kernel: Stationary

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Stationary):
            raise ModelError(f"Additive(kernel={self.kernel!r}): expected a stationary kernel")
        if not isinstance(self.interaction, Free):
            if not 0 <= self.interaction <= 1:
                raise ModelError(f"Additive(interaction={self.interaction!r}): expected 0 to 1")
            object.__setattr__(self, "interaction", float(self.interaction))

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        dimension = pairs.X1.shape[1]
        parts = [self._restricted(i, dimension).on(pairs.columns((i,))) for i in range(dimension)]
        Ks = [K for K, _ in parts]
        mean, product = sum(Ks[1:], Ks[0]) / dimension, reduce(mul, Ks)
        rho = lifted(self.interaction, 2)

        def part_bars(K_bar: Matrix) -> list[Matrix]:
            return [K_bar * ((1 - rho) / dimension + rho * rest) for rest in products_of_others(Ks)]

        def parameters(K_bar: Matrix) -> Kernel:
            bars = [
                pull.parameters(bar) for (_, pull), bar in zip(parts, part_bars(K_bar), strict=True)
            ]
            return shaped(
                self,
                interaction=float(np.vdot(K_bar, product - mean)),
                kernel=shaped(self.kernel, **self._collect(bars)),
            )

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            bars = [
                pull.inputs(bar) for (_, pull), bar in zip(parts, part_bars(K_bar), strict=True)
            ]
            return np.hstack([one for one, _ in bars]), np.hstack([two for _, two in bars])

        return (1 - rho) * mean + rho * product, Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        return np.ones(len(X))

    def scales(self, dimension: int) -> Vector:
        return self.kernel.scales(dimension)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        ones = [self._restricted(i, dimension) for i in range(dimension)]
        subspaces = tuple(Subspace((i,), one) for i, one in enumerate(ones))
        parts: list[Kernel] = [Scaled((1 - self.interaction) / dimension, s) for s in subspaces]
        if self.interaction == 1:
            return Product(subspaces).features(rng, count, dimension)
        if self.interaction > 0:
            parts.append(Scaled(self.interaction, Product(subspaces)))
        return Sum(tuple(parts)).features(rng, count, dimension)

    def _restricted(self, i: int, dimension: int) -> Stationary:
        lengthscales = self.kernel.lengthscales
        own = lengthscales if lengthscales.shape[-1] == 1 else lengthscales[..., i : i + 1]
        return shaped(self.kernel, **{**vars(self.kernel), "lengthscales": own})

    def _collect(self, bars: Sequence[Kernel]) -> dict[str, object]:
        """One gradient for the wrapped kernel from those of its restrictions."""
        lengthscales = np.concatenate([vars(bar)["lengthscales"] for bar in bars])
        if len(self.kernel.lengthscales) == 1:
            lengthscales = lengthscales.sum(keepdims=True)
        shared = {
            name: sum(vars(bar)[name] for bar in bars)
            for name in vars(bars[0])
            if name != "lengthscales"
        }
        return {"lengthscales": lengthscales, **shared}


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


def sum_inputs(bars: Sequence[tuple[Points, Points]]) -> tuple[Points, Points]:
    """Input gradients of several kernels on the same pairs, added up."""
    ones, twos = zip(*bars, strict=True)
    return np.sum(ones, axis=0), np.sum(twos, axis=0)
