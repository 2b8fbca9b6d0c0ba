"""Kinds of Gaussian process that differ from the plain one in the kernel of its numbers.

A family is no model yet: which columns are numbers, and how many, is known with the space, and
whether noise is learnt with the objective. So it only says what to put around the kernel that the
numbers would have. Categories, conditions, level, amplitude, noise and inference stay as they are.
"""

from __future__ import annotations

__all__ = ["Family", "Spartan", "Warped"]

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import inf, log
from typing import ClassVar

from outcrop import kernels
from outcrop.errors import ModelError
from outcrop.kernels import Kernel, Kumaraswamy, Region, Warp
from outcrop.kernels.curves import Curve
from outcrop.params import free
from outcrop.priors import LogNormal, Prior, Uniform

SHAPES = LogNormal(0.0, 0.75**0.5)  # Snoek et al. 2014: half of all curves are nearly straight
WIDTH = LogNormal(log(0.2), 0.5)
CENTRE = Uniform(0.0, 1.0)


class Family(ABC):
    """What stands around the kernel of a space's numbers."""

    label: ClassVar[str]  # what a suggestion says of its surrogate

    @abstractmethod
    def around(self, kernel: Kernel, dimension: int) -> Kernel:
        """The kernel of `dimension` numbers in place of `kernel`; its free slots are inferred."""


@dataclass(frozen=True)
class Warped(Family):
    """A Gaussian process that sees each number through a monotone curve [Snoek et al. 2014].

        oc.Method(surrogate=oc.surrogates.Warped())
        oc.Method(surrogate=oc.surrogates.Warped(oc.kernels.BetaCDF()))    # the paper's curve

    `shapes` is the prior of both shapes of every curve; it prefers the identity, a = b = 1.
    """

    curve: Curve = field(default_factory=Kumaraswamy)
    shapes: Prior = SHAPES
    label: ClassVar[str] = "warped GP"

    def around(self, kernel: Kernel, dimension: int) -> Kernel:
        a, b = free(self.shapes, size=dimension), free(self.shapes, size=dimension)
        return Warp(a, b, kernel, self.curve)


@dataclass(frozen=True)
class Spartan(Family):
    """A Gaussian process with other lengthscales in a region than elsewhere.

        oc.Method(surrogate=oc.surrogates.Spartan())
        oc.Method(surrogate=oc.surrogates.Spartan(widths=(0.05, 10.0)))

    The centre is learnt, and the region's width too unless `widths` gives the standard deviations
    of the weights of the region and of elsewhere. The paper's N(·, 0.05) and N(·, 10) [Martinez-
    Cantin 2015, eq. 3] are `widths=(0.05**0.5, 10**0.5)` if they mean variances, `(0.05, 10.0)` if
    they mean standard deviations.
    """

    regions: int = 1
    widths: tuple[float, float] | None = None
    label: ClassVar[str] = "Spartan GP"

    def __post_init__(self) -> None:
        if type(self.regions) is not int or self.regions < 1:
            raise ModelError(f"Spartan(regions={self.regions!r}): expected an integer ≥ 1")
        if self.widths is not None and (
            len(self.widths) != 2 or not all(0 < width < inf for width in self.widths)
        ):
            raise ModelError(
                f"Spartan(widths={self.widths!r}): expected two finite numbers above 0, the "
                "standard deviations of a region and of elsewhere, or None to learn a width"
            )

    def around(self, kernel: Kernel, dimension: int) -> Kernel:
        width, spread = (free(WIDTH), None) if self.widths is None else self.widths
        region = Region(free(CENTRE, size=dimension), width, kernel)
        return kernels.Spartan((region,) * self.regions, kernel, spread)
