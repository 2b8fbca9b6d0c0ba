"""Random sets of a fixed size with given inclusion probabilities."""

from __future__ import annotations

__all__ = ["dep_round"]

import numpy as np
from numpy.typing import ArrayLike

from outcrop.errors import BanditError
from outcrop.typing import Rng

TOLERANCE = 1e-9  # of probabilities and of their sum, for rounding errors


def dep_round(probabilities: ArrayLike, rng: Rng) -> tuple[int, ...]:
    """A random set of arms, ascending, that contains arm i with probability `probabilities[i]`.

    Its size is always the sum of the probabilities, which must be a whole number. Two fractional
    probabilities at a time are changed until one of them is 0 or 1, so that neither changes on
    average [Gandhi et al. 2006]. The draws of different arms are negatively correlated.

    >>> len(dep_round([0.5, 0.25, 1.0, 0.25], np.random.default_rng(0)))
    2
    """
    p = np.asarray(probabilities, dtype=float)
    if p.ndim != 1 or not np.all((p >= -TOLERANCE) & (p <= 1 + TOLERANCE)):
        raise BanditError(f"probabilities={probabilities!r}: expected numbers from 0 to 1")
    size = round(float(p.sum()))
    if abs(p.sum() - size) > TOLERANCE * max(len(p), 1):
        raise BanditError(
            f"probabilities sum to {float(p.sum())!r}: expected the whole number of arms to draw"
        )
    chosen = np.flatnonzero(p >= 1).tolist()
    fractional = np.flatnonzero((p > 0) & (p < 1)).tolist()
    if fractional:
        chosen += _exchanged(p.tolist(), fractional, size - len(chosen), rng)
    return tuple(sorted(chosen))


def _exchanged(p: list[float], fractional: list[int], size: int, rng: Rng) -> list[int]:
    """Which `size` of the arms with fractional probabilities are drawn."""
    chosen = []
    held, *others = fractional
    mass = p[held]
    for other, uniform in zip(others, rng.random(len(others)), strict=True):
        if mass + p[other] <= 1:  # one of the two gets the sum
            if uniform * (mass + p[other]) >= mass:
                held = other
            mass += p[other]
        else:  # one of the two gets 1
            room, other_room = 1 - mass, 1 - p[other]
            if uniform * (room + other_room) < other_room:
                chosen.append(held)
                held = other
            else:
                chosen.append(other)
            mass = 1 - (room + other_room)
    # The rest is 0 or 1 up to rounding.
    return [*chosen, held] if len(chosen) < size else chosen
