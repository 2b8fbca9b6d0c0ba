"""A weighted mean of the sum and the product of kernels."""

from __future__ import annotations

__all__ = ["SumProduct"]

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul

import numpy as np

from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, lifted
from outcrop.kernels.compose import Product, Scaled, Sum, products_of_others
from outcrop.kernels.wrappers import Combination
from outcrop.params import Free
from outcrop.typing import Matrix, Rng


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
        if not isinstance(self.mix, Free):
            if not 0 <= self.mix <= 1:
                raise ModelError(f"SumProduct(mix={self.mix!r}): expected a number from 0 to 1")
            object.__setattr__(self, "mix", float(self.mix))

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
