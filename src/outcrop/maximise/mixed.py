"""Discrete columns: which climb, how they become levels again, and how the others change.

An integer with many levels is a position on the unit interval while its point climbs and becomes a
level again by trying both neighbours. All discrete columns then try their other levels.
"""

from __future__ import annotations

__all__ = ["climbable", "has_levels", "rounded", "swept"]

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from outcrop.maximise.base import Function, Scored
from outcrop.maximise.candidates import filled, positions, shifted
from outcrop.space import Choice, Column, Space
from outcrop.typing import Mask, Points, Rng, Vector

FEW_LEVELS = 16  # up to here a discrete column does not climb
MOST_ROUNDED = 4  # relaxed columns whose roundings are all tried; of more, one at a time
MOST_TRIED = 64  # levels of one column that a sweep tries; of more, a sample and the neighbours
NEIGHBOURS = np.array([-2, -1, 1, 2])


def climbable(space: Space, X: Points) -> Mask:
    """Which entries of `X` an ascent may change."""
    climbs = [column.levels is None or _is_relaxed(column) for column in space.columns]
    return space.active(X) & np.array(climbs, dtype=np.bool_)


def has_levels(space: Space) -> bool:
    """Whether some column is discrete."""
    return any(column.levels is not None for column in space.columns)


def rounded(space: Space, X: Points) -> Points:
    """Legal points around each row of `X`, `(n, m, D)`, the nearest first."""
    relaxed = [column for column in space.columns if _is_relaxed(column)]
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


def swept(
    function: Function, space: Space, points: Scored, seen: Scored, rng: Rng
) -> tuple[Scored, Scored]:
    """The `points` after their best change of discrete columns, and all that was scored for it.

    Every change of a single column is scored, then the improving ones together: the best two, the
    best three and so on. `seen` lends values to the columns that a new option awakes.
    """
    changes = _single_changes(space, points.X, seen, rng)
    singles = Scored.by(function, changes.X)
    combined, owners = _combinations(points, singles, changes)
    tried = singles.join(Scored.by(function, space.snap(combined)))
    owners = np.concatenate([changes.owners, owners])
    X, values = points.X.copy(), points.values.copy()
    for i in range(len(points)):
        own = np.where(owners == i, tried.values, -np.inf)
        if len(own) and own.max() > values[i]:
            X[i], values[i] = tried.X[own.argmax()], own.max()
    return Scored(X, values), tried


class _Changes(NamedTuple):
    X: Points  # (n, D) legal
    owners: NDArray[np.int64]  # (n,) which point was changed
    columns: NDArray[np.int64]  # (n,) and where


def _single_changes(space: Space, X: Points, seen: Scored, rng: Rng) -> _Changes:
    """Each row of `X` with one discrete column changed to another of its levels."""
    active = space.active(X)
    best_first = seen.top(len(seen)).X
    blocks, owners, columns = [np.zeros((0, X.shape[1]))], [], []
    for column in space.columns:
        if column.levels is None:
            continue
        for i in np.flatnonzero(active[:, column.index]).tolist():
            levels = _other_levels(column, X[i, column.index], rng)
            block = np.repeat(X[i : i + 1], len(levels), axis=0)
            block[:, column.index] = levels
            if isinstance(column.parameter, Choice):
                block = _awakened(space, column, filled(space, block, rng), best_first)
            blocks.append(block)
            owners += [i] * len(levels)
            columns += [column.index] * len(levels)
    return _Changes(
        space.snap(np.vstack(blocks)), np.array(owners, np.int64), np.array(columns, np.int64)
    )


def _other_levels(column: Column, x: float, rng: Rng) -> Vector:
    """Positions to try in place of `x`."""
    assert column.levels is not None
    if column.levels <= MOST_TRIED:
        levels = positions(column)
    else:
        sample = column.codec.spread(rng.random(MOST_TRIED))
        levels = np.concatenate([sample, shifted(column, np.array([x]), NEIGHBOURS)])
    return levels[levels != x]


def _awakened(space: Space, choice: Column, X: Points, best_first: Points) -> Points:
    """`X` with the columns below each option as the best seen point with that option has them."""
    holds = space.active(best_first)[:, choice.index]
    for row in X:
        code = row[choice.index]
        below = [
            column.index for column in space.columns if (choice.index, code) in column.conditions
        ]
        lenders = np.flatnonzero(holds & (best_first[:, choice.index] == code))
        if below and len(lenders):
            row[below] = best_first[lenders[0], below]
    return X


def _combinations(
    points: Scored, singles: Scored, changes: _Changes
) -> tuple[Points, NDArray[np.int64]]:
    """Each point with its improving changes made together, and which point each is."""
    gains = singles.values - points.values[changes.owners]
    found = [
        (row, i)
        for i, point in enumerate(points.X)
        for row in _accumulated(point, singles.X[_improving(gains, changes, i)])
    ]
    X = np.array([row for row, _ in found]).reshape(-1, points.X.shape[1])
    return X, np.array([i for _, i in found], dtype=np.int64)


def _improving(gains: Vector, changes: _Changes, owner: int) -> list[int]:
    """The best change of each column that improves a point, best first."""
    own = np.flatnonzero((changes.owners == owner) & (gains > 0.0))
    best: dict[int, int] = {}
    for change in own[np.argsort(-gains[own], kind="stable")].tolist():
        best.setdefault(int(changes.columns[change]), change)
    return [*best.values()]


def _accumulated(point: Vector, changed: Points) -> Iterator[Vector]:
    """The point after the first two changes, the first three, …"""
    row = point
    for count, change in enumerate(changed):
        row = np.where(change != point, change, row)
        if count:
            yield row


def _is_relaxed(column: Column) -> bool:
    return not column.is_code and column.levels is not None and column.levels > FEW_LEVELS
