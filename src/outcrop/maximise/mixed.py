"""Discrete columns relaxed during an ascent, and rounded to levels afterwards.

An integer with many levels is a position on the unit interval during the ascent; then both
neighbouring levels are tried.
"""

from __future__ import annotations

__all__ = ["climbed"]

from itertools import product

import numpy as np

from outcrop.maximise.ascent import ascend
from outcrop.maximise.base import Function, Scored
from outcrop.maximise.constrained import Borders
from outcrop.space import Space
from outcrop.space.enumeration import shifted
from outcrop.typing import Mask, Points, Vector

FEW_LEVELS = 16  # up to so many levels a discrete column is not relaxed
MOST_ROUNDED = 4  # relaxed columns whose roundings are all tried; of more, one at a time


def climbed(
    function: Function, space: Space, points: Scored, scales: Vector, steps: int, relax: bool
) -> tuple[Scored, Scored]:
    """The best legal point around the end of each climb, and all that was scored there.

    Without `relax` discrete columns stay as they are.
    """
    free = climbable(space, points.X, relax)
    if not free.any():
        return points, points.top(0)
    borders = Borders(space) if space.constraints else None
    if borders is not None:
        free &= np.isfinite(points.values)[:, None]  # the others are outside
    end = ascend(function, points.X, free, scales, steps, borders)
    around = rounded(space, end.X, free)
    n, m, dimension = around.shape
    if borders is None and m == 1 and np.array_equal(around[:, 0], end.X):
        tried = end
    else:
        tried = Scored.by(function, around.reshape(-1, dimension))
    best = np.arange(n) * m + tried.values.reshape(n, m).argmax(1)
    better = tried.values[best] > points.values
    X = np.where(better[:, None], tried.X[best], points.X)
    return Scored(X, np.where(better, tried.values[best], points.values)), tried


def climbable(space: Space, X: Points, relax: bool = True) -> Mask:
    """Which entries of `X` an ascent may change."""
    climbs = [
        c.levels is None or (relax and not c.is_code and c.levels > FEW_LEVELS)
        for c in space.columns
    ]
    return space.active(X) & np.array(climbs, dtype=np.bool_)


def rounded(space: Space, X: Points, free: Mask) -> Points:
    """Legal points around each row of `X`, `(n, m, D)`, the nearest first."""
    relaxed = [column for column in space.columns if column.levels and free[:, column.index].any()]
    near = space.snap(X)
    other = near.copy()
    for column in relaxed:
        x = X[:, column.index]
        other[:, column.index] = shifted(column, x, np.where(x < near[:, column.index], -1, 1))
    if len(relaxed) <= MOST_ROUNDED:
        choices = np.array([*product((False, True), repeat=len(relaxed))], dtype=np.bool_)
    else:
        choices = np.eye(len(relaxed) + 1, len(relaxed), -1, dtype=np.bool_)
    flips = np.zeros((len(choices), X.shape[1]), dtype=np.bool_)
    flips[:, [column.index for column in relaxed]] = choices
    tried = np.where(flips, other[:, None], near[:, None])
    return space.snap(tried.reshape(-1, X.shape[1])).reshape(tried.shape)
