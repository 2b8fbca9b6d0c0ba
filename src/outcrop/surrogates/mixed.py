"""Kinds of Gaussian process for points of numbers and categories."""

from __future__ import annotations

__all__ = ["CoCaBO", "OneHot"]

from dataclasses import dataclass
from math import log
from typing import ClassVar

from outcrop.errors import ModelError
from outcrop.kernels import Kernel, Matches, Matern52, Subspace, SumProduct
from outcrop.params import free
from outcrop.priors import LogNormal, Uniform
from outcrop.surrogates.families import Family

MIX = Uniform(0.0, 1.0)
LENGTHSCALE = LogNormal(log(0.5), 1.0, growth=0.5)  # grows with the diagonal of the one-hot cube


@dataclass(frozen=True)
class CoCaBO(Family):
    """A Gaussian process between the sum and the product of numbers and categories.

        oc.Method(surrogate=oc.surrogates.CoCaBO())
        oc.Method(surrogate=oc.surrogates.CoCaBO(mix=0.5))

    The kernel of the categories is the share of them that match, and `mix` is λ of `SumProduct`: 0
    adds both kernels up, 1 multiplies them, None learns it [Alvi 2019, section 5.3.2]. A space
    without numbers or without categories is left to the plain process: matching categories alone
    say hardly anything of a combination that was never tried.
    """

    mix: float | None = None
    label: ClassVar[str] = "CoCaBO GP"

    def __post_init__(self) -> None:
        if self.mix is not None and not 0 <= self.mix <= 1:
            raise ModelError(
                f"CoCaBO(mix={self.mix!r}): expected a number from 0 to 1, or None to learn it"
            )

    def suits(self, numbers: int, categories: int) -> bool:
        return numbers > 0 and categories > 0

    def around(self, kernel: Kernel, dimension: int) -> Kernel:
        return kernel

    def joined(self, numbers: Subspace, categories: Subspace) -> Kernel:
        mix = free(MIX) if self.mix is None else self.mix
        return SumProduct(mix, (numbers, Subspace(categories.columns, Matches())))


@dataclass(frozen=True)
class OneHot(Family):
    """A Gaussian process that sees a category as one number for each of its levels, 0 or 1.

        oc.Method(surrogate=oc.surrogates.OneHot())

    The baseline of CoCaBO: a Matérn-5/2 kernel with one lengthscale for everything. The acquisition
    is maximised over the cube of all these numbers, as if there were something between levels, and
    then the largest number of each category says which level is meant. A space without categories
    is left to the plain process.
    """

    label: ClassVar[str] = "one-hot GP"
    is_relaxed: ClassVar[bool] = True

    def suits(self, numbers: int, categories: int) -> bool:
        return categories > 0

    def around(self, kernel: Kernel, dimension: int) -> Kernel:
        return Matern52(free(LENGTHSCALE.for_size(dimension), size=1))
