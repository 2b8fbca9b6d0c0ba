"""Kinds of Gaussian process that differ from the plain one in their kernel.

A family is no model yet: which columns are numbers, and how many, is known with the space, and
whether noise is learnt with the objective. So it only says what to put around the kernel that the
numbers would have, and how numbers and categories are joined. Conditions, level, amplitude, noise
and inference stay as they are.
"""

from __future__ import annotations

__all__ = ["Family", "Grounded", "Spartan", "Warped"]

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log
from typing import Any, ClassVar

from outcrop import kernels
from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Inference
from outcrop.kernels import Kernel, Kumaraswamy, Product, Region, Subspace, Warp
from outcrop.kernels.curves import Curve
from outcrop.params import changed, free
from outcrop.priors import LogNormal, Prior, Uniform
from outcrop.surrogates.base import Posterior, Surrogate
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.mixture import Mixture
from outcrop.typing import Rng

SHAPES = LogNormal(0.0, 0.5)  # prefers the identity more than the 0.87 of Snoek et al. 2014
WIDTH = LogNormal(log(0.2), 0.5)
CENTRE = Uniform(0.0, 1.0)


class Family(ABC):
    """What stands around the kernel of a space's numbers, and between them and its categories."""

    label: ClassVar[str]  # what a suggestion says of its surrogate
    has_latents: ClassVar[bool] = False  # whether it infers something of every observation
    is_relaxed: ClassVar[bool] = False  # whether numbers stand for levels, which lie at the bounds

    def suits(self, numbers: int, categories: int) -> bool:
        """Whether it has anything to say about so many numbers and categories."""
        return numbers > 0

    @abstractmethod
    def around(self, kernel: Kernel, dimension: int) -> Kernel:
        """The kernel of `dimension` numbers in place of `kernel`; its free slots are inferred."""

    def joined(self, numbers: Subspace, categories: Subspace) -> Kernel:
        """The kernel of points that have both, of the kernel of each."""
        return Product((numbers, categories))

    def surrogate(self, model: GP, inference: Inference, columns: Sequence[int]) -> Surrogate:
        """What fits `model`, whose numbers in `columns` are active in every configuration."""
        return Inferred(model, inference)


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
        return kernels.LocalGlobal((region,) * self.regions, kernel, spread)


@dataclass(frozen=True, eq=False)
class Grounded:
    """A surrogate that believes only what observations speak for, see `Kernel.grounded`.

    Inference is left alone: a region that nobody has looked into yet may be where it is, but what
    is believed, and so where to look next, does without it.
    """

    surrogate: Surrogate

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        belief = self.surrogate.fit(observations, rng, previous)
        return replace(belief, components=tuple(map(_grounded, belief.components)))


def _grounded(part: Posterior) -> Posterior:
    if not isinstance(part, GPPosterior):
        return part
    model = changed(part.model, kernel=part.model.kernel.grounded(part.data.X))
    return part if model is part.model else model.condition(part.data)
