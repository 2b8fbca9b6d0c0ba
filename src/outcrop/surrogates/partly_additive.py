"""Gaussian processes of effects that add up, with a learnt share of their interaction."""

from __future__ import annotations

__all__ = ["PartlyAdditive"]

from dataclasses import dataclass, replace
from math import log

from outcrop.kernels import Additive, Kernel, Matern52
from outcrop.params import free
from outcrop.priors import Beta, LogNormal, Prior
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.kind import KernelKind
from outcrop.surrogates.situation import Situation
from outcrop.typing import Vector

# An effect is a function of one number, however many numbers there are: unlike the lengthscales of
# other kinds, its own do not grow with the dimension.
LENGTHSCALES = LogNormal(log(0.25), 1.0)
# Where effects mostly interact, the plain process is the better model: small shares are likely.
INTERACTION = Beta(1.0, 9.0)


@dataclass(frozen=True)
class PartlyAdditive(KernelKind):
    """A Gaussian process whose numbers have effects that add up, and interact to a learnt share.

        oc.Method(surrogate=oc.surrogates.PartlyAdditive())
        oc.Method(  # any share of the interaction is as probable as another
            surrogate=oc.surrogates.PartlyAdditive(interaction=oc.priors.Uniform(0.0, 1.0))
        )

    It learns separable objectives from few trials, also those with many local minima. Beforehand
    effects vary fast and hardly interact; where they do not add up along the axes, the share of the
    interaction grows and it is the plain process nearly. A space with fewer than two numbers has
    nothing to add up.
    """

    lengthscales: Prior = LENGTHSCALES  # of effects
    interaction: Prior = INTERACTION  # of its share
    label = "partly additive GP"

    def kernel(self, situation: Situation) -> Kernel:
        def additive(lengthscales: Vector) -> Kernel:
            return Additive(free(self.interaction), Matern52(lengthscales))

        priors = replace(situation.priors, lengthscales=self.lengthscales)
        return replace(situation, priors=priors).kernel(additive)

    def surrogate(self, situation: Situation) -> Surrogate | None:
        return super().surrogate(situation) if len(situation.numbers) > 1 else None
