"""Conversion of values to rewards in [0, 1], where larger is better."""

from __future__ import annotations

__all__ = ["best_so_far", "normalised"]

import numpy as np
from numpy.typing import ArrayLike

from outcrop.bandits.base import require_whole
from outcrop.errors import BanditError
from outcrop.typing import Vector


def normalised(rewards: ArrayLike, low: float, high: float) -> Vector:
    """`rewards` on the scale on which `low` is 0 and `high` is 1; all are 0 if the two are equal.

    A reward of 0 does not change the weights of EXP3.

    >>> normalised([-1.0, 0.0, 3.0], low=-1.0, high=3.0)
    array([0.  , 0.25, 1.  ])
    """
    values = np.asarray(rewards, dtype=float)
    if not (np.isfinite([low, high]).all() and low <= high):
        raise BanditError(f"low={low!r}, high={high!r}: expected finite numbers, low ≤ high")
    if not np.all((values >= low) & (values <= high)):
        raise BanditError(f"rewards={rewards!r}: expected numbers from low={low!r} to {high!r}")
    if low == high:
        return np.zeros_like(values)
    # Halves, since the difference of two large numbers may overflow.
    scaled: Vector = (values / 2 - low / 2) / (high / 2 - low / 2)
    return np.clip(scaled, 0.0, 1.0)


def best_so_far(arms: ArrayLike, values: ArrayLike, n_arms: int) -> Vector:
    """The largest of each arm's values, `(K,)`, scaled from the worst to the best of these.

    Value i belongs to `arms[i]`. An arm without values, such as one that only failed, has 0. This
    is the reward of a category in CoCaBO. Values that are not the best of their arm do not matter:
    on a scale that began at the smallest of all, one very bad value would put every arm near 1.

    >>> best_so_far([0, 1, 2, 0, 0], [1.0, 4.0, 5.0, 3.0, -1e6], n_arms=3)
    array([0. , 0.5, 1. ])
    """
    require_whole("n_arms", n_arms, 1)
    played, paid = np.asarray(arms), np.asarray(values, dtype=float)
    if played.shape != paid.shape or played.ndim != 1:
        raise BanditError(
            f"expected one value per play, got arms {played.shape} and values {paid.shape}"
        )
    if not np.isfinite(paid).all():
        raise BanditError(f"values={values!r}: expected finite numbers; leave failures out")
    if not len(played):
        return np.zeros(n_arms)
    if played.dtype.kind not in "iu" or played.min() < 0 or played.max() >= n_arms:
        raise BanditError(f"arms={arms!r}: expected whole numbers from 0 to {n_arms - 1}")
    best = np.full(n_arms, -np.inf)
    np.maximum.at(best, played, paid)
    low = float(best[played].min())
    return normalised(np.maximum(best, low), low, float(paid.max()))
