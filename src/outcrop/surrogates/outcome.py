"""From the objective's units to the model's, and back.

Models see values with mean 0 and standard deviation 1. Values are first divided by a power of two
near the largest of them, because squares overflow at 1e160 and vanish at 1e-160; scaling the
objective by 2^k then changes not a single bit of what the model sees.
"""

from __future__ import annotations

__all__ = ["Standardised"]

from dataclasses import dataclass

import numpy as np

from outcrop.errors import ModelError
from outcrop.typing import Vector

CONSTANT = 1e-14  # spread of values in (−1, 1) that is rounding and nothing else


@dataclass(frozen=True)
class Standardised:
    """An affine map: y = power · (location + scale · z).

    >>> outcome = Standardised.of(np.array([1.0, 3.0]))
    >>> outcome.apply(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """

    power: float
    location: float
    scale: float

    @classmethod
    def of(cls, y: Vector) -> Standardised:
        """The map that standardises `y`; constant values are only centred."""
        y = np.asarray(y, dtype=float)
        if not len(y) or not np.isfinite(y).all():
            raise ModelError(f"expected at least one value and all of them finite, got {y}")
        largest = float(np.abs(y).max())
        power = float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest > 0 else 1.0
        scaled = y / power
        std = float(scaled.std())
        return cls(power, float(scaled.mean()), std if std > CONSTANT else 1.0)

    def apply(self, y: Vector) -> Vector:
        """Values in the model's units."""
        return (np.asarray(y, dtype=float) / self.power - self.location) / self.scale

    def apply_std(self, std: Vector) -> Vector:
        """A spread in the model's units."""
        return np.asarray(std, dtype=float) / self.power / self.scale

    def restore(self, mean: Vector, var: Vector) -> tuple[Vector, Vector]:
        """Mean and standard deviation (a variance might overflow) in the objective's units."""
        return self.power * (self.location + self.scale * mean), self.power * (
            self.scale * np.sqrt(var)
        )
