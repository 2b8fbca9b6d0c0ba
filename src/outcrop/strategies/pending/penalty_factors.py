"""Factors between 0 and 1 that keep the next trial away from busy points.

`p` busy points, `k` components, `m` points `X`; d are the distances `(m, p)` in the unit cube, and
of every component and busy point `(k, p)`: μ and σ its prediction there, M the lowest value it
predicts at data and L its Lipschitz constant. If the busy point has its predicted value, the
minimum is at least |μ − M|/L away from it, and trials closer than that are not worth making. A
constant L that was found in a box around the busy point holds within its `reach` only, so that the
radius does not exceed it; M may also be given.

Only numbers have distances: two configurations that differ in a category or an option are never
near each other, and have the factor 1. All factors are logarithms, so that a product is a sum.
"""

from __future__ import annotations

__all__ = ["Gaussian", "Hard", "Penalty", "Shape"]

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log
from typing import Literal, Protocol, TypeAlias

import numpy as np

from outcrop.acquisition.formulas import LOG_ROOT_2PI
from outcrop.space import Space
from outcrop.special import log_ndtr
from outcrop.typing import Mask, Matrix, Points

Pull: TypeAlias = Callable[[Matrix], Points]  # (k, m) to (m, D)

STD_FLOOR = 1e-8
RADIUS_FLOOR = 1e-10
CLOSEST = 1e-30  # in radii: keeps the logarithm finite at the busy point itself
DISTANCES_AT_ONCE = 8_000  # so that a few arrays of all components stay in a core's own cache


