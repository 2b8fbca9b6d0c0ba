"""Functions with a sharp and a broad optimum, whose averages over input noise are known exactly.

They are sums of Gaussian dips on the unit cube. Averaged over Gaussian noise, a dip is a wider and
shallower one, so that the average of such a function is another of its kind.
"""

from __future__ import annotations

__all__ = ["FUNCTIONS", "HALF", "OUTPUT_STD", "Dip", "Function", "lowest"]

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt
from typing import TypeAlias

import numpy as np

import outcrop as oc
from outcrop.typing import Points, Vector

Place: TypeAlias = tuple[float, ...]

STARTS = 30  # of searches for a minimum, besides those from the dips
HALF = 0.5  # of its depth: how far up a dip counts as the dip
OUTPUT_STD = 0.001  # of the noise of values, which range over little more than 1


@dataclass(frozen=True)
class Dip:
    """−depth · exp(−½ Σ ((xⱼ − centreⱼ) / widthⱼ)²)."""

    centre: Place
    widths: Place
    depth: float

    def __call__(self, X: Points) -> Vector:
        far = np.square((X - self.centre) / self.widths).sum(1)
        return np.asarray(-self.depth * np.exp(-0.5 * far))

    def averaged(self, stds: Place) -> Dip:
        """Its average over independent Gaussian noise in every input."""
        wider = tuple(sqrt(w**2 + s**2) for w, s in zip(self.widths, stds, strict=True))
        return Dip(self.centre, wider, self.depth * prod(self.widths) / prod(wider))


@dataclass(frozen=True)
class Function:
    """A sum of dips, how well its inputs are met, and how long a search for its optimum is."""

    dips: dict[str, Dip]  # "sharp" is the deepest, "broad" the deepest on average
    input_std: float
    initial: int  # trials before a model decides; a small dip is easily missed
    trials: int  # in all
    every: int  # trials between two looks at what is recommended

    @property
    def dimension(self) -> int:
        return len(self.dips["sharp"].centre)

    @cached_property
    def space(self) -> oc.Space:
        number = oc.Float(0.0, 1.0, input_std=self.input_std)
        return oc.Space({f"x{i}": number for i in range(self.dimension)})

    @cached_property
    def averaged(self) -> tuple[Dip, ...]:
        stds = (self.input_std,) * self.dimension
        return tuple(dip.averaged(stds) for dip in self.dips.values())

    def __call__(self, X: Points) -> Vector:
        return total(tuple(self.dips.values()), X)

    def average(self, X: Points) -> Vector:
        """What is obtained on average if these points are asked for."""
        return total(self.averaged, X)

    @cached_property
    def minima(self) -> dict[str, float]:
        """The lowest value, and the lowest average."""
        return {
            "nominal": lowest(tuple(self.dips.values())),
            "robust": lowest(self.averaged),
        }

    def regrets(self, x: Vector) -> dict[str, float]:
        """How much worse a point is than the best one, by itself and on average."""
        found = {"nominal": float(self(x[None])[0]), "robust": float(self.average(x[None])[0])}
        return {name: max(value - self.minima[name], 0.0) for name, value in found.items()}

    def dip_of(self, x: Vector) -> str:
        """The dip that a point lies in, at half its depth or below; or "none"."""
        parts = {name: float(dip(x[None])[0]) for name, dip in self.dips.items()}
        inside = [name for name, v in parts.items() if v <= -HALF * self.dips[name].depth]
        return min(inside, key=lambda name: parts[name], default="none")


def total(dips: Sequence[Dip], X: Points) -> Vector:
    return np.asarray(sum(dip(X) for dip in dips))


def lowest(dips: Sequence[Dip]) -> float:
    """The least value of their sum on the unit cube, from many starts."""
    from scipy.optimize import minimize

    d = len(dips[0].centre)
    rng = np.random.default_rng(0)
    starts = [*(np.array(dip.centre) for dip in dips), *rng.random((STARTS, d))]
    found = [
        minimize(lambda x: total(dips, x[None])[0], x, bounds=[(0.0, 1.0)] * d, tol=1e-12)
        for x in starts
    ]
    return float(min(each.fun for each in found))


FUNCTIONS = {
    "dips-1": Function(
        {
            "sharp": Dip((0.78,), (0.04,), 1.1),
            "broad": Dip((0.3,), (0.14,), 1.0),
            "slope": Dip((0.86,), (0.2,), 0.15),
        },
        input_std=0.04,
        initial=8,
        trials=30,
        every=5,
    ),
    "dips-2": Function(
        {
            "sharp": Dip((0.74, 0.3), (0.055, 0.2), 1.1),
            "broad": Dip((0.28, 0.66), (0.18, 0.2), 1.0),
            "slope": Dip((0.68, 0.34), (0.25, 0.25), 0.1),
        },
        input_std=0.05,
        initial=20,
        trials=50,
        every=5,
    ),
    "dips-4": Function(
        {
            "sharp": Dip((0.7, 0.32, 0.66, 0.4), (0.05, 0.25, 0.4, 0.5), 1.1),
            "broad": Dip((0.3, 0.68, 0.36, 0.6), (0.25, 0.25, 0.3, 0.4), 1.0),
            "slope": Dip((0.68, 0.34, 0.6, 0.45), (0.3, 0.3, 0.4, 0.5), 0.08),
        },
        input_std=0.05,
        initial=32,
        trials=80,
        every=10,
    ),
}
