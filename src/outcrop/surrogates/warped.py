"""Gaussian processes whose numbers are warped by learnt monotone curves."""

from __future__ import annotations

__all__ = ["Warped"]

from dataclasses import dataclass, field

from outcrop.kernels import Kernel, Kumaraswamy, Matern52, Warp
from outcrop.kernels.warp import Curve
from outcrop.params import free
from outcrop.priors import LogNormal, Prior
from outcrop.surrogates.kind import KernelKind
from outcrop.surrogates.situation import Situation
from outcrop.typing import Vector

SHAPES = LogNormal(0.0, 0.5)  # prefers the identity more than the 0.87 of Snoek et al. 2014


@dataclass(frozen=True)
class Warped(KernelKind):
    """A Gaussian process whose numbers are warped by monotone curves [Snoek et al. 2014].

        oc.Method(surrogate=oc.surrogates.Warped())
        oc.Method(surrogate=oc.surrogates.Warped(oc.kernels.BetaCDF()))    # the paper's curve

    `shapes` is the prior of both shapes of every curve; it prefers the identity, a = b = 1.
    """

    curve: Curve = field(default_factory=Kumaraswamy)
    shapes: Prior = SHAPES
    label = "warped GP"

    def kernel(self, situation: Situation) -> Kernel:
        size = len(situation.numbers)

        def warped(lengthscales: Vector) -> Kernel:
            a, b = free(self.shapes, size=size), free(self.shapes, size=size)
            return Warp(a, b, Matern52(lengthscales), self.curve)

        return situation.kernel(warped)
