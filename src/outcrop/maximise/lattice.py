"""Points that fill the unit cube evenly.

A randomly shifted rank-1 lattice of Korobov's form: point k is (k z / n + shift) mod 1 with
z = (1, a, a², …) mod n. It spreads 1024 points about as evenly as a scrambled Sobol sequence, for
any number of points and dimensions, without tables and without the import of `scipy.stats`.
"""

from __future__ import annotations

__all__ = ["lattice"]

from functools import lru_cache
from math import gcd

import numpy as np

from outcrop.typing import Points, Rng

TRIED = 128  # generators; more of them hardly lower the discrepancy


def lattice(rng: Rng, n: int, dimension: int) -> Points:
    """`n` points in [0, 1), `(n, dimension)`; the shift makes each of them uniform."""
    if dimension == 0:
        return np.zeros((n, 0))
    return (_points(n, dimension) + rng.random(dimension)) % 1.0


@lru_cache(maxsize=16)
def _points(n: int, dimension: int) -> Points:
    """The unshifted lattice of the generator with the smallest figure of merit."""
    usable = [a for a in range(1, n + 1) if gcd(a, n) == 1]
    tried = usable[:: max(1, len(usable) // TRIED)]
    points = min((_korobov(a, n, dimension) for a in tried), key=_merit)
    points.setflags(write=False)
    return points


def _korobov(a: int, n: int, dimension: int) -> Points:
    z = [pow(a, j, n) for j in range(dimension)]
    return np.outer(np.arange(n), z) % n / n


def _merit(points: Points) -> float:
    """P₂, the mean square error for functions of smoothness 2 [Sloan & Joe 1994, eq. 4.8].

    Each coordinate has weight 1/d, so that projections to few of them count most.
    """
    bernoulli = points * (points - 1) + 1 / 6
    return float(np.prod(1 + 2 * np.pi**2 / points.shape[1] * bernoulli, axis=1).mean())
