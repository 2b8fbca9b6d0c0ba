"""Functions whose Sobol indices have closed forms.

Each takes points of the unit cube, `(n, d)`; `first`, `total` and `pairs` are shares of `variance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["G_FUNCTION", "ISHIGAMI", "LINEAR", "Known"]


@dataclass(frozen=True, eq=False)
class Known:
    name: str
    on_cube: Any
    first: Any
    total: Any
    pairs: Any
    variance: float

    @property
    def d(self):
        return len(self.first)


def ishigami(a=7.0, b=0.1):
    """sin x₁ + a sin² x₂ + b x₃⁴ sin x₁ on [−π, π]³ [Ishigami & Homma 1990]."""

    def on_cube(U):
        x = np.pi * (2 * U - 1)
        return np.sin(x[:, 0]) * (1 + b * x[:, 2] ** 4) + a * np.sin(x[:, 1]) ** 2

    one, two = 0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8
    both = 8 * b**2 * np.pi**8 / 225
    variance = one + two + both
    pairs = np.zeros((3, 3))
    pairs[0, 2] = pairs[2, 0] = both / variance
    first, total = np.array([one, two, 0.0]), np.array([one + both, two, both])
    return Known("ishigami", on_cube, first / variance, total / variance, pairs, variance)


def g_function(a=(0.0, 1.0, 4.5, 9.0)):
    """Π (|4 uᵢ − 2| + aᵢ) / (1 + aᵢ) [Sobol 1993]; aᵢ is large where uᵢ matters little."""
    a = np.array(a)

    def on_cube(U):
        return ((np.abs(4 * U - 2) + a) / (1 + a)).prod(1)

    own = 1 / (3 * (1 + a) ** 2)
    variance = (1 + own).prod() - 1
    others = (1 + own).prod() / (1 + own)
    pairs = np.outer(own, own) * (1 - np.eye(len(a)))
    return Known("g", on_cube, own / variance, own * others / variance, pairs / variance, variance)


def linear(slopes=(1.0, 2.0, 0.0, -3.0)):
    """Σ cᵢ uᵢ, of which each part has the variance cᵢ² / 12."""
    slopes = np.array(slopes)
    shares = slopes**2 / (slopes**2).sum()
    nothing = np.zeros((len(slopes), len(slopes)))
    return Known(
        "linear", lambda U: U @ slopes, shares, shares, nothing, float((slopes**2).sum() / 12)
    )


ISHIGAMI, G_FUNCTION, LINEAR = ishigami(), g_function(), linear()
