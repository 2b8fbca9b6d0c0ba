"""Standardisation of values: from the objective's units to the model's, and back.

Models get values with mean 0 and standard deviation 1. Values are first divided by a power of two
near the largest of them, because squares overflow at 1e160 and vanish at 1e-160; scaling the
objective by 2^k then does not change a single bit of the model's values.

Values above the median of a heavy-tailed objective are bent: u = (y − median) / (median − lowest)
becomes ((1 + u)^λ − 1) / λ for u > 0, with the largest λ ≤ 1 that leaves the bad half at most
`LONGEST` times as long as the good half (λ = 0 is the logarithm). Below the median nothing is bent,
so improvements stay in the objective's own units. The median is that of points spread over the
space: a search concentrates around its best point, and the median of all would fall with it.
"""

from __future__ import annotations

__all__ = ["Standardised"]

from dataclasses import dataclass
from functools import cache

import numpy as np

from outcrop.errors import ModelError
from outcrop.typing import Mask, Points, Vector

CONSTANT = 1e-14  # spread of values in (−1, 1) that is rounding only
EPSILON = float(np.finfo(float).eps)
LONGEST = 4.0  # length of the bad half of the values, in units of the good half
QUADRATURE = 100  # nodes; many, because a bent value has a kink at the median
APART = 0.1  # root mean square difference per column between points that are spread out
MOST = 500  # points that the median is taken of: more change it little
MOST_UNITS = 1e300  # by which a value may lie beyond the good half: more makes no difference
FARTHEST = 300.0  # keeps the square of an unbent value finite


@dataclass(frozen=True)
class Standardised:
    """z = (bend((y / power − location) / scale) − centre) / spread; smaller is better.

    >>> outcome = Standardised.of(np.array([1.0, 3.0]))
    >>> outcome.apply(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """

    power: float
    location: float
    scale: float
    tail: float = 1.0  # λ; 1 bends nothing
    centre: float = 0.0
    spread: float = 1.0

    @classmethod
    def of(cls, y: Vector, X: Points | None = None, bend: bool = True) -> Standardised:
        """The map that standardises `y`, observed at `X`; constant values are only centred.

        Without `bend` it is linear, as averages in the objective's own units require.
        """
        y = np.asarray(y, dtype=float)
        if not len(y) or not np.isfinite(y).all():
            raise ModelError(f"expected at least one value and all of them finite, got {y}")
        largest = float(np.abs(y).max())
        power = float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest > 0 else 1.0
        scaled = y / power
        median = float(np.median(scaled if X is None else scaled[spread_out(X)]))
        good, bad = median - float(scaled.min()), float(scaled.max()) - median
        rounding = 8 * EPSILON * max(abs(median), abs(float(scaled.min())))
        if bend and good > rounding and bad > LONGEST * good:
            bent = cls(power, median, good, _tail(min(bad / good, MOST_UNITS)))
            z = bent.apply(y)
            return cls(power, median, good, bent.tail, float(z.mean()), float(z.std()))
        std = float(scaled.std())
        return cls(power, float(scaled.mean()), std if std > CONSTANT else 1.0)

    @property
    def unit(self) -> float:
        """The model's unit in the units of the objective, for the better half of values."""
        return self.power * (self.scale * self.spread)

    def apply(self, y: Vector) -> Vector:
        """Values in the model's units."""
        return (self._bend(self._units(y)) - self.centre) / self.spread

    def apply_std(self, std: Vector, y: Vector) -> Vector:
        """Spreads around the values `y` in the model's units, by the slope there."""
        slope = (1 + np.maximum(self._units(y), 0.0)) ** (self.tail - 1)
        with np.errstate(over="ignore"):  # a spread beyond the largest float is infinite
            return np.asarray(std, dtype=float) / self.power / self.scale * slope / self.spread

    def invert(self, z: Vector) -> Vector:
        """Values in the objective's units."""
        u = self._unbend(np.asarray(z, dtype=float) * self.spread + self.centre)
        with np.errstate(over="ignore"):  # values beyond the largest float are infinite
            return self.power * (self.location + self.scale * u)

    def restore(self, mean: Vector, var: Vector) -> tuple[Vector, Vector]:
        """Mean and standard deviation (a variance might overflow) in the objective's units."""
        mean, std = np.asarray(mean, dtype=float), np.sqrt(var)
        if self.tail == 1.0:
            with np.errstate(over="ignore"):
                return self.invert(mean), self.power * (self.scale * self.spread * std)
        nodes, weights = _quadrature()
        u = self._unbend((mean + std * nodes[:, None]) * self.spread + self.centre)
        middle = weights @ u
        deviation = np.sqrt(weights @ (u - middle) ** 2)
        with np.errstate(over="ignore"):
            return (
                self.power * (self.location + self.scale * middle),
                self.power * (self.scale * deviation),
            )

    def _units(self, y: Vector) -> Vector:
        """(y / power − location) / scale; a quotient that overflows is the largest one."""
        with np.errstate(over="ignore"):
            u = (np.asarray(y, dtype=float) / self.power - self.location) / self.scale
        return np.clip(u, -MOST_UNITS, MOST_UNITS)

    def _bend(self, u: Vector) -> Vector:
        if self.tail == 1.0:
            return u
        above = np.maximum(u, 0.0)
        bent = (
            np.log1p(above) if self.tail == 0 else np.expm1(self.tail * np.log1p(above)) / self.tail
        )
        return np.where(u > 0, bent, u)

    def _unbend(self, w: Vector) -> Vector:
        if self.tail == 1.0:
            return w
        above = np.clip(w, 0.0, FARTHEST)
        if self.tail == 0:
            return np.where(w > 0, np.expm1(above), w)
        return np.where(w > 0, np.expm1(np.log1p(self.tail * above) / self.tail), w)


@cache
def _quadrature() -> tuple[Vector, Vector]:
    """Nodes and weights of expectations under a standard normal.

    They are made when needed: they take a twentieth of the time of `import outcrop`.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE)
    return nodes, weights / weights.sum()


def spread_out(X: Points) -> Mask:
    """Which rows of `X`, taken in order, are far enough from all taken before; at most `MOST`."""
    taken = np.zeros(len(X), dtype=np.bool_)
    free = np.ones(len(X), dtype=np.bool_)
    count = 0
    for i in range(len(X)):
        if free[i]:
            taken[i] = True
            count += 1
            if count == MOST:
                break
            free[i + 1 :] &= ((X[i + 1 :] - X[i]) ** 2).sum(1) > APART**2 * X.shape[1]
    return taken


def _tail(longest: float) -> float:
    """The λ that bends a bad half of this length to `LONGEST`; 0 if even a logarithm is longer."""
    reach = float(np.log1p(longest))
    if reach >= LONGEST:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        if np.expm1(middle * reach) > LONGEST * middle:
            high = middle
        else:
            low = middle
    return low