class Shape(Protocol):
    """How a penaliser falls off with the distance; a product over busy points is a sum of logs."""

    def log(self, d: Matrix) -> Matrix:
        """Its logarithm, `(k, m, p)`."""
        ...

    def log_with_slope(self, d: Matrix) -> tuple[Matrix, Matrix]:
        """The same, and its derivative in d."""
        ...

    def of_product(self, total: Matrix) -> tuple[Matrix, Matrix]:
        """The logarithm of the penalty from the sum over busy points, and its derivative in it."""
        ...


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Φ((L d − |μ − M|) / σ): how likely the minimum is farther away [González et al. 2016].

    The radius is uncertain, with mean |μ − M|/L and standard deviation σ/L.
    """

    gap: Matrix  # |μ − M|
    std: Matrix
    slope: Matrix  # L

    @classmethod
    def within(cls, gap: Matrix, std: Matrix, slope: Matrix, reach: Matrix) -> Gaussian:
        """L is raised until the radius and its standard deviation together are within `reach`."""
        return cls(gap, std, np.maximum(slope, (gap + std) / reach))

    def log(self, d: Matrix) -> Matrix:
        return log_ndtr(self._z(d))

    def log_with_slope(self, d: Matrix) -> tuple[Matrix, Matrix]:
        z = self._z(d)
        value = log_ndtr(z)
        hazard = np.exp(-0.5 * z * z - LOG_ROOT_2PI - value)  # φ(z)/Φ(z)
        return value, hazard * (self.slope / self._std)[:, None]

    def of_product(self, total: Matrix) -> tuple[Matrix, Matrix]:
        return total, np.ones_like(total)

    def _z(self, d: Matrix) -> Matrix:
        return (self.slope / self._std)[:, None] * d - (self.gap / self._std)[:, None]

    @property
    def _std(self) -> Matrix:
        return np.maximum(self.std, STD_FLOOR)


@dataclass(frozen=True, eq=False)
class Hard:
    """min(t, 1) in its smooth form (tᵖ + 1)^(1/p), t = d / radius [Alvi 2019, eqs 4.14, 4.15].

        radius = (|μ − M| + γ σ) / L

    With p = −∞ it is the minimum itself. At the busy point it is 0, up to `CLOSEST`. If `clip` is
    "product", the ratios t of all busy points are multiplied first and the minimum of their product
    and 1 is taken.
    """

    radius: Matrix
    p: float = -5.0
    clip: Literal["each", "product"] = "each"

    @classmethod
    def within(
        cls,
        gap: Matrix,
        std: Matrix,
        slope: Matrix,
        reach: Matrix,
        gamma: float,
        p: float,
        clip: Literal["each", "product"] = "each",
    ) -> Hard:
        radius = np.minimum((gap + gamma * std) / slope, reach)
        return cls(np.maximum(radius, RADIUS_FLOOR), p, clip)

    def log(self, d: Matrix) -> Matrix:
        log_t = self._log_t(d)
        return self._log_minimum(log_t) if self.clip == "each" else log_t

    def log_with_slope(self, d: Matrix) -> tuple[Matrix, Matrix]:
        log_t, distance = self._log_t(d), np.maximum(d, CLOSEST)
        if self.clip == "product":
            return log_t, np.ones_like(log_t) / distance
        value = self._log_minimum(log_t)
        return value, self._share(log_t, value) / distance

    def of_product(self, total: Matrix) -> tuple[Matrix, Matrix]:
        if self.clip == "each":
            return total, np.ones_like(total)
        value = self._log_minimum(total)
        return value, self._share(total, value)

    def _log_minimum(self, log_t: Matrix) -> Matrix:
        if self.p == -inf:
            return np.minimum(log_t, 0.0)
        return np.logaddexp(0.0, self.p * log_t) / self.p

    def _share(self, log_t: Matrix, value: Matrix) -> Matrix:
        """The derivative of the minimum in log t, tᵖ / (tᵖ + 1)."""
        if self.p == -inf:
            return np.where(log_t < 0, 1.0, 0.0)
        return np.exp(self.p * (log_t - value))

    def _log_t(self, d: Matrix) -> Matrix:
        log_d = np.log(np.maximum(d, np.finfo(float).tiny))
        return np.maximum(log_d - np.log(self.radius)[:, None], log(CLOSEST))


@dataclass(frozen=True, eq=False)
class Penalty:
    """The product of penalisers around busy points."""

    busy: Points  # (p, D)
    shape: Shape
    is_number: Mask  # (D,)

    @classmethod
    def on(cls, space: Space, busy: Points, shape: Shape) -> Penalty:
        is_number = np.array([not column.is_code for column in space.columns], dtype=np.bool_)
        return cls(busy, shape, is_number)

    def log(self, X: Points) -> Matrix:
        """Its logarithm under every component, `(k, m)`."""
        rows = max(DISTANCES_AT_ONCE // len(self.busy), 1)
        parts = []
        for start in range(0, len(X), rows):
            d, near = self._distances(X[start : start + rows])
            parts.append(np.where(near, self.shape.log(d), 0.0).sum(2))
        return self.shape.of_product(np.concatenate(parts, axis=1))[0]

    def log_with_pullback(self, X: Points) -> tuple[Matrix, Pull]:
        """The same, and how a gradient in it travels back to `X`."""
        d, near = self._distances(X)
        each, slope = self.shape.log_with_slope(d)
        value, share = self.shape.of_product(np.where(near, each, 0.0).sum(2))

        def pull_back(bar: Matrix) -> Points:
            away = np.einsum("km,kmp->mp", bar * share, slope) * near
            away /= np.where(d > 0, d, 1.0)  # at the busy point itself there is no direction
            away[d == 0] = 0.0
            X_bar = away.sum(1)[:, None] * X - away @ self.busy
            return np.where(self.is_number, X_bar, 0.0)

        return value, pull_back

    def _distances(self, X: Points) -> tuple[Matrix, Mask]:
        """Distances in numbers, and between which points there are any, both `(m, p)`."""
        square = np.zeros((len(X), len(self.busy)))
        near = np.ones(square.shape, dtype=np.bool_)
        for x, busy, is_number in zip(X.T, self.busy.T, self.is_number, strict=True):
            away = x[:, None] - busy
            if is_number:
                square += away * away
            else:
                near &= away == 0
        return np.sqrt(square), near
