"""Input warping: a kernel of inputs mapped by a monotone curve in every dimension.

`W` are warped points, of the shape of `X`.
"""

from __future__ import annotations

__all__ = ["Warp"]

from dataclasses import dataclass, field

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ShapeError
from outcrop.kernels.base import Kernel, Pull
from outcrop.kernels.curves import Curve, Kumaraswamy
from outcrop.kernels.stationary import positive_vector, summed_like
from outcrop.kernels.wrappers import LearntMap
from outcrop.typing import Matrix, Points, Vector

LEAST = 1e-6  # least distance of inputs from 0 and 1, where the slope of a curve may be infinite
GRID = (np.arange(16) + 0.5) / 16  # where the slope of a curve is evaluated to find its maximum


@dataclass(frozen=True, eq=False)
class Warp(LearntMap):
    """`kernel` of inputs mapped by a curve w(·; aᵢ, bᵢ) in every dimension: k(w(x), w(x')).

        Warp([0.5], [2.0], Matern52([0.3]))             # varies more near 0 than near 1
        Warp(a, b, Matern52([0.3]), curve=BetaCDF())    # as in Snoek et al. 2014

    With a = b = 1 it is the kernel itself. Inputs lie in the unit cube. A single shape is used
    for all dimensions.
    """

    a: Vector  # (d,) or (1,)
    b: Vector  # (d,) or (1,)
    kernel: Kernel
    curve: Curve = field(default_factory=Kumaraswamy)
    first_number = "a"

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            value = positive_vector("Warp", name, getattr(self, name))
            object.__setattr__(self, name, value)

    def map_bars(self, pairs: Pairs, images: Pairs, pull: Pull, K_bar: Matrix) -> dict[str, Vector]:
        a_bar, b_bar = np.zeros(len(self.a)), np.zeros(len(self.b))
        for X, W_bar in zip((pairs.X1, pairs.X2), pull.inputs(K_bar), strict=True):
            by_a, by_b = self.curve.sensitivities(_inside(X), self.a, self.b)
            a_bar += summed_like((W_bar * by_a).sum(0), self.a)
            b_bar += summed_like((W_bar * by_b).sum(0), self.b)
        return {"a": a_bar, "b": b_bar}

    def scales(self, dimension: int) -> Vector:
        """The inner kernel's lengths where the curves are steepest."""
        if self.members:
            return np.stack([one.scales(dimension) for one in self.members])
        steepest = self._slope(np.tile(GRID[:, None], dimension)).max(0)
        return self.kernel.scales(dimension) / steepest

    def image(self, X: Points) -> Points:
        self._check(X)
        return self.curve(_inside(X), self.a, self.b)

    def pull_image(self, X: Points, image_bar: Points) -> Points:
        return image_bar * self._slope(X)

    def _slope(self, X: Points) -> Points:
        """∂w/∂x; at a bound the slope just inside, so that an ascent can leave the bound."""
        return self.curve.slope(_inside(X), self.a, self.b)

    def _check(self, X: Points) -> None:
        for size in (len(self.a), len(self.b)):
            if size not in (1, X.shape[1]):
                raise ShapeError(
                    f"Warp has {size} shapes for points of {X.shape[1]} dimensions; give one per "
                    "dimension, or a single one for all"
                )


def _inside(X: Points) -> Points:
    return np.clip(X, LEAST, 1 - LEAST)
