"""The maximiser that serves if the user gives none."""

from __future__ import annotations

__all__ = ["MAXIMISER", "thinned"]

from dataclasses import replace

from outcrop.maximise import Maximiser, Maximises
from outcrop.surrogates.situation import ALL_MOVE

MAXIMISER = Maximiser()


def thinned(maximiser: Maximises, n: int) -> Maximises:
    """The default maximiser with fewer candidates as data get many, at least a quarter of them."""
    if maximiser == MAXIMISER and n > ALL_MOVE:
        share = max(ALL_MOVE / n, 0.25)
        return replace(
            MAXIMISER,
            spread=int(share * MAXIMISER.spread),
            perturbations=int(share * MAXIMISER.perturbations),
            resamples=int(share * MAXIMISER.resamples),
        )
    return maximiser
