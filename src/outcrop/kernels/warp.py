"""Input warping: a kernel that sees its inputs through a monotone curve in every dimension.

`W` are warped points, shaped as the points `X` that they come from.
"""

from __future__ import annotations

__all__ = ["Warp"]

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ShapeError
from outcrop.kernels.base import FeatureMap, Kernel, Pull
from outcrop.kernels.compose import sum_inputs
from outcrop.kernels.curves import Curve, Kumaraswamy
from outcrop.kernels.stationary import positive_vector
from outcrop.params import changed, member, shaped, stacked
from outcrop.typing import Matrix, Points, Rng, Vector

LEAST = 1e-6  # distance from 0 and 1 at which inputs are held: a curve may rise infinitely there
GRID = (np.arange(16) + 0.5) / 16  # where the steepest part of a curve is looked for


@dataclass(frozen=True, eq=False)
class Warp(Kernel):
    """`kernel` behind a curve w(·; aᵢ, bᵢ) in every dimension: k(w(x), w(x')).

        Warp([0.5], [2.0], Matern52([0.3]))             # more happens near 0 than near 1
        Warp(a, b, Matern52([0.3]), curve=BetaCDF())    # as Snoek et al. 2014 do

    With a = b = 1 it is the kernel itself. Inputs lie in the unit cube. A single shape serves all
    dimensions.
    """

    a: Vector  # (d,) or (1,)
    b: Vector  # (d,) or (1,)
    kernel: Kernel
    curve: Curve = field(default_factory=Kumaraswamy)

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            value = positive_vector("Warp", name, getattr(self, name))
            object.__setattr__(self, name, value)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        if self._members:
            return _on_each(self._members, pairs)
        W1 = self._warped(pairs.X1)
        W2 = W1 if pairs.X1 is pairs.X2 else self._warped(pairs.X2)
        K, pull = self.kernel.on(pairs.moved(W1, W2))

        def parameters(K_bar: Matrix) -> Kernel:
            a_bar, b_bar = np.zeros(len(self.a)), np.zeros(len(self.b))
            for X, W_bar in zip((pairs.X1, pairs.X2), pull.inputs(K_bar), strict=True):
                by_a, by_b = self.curve.sensitivities(_inside(X), self.a, self.b)
                a_bar += _over_points(W_bar * by_a, len(self.a))
                b_bar += _over_points(W_bar * by_b, len(self.b))
            return shaped(self, a=a_bar, b=b_bar, kernel=pull.parameters(K_bar), curve=self.curve)

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            W1_bar, W2_bar = pull.inputs(K_bar)
            X1_bar = W1_bar * self._slope(pairs.X1)
            return X1_bar, W2_bar * self._slope(pairs.X2) if pairs.second_moves else W2_bar

        return K, Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        if self._members:
            return np.stack([one.diag(X) for one in self._members])
        return self.kernel.diag(self._warped(X))

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        if self._members:
            bars = zip(self._members, diag_bar, strict=True)
            return np.sum([one.pull_diag(X, bar) for one, bar in bars], axis=0)
        return self.kernel.pull_diag(self._warped(X), diag_bar) * self._slope(X)

    def grounded(self, X: Points) -> Kernel:
        return changed(self, kernel=self.kernel.grounded(self._warped(X)))

    def scales(self, dimension: int) -> Vector:
        """The inner kernel's lengths where the curves are steepest."""
        if self._members:
            return np.stack([one.scales(dimension) for one in self._members])
        steepest = self._slope(np.tile(GRID[:, None], dimension)).max(0)
        return self.kernel.scales(dimension) / steepest

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        values, pull = self.kernel.features(rng, count, dimension)
        return FeatureMap(
            lambda X: values(self._warped(X)),
            lambda X, bar: pull(self._warped(X), bar) * self._slope(X),
        )

    def _warped(self, X: Points) -> Points:
        self._check(X)
        return self.curve(_inside(X), self.a, self.b)

    def _slope(self, X: Points) -> Points:
        """∂w/∂x; at a bound that of just inside, so that a climb can leave it."""
        return self.curve.slope(_inside(X), self.a, self.b)

    def _check(self, X: Points) -> None:
        for size in (len(self.a), len(self.b)):
            if size not in (1, X.shape[1]):
                raise ShapeError(
                    f"Warp has {size} shapes for points of {X.shape[1]} dimensions; give one per "
                    "dimension, or a single one for all"
                )

    @cached_property
    def _members(self) -> list[Warp]:
        """The kernels of a stack, one by one: each moves the points to other places."""
        return [member(self, i) for i in range(len(self.a))] if self.a.ndim > 1 else []


def _on_each(kernels: list[Warp], pairs: Pairs) -> tuple[Matrix, Pull]:
    """Covariances `(k, n, m)` of several kernels, evaluated one after the other."""
    Ks, pulls = zip(*(kernel.on(pairs) for kernel in kernels), strict=True)

    def parameters(K_bar: Matrix) -> Kernel:
        return stacked([pull.parameters(bar) for pull, bar in zip(pulls, K_bar, strict=True)])

    def inputs(K_bar: Matrix) -> tuple[Points, Points]:
        return sum_inputs([pull.inputs(bar) for pull, bar in zip(pulls, K_bar, strict=True)])

    return np.stack(Ks), Pull(parameters, inputs)


def _inside(X: Points) -> Points:
    return np.clip(X, LEAST, 1 - LEAST)


def _over_points(bars: Points, size: int) -> Vector:
    """Gradients at the points summed to those of the shapes."""
    total = bars.sum(0)
    return total if size == len(total) else total.sum(keepdims=True)
