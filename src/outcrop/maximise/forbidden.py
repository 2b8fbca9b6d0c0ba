"""Exclusion of configurations whose `Space.key` is known."""

from __future__ import annotations

__all__ = ["best_allowed", "fresh"]

import numpy as np

from outcrop.errors import SpaceExhausted
from outcrop.maximise.base import Scored
from outcrop.space import Space
from outcrop.space.enumeration import MOST_LISTED, every
from outcrop.typing import Points, Rng

KEYS_AT_ONCE = 32  # a key costs microseconds, so only the top few candidates get one
FRESH, ROUNDS = 2048, 20  # random points per round, and rounds, in larger spaces


def best_allowed(scored: Scored, space: Space, known: frozenset[str], rng: Rng) -> int | None:
    """The row with the highest value whose key is not known; ties are broken at random."""
    order = np.lexsort((rng.random(len(scored)), -scored.values))
    for start in range(0, len(order), KEYS_AT_ONCE):
        some = order[start : start + KEYS_AT_ONCE]
        for row, key in zip(some.tolist(), space.keys(scored.X[some]), strict=True):
            if key not in known:
                return int(row)
    return None


def fresh(space: Space, known: frozenset[str], rng: Rng, most: int) -> Points:
    """Up to `most` legal points that are not known, from all points or from random ones."""
    if space.size is not None and space.size <= MOST_LISTED:
        X = _unknown(space, every(space), known)
        if len(X):
            return rng.permutation(X)[:most]
        raise SpaceExhausted(
            f"all {space.size} configurations of the space are known; widen the space, or declare "
            "the objective noisy (noise=True) if repetitions are useful"
        )
    for _ in range(ROUNDS):
        X = space.admissible(rng.random((FRESH, len(space.columns))), rng)
        X = _unknown(space, X, known)
        if len(X):
            return X[:most]
    size = "a continuum of" if space.size is None else str(space.size)
    raise SpaceExhausted(
        f"found no new one of {size} configurations in {FRESH * ROUNDS} random ones; widen the "
        "space, or declare the objective noisy (noise=True) if repetitions are useful"
    )


def _unknown(space: Space, X: Points, known: frozenset[str]) -> Points:
    new = [key not in known for key in space.keys(X)]
    return X[np.array(new, dtype=np.bool_)]
