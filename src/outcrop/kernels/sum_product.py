"""Between the sum and the product of kernels."""

from __future__ import annotations

__all__ = ["SumProduct"]

from dataclasses import dataclass
from functools import reduce
from operator import add, mul

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull, lifted
from outcrop.kernels.compose import Product, Scaled, Sum, products_of_others, sum_inputs
from outcrop.params import Free, changed, shaped
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class SumProduct(Kernel):
    """A trade between effects that add up and effects that depend on each other.

        k = (1 − λ) (1/m) Σᵢ kᵢ + λ Πᵢ kᵢ,    i = 1, …, m

        SumProduct(0.5, (Subspace((0,), Matern52([0.3])), Subspace((1, 2), Matches())))

    Of a kernel of numbers and one of categories it is that of CoCaBO [Alvi 2019, eq. 5.3], with
    the sum divided by two: kernels of unit variance then give one of unit variance for every λ.
    """

    mix: float  # λ in [0, 1]: 0 is the mean of the kernels, 1 their product
    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        if not self.kernels:
            raise ModelError("SumProduct(kernels=()): expected at least one kernel")
        if not isinstance(self.mix, Free):
            if not 0 <= self.mix <= 1:
                raise ModelError(f"SumProduct(mix={self.mix!r}): expected a number from 0 to 1")
            object.__setattr__(self, "mix", float(self.mix))

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        Ks, pulls = zip(*(kernel.on(pairs) for kernel in self.kernels), strict=True)
        mean, product = reduce(add, Ks) / len(Ks), reduce(mul, Ks)
        mix = lifted(self.mix, 2)

        def part_bars(K_bar: Matrix) -> list[Matrix]:
            return [K_bar * ((1 - mix) / len(Ks) + mix * rest) for rest in products_of_others(Ks)]

        def parameters(K_bar: Matrix) -> Kernel:
            bars = zip(pulls, part_bars(K_bar), strict=True)
            return shaped(
                self,
                mix=float(np.vdot(K_bar, product - mean)),
                kernels=tuple(pull.parameters(bar) for pull, bar in bars),
            )

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            bars = zip(pulls, part_bars(K_bar), strict=True)
            return sum_inputs([pull.inputs(bar) for pull, bar in bars])

        return (1 - mix) * mean + mix * product, Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        diagonals = [kernel.diag(X) for kernel in self.kernels]
        mix = lifted(self.mix, 1)
        return (1 - mix) * reduce(add, diagonals) / len(diagonals) + mix * reduce(mul, diagonals)

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        mix = lifted(self.mix, 1)
        others = products_of_others([kernel.diag(X) for kernel in self.kernels])
        return np.sum(
            [
                kernel.pull_diag(X, diag_bar * ((1 - mix) / len(others) + mix * rest))
                for kernel, rest in zip(self.kernels, others, strict=True)
            ],
            axis=0,
        )

    def grounded(self, X: Points) -> Kernel:
        return changed(self, kernels=tuple(kernel.grounded(X) for kernel in self.kernels))

    def scales(self, dimension: int) -> Vector:
        return reduce(np.minimum, [kernel.scales(dimension) for kernel in self.kernels])

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        parts: list[Kernel] = []
        if self.mix < 1:
            parts += [Scaled((1 - self.mix) / len(self.kernels), one) for one in self.kernels]
        if self.mix > 0:
            parts.append(Scaled(self.mix, Product(self.kernels)))
        return Sum(tuple(parts)).features(rng, count, dimension)
