"""The Gaussian process of CoCaBO: its kernel mixes the sum and the product of two kernels."""

from __future__ import annotations

__all__ = ["CategoryMix"]

from dataclasses import dataclass

from outcrop.errors import ModelError
from outcrop.kernels import Kernel, Matches, Subspace, SumProduct
from outcrop.params import free
from outcrop.priors import Uniform
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.kind import Kind, fitted_process
from outcrop.surrogates.situation import Situation

MIX = Uniform(0.0, 1.0)


@dataclass(frozen=True)
class CategoryMix(Kind):
    """A Gaussian process whose kernel mixes a sum and a product of numbers and categories.

        oc.Method(surrogate=oc.surrogates.CategoryMix())
        oc.Method(surrogate=oc.surrogates.CategoryMix(mix=0.5))

    The model of CoCaBO: the kernel of the categories is the share of them that match, and `mix` is
    λ of `SumProduct`: 0 adds both kernels, 1 multiplies them, None learns it [Alvi 2019, section
    5.3.2]. There is no surrogate for a space without numbers or without categories: matching
    categories alone hardly predict a combination that was never tried.
    """

    mix: float | None = None
    label = "CoCaBO GP"

    def __post_init__(self) -> None:
        if self.mix is not None and not 0 <= self.mix <= 1:
            raise ModelError(
                f"CategoryMix(mix={self.mix!r}): expected a number from 0 to 1, or None to learn it"
            )

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not situation.numbers or not situation.categories:
            return None
        return fitted_process(situation, situation.kernel(joined=self.joined))

    def joined(self, numbers: Subspace, categories: Subspace) -> Kernel:
        """The kernel of numbers and categories together, made from that of each."""
        mix = free(MIX) if self.mix is None else self.mix
        return SumProduct(mix, (numbers, Subspace(categories.columns, Matches())))
