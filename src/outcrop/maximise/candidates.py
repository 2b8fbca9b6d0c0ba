"""Legal points to score: spread over the space, near the best points, or all of them.

Points `X` are encoded, `(n, D)`; a mask of chosen entries has the same shape.
"""

from __future__ import annotations

__all__ = [
    "distinct",
    "enumerated",
    "filled",
    "perturbed",
    "resampled",
    "to_another_level",
    "with_neighbours",
]

from functools import lru_cache
from math import log

import numpy as np

from outcrop.maximise.constrained import drawn_back
from outcrop.space import Column, Space
from outcrop.space.enumeration import every, shifted
from outcrop.typing import Mask, Points, Rng, Vector

SCALES = (1e-3, 0.3)  # of perturbations, in units of the cube
CHANGED = 0.3  # share of the coordinates that a perturbation changes, but two at least


def perturbed(space: Space, incumbents: Points, n: int, rng: Rng) -> Points:
    """`n` legal points near the `incumbents`, most of them near the first one.

    The scale is log-uniform. Numbers move by a normal step, reflected at the bounds, and discrete
    ones by at least one level; codes change. Fewer than `n` may satisfy the constraints.
    """
    shares = 1 / np.arange(1, len(incumbents) + 1)
    X = incumbents[rng.choice(len(incumbents), size=n, p=shares / shares.sum())]
    open_ = _open(space, X)
    share = np.maximum(CHANGED, 2 / np.maximum(open_.sum(1), 1))
    chosen = open_ & (rng.random(X.shape) < share[:, None])
    chosen |= _one_of(open_, rng) & ~chosen.any(1)[:, None]
    scale = np.exp(rng.uniform(log(SCALES[0]), log(SCALES[1]), size=n))
    steps = scale[:, None] * rng.standard_normal(X.shape)
    moved = filled(space, X, rng)
    for column in space.columns:
        rows = np.flatnonzero(chosen[:, column.index])
        x = X[rows, column.index]
        moved[rows, column.index] = _moved(column, x, steps[rows, column.index], rng)
    moved = space.snap(moved)
    return drawn_back(space, X, moved) if space.constraints else moved


def with_neighbours(space: Space, X: Points, incumbents: Points | None, n: int, rng: Rng) -> Points:
    """The rows of `X`, and `n` points near the `incumbents` if there are any, without repeats."""
    if incumbents is not None and len(incumbents):
        X = np.vstack([X, perturbed(space, space.snap(incumbents), n, rng)])
    return distinct(X)


def resampled(space: Space, X: Points, n: int, rng: Rng) -> Points:
    """`n` copies of rows of `X` with one coordinate drawn anew; those that are admissible."""
    X = X[rng.integers(len(X), size=n)]
    chosen = _one_of(_open(space, X), rng)
    drawn = filled(space, X, rng)
    for column in space.columns:
        rows = np.flatnonzero(chosen[:, column.index])
        drawn[rows, column.index] = column.codec.spread(rng.random(len(rows)))
    drawn = space.snap(drawn)
    return drawn[space.admits(drawn)] if space.constraints else drawn


def filled(space: Space, X: Points, rng: Rng) -> Points:
    """A copy of `X` with random values in its inactive entries, for options that activate them."""
    X = X.copy()
    active = space.active(X)
    for column in space.columns:
        if column.conditions:
            rows = np.flatnonzero(~active[:, column.index])
            X[rows, column.index] = column.codec.spread(rng.random(len(rows)))
    return X


def distinct(X: Points) -> Points:
    """The rows of `X` without repeats, in the order of their first appearance."""
    rows = np.ascontiguousarray(X).view(f"V{8 * X.shape[1]}").reshape(-1).tolist()
    first = {row: i for i, row in reversed([*enumerate(rows)])}
    return X[sorted(first.values())] if len(first) < len(X) else X


@lru_cache(maxsize=8)
def enumerated(space: Space) -> Points:
    """All admissible points of a small space, cached."""
    X = every(space)
    X.setflags(write=False)
    return X


def _open(space: Space, X: Points) -> Mask:
    """Which entries are active and have an alternative."""
    alternatives = np.array([column.levels != 1 for column in space.columns], dtype=np.bool_)
    return space.active(X) & alternatives


def _one_of(mask: Mask, rng: Rng) -> Mask:
    """One random entry of each row of `mask` that has any."""
    draws = np.where(mask, rng.random(mask.shape), -1.0)
    return mask & (draws == draws.max(1)[:, None])


def _moved(column: Column, x: Vector, steps: Vector, rng: Rng) -> Vector:
    if column.is_code:
        levels = column.levels or 1
        return (x + rng.integers(1, max(levels, 2), size=len(x))) % levels
    ahead = (x + steps) % 2.0
    moved = np.where(ahead > 1.0, 2.0 - ahead, ahead)
    return moved if column.levels is None else to_another_level(column, x, steps, moved)


def to_another_level(column: Column, x: Vector, steps: Vector, moved: Vector) -> Vector:
    """`moved`, but the next level in the direction of `steps` where it has the level of `x`.

    Beyond the last level it is the one in the other direction.
    """
    codec = column.codec
    here = codec.marks(x)
    way = np.where(steps < 0.0, -1, 1)
    beyond = codec.marks(shifted(column, x, way)) == here
    next_ = shifted(column, x, np.where(beyond, -way, way))
    return np.where(codec.marks(moved) == here, next_, moved)
