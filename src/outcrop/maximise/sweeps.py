"""Local search over discrete columns.

A few points each try every change of a single discrete column, and the improving ones together.
The best changes climb once more before they are compared, since another level or option may only
be better with other continuous values. `owners` are the indices of the changed points.
"""

from __future__ import annotations

__all__ = ["improved"]

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from outcrop.maximise.base import Function, Scored
from outcrop.maximise.candidates import filled
from outcrop.maximise.mixed import climbed
from outcrop.space import Choice, Column, Space
from outcrop.space.enumeration import positions, shifted
from outcrop.typing import Indices, Points, Rng, Vector

MOST_TRIED = 64  # levels of one column that a sweep tries; of more, a sample and the neighbours
NEIGHBOURS = np.array([-2, -1, 1, 2])
CONTENDERS = 5  # changes of each point that climb


def improved(
    function: Function,
    space: Space,
    points: Scored,
    seen: Scored,
    scales: Vector,
    steps: int,
    rng: Rng,
) -> tuple[Scored, Scored]:
    """The `points` improved by another level or option, and all points that were scored.

    Columns that a new option activates take their values from `seen`.
    """
    changes = _single_changes(space, points.X, seen, rng)
    singles = Scored.by(function, changes.X)
    combined, owners = _combinations(points, singles, changes)
    tried = singles.join(Scored.by(function, space.snap(combined)))
    owners = np.concatenate([changes.owners, owners])

    best = [_best_of(i, tried.values, owners) for i in range(len(points))]
    contenders = points.join(tried.at(np.concatenate(best)))
    owners = np.concatenate([np.arange(len(points)), *(owners[rows] for rows in best)])
    ends, met = climbed(function, space, contenders, scales, steps, relax=False)

    winners = np.array([_best_of(i, ends.values, owners)[0] for i in range(len(points))])
    return ends.at(winners[winners >= len(points)]), tried.join(met)


def _best_of(owner: int, values: Vector, owners: Indices) -> Indices:
    own = np.flatnonzero(owners == owner)
    return own[np.argsort(-values[own], kind="stable")[:CONTENDERS]]


class _Changes(NamedTuple):
    X: Points  # (n, D) legal
    owners: Indices  # (n,) which point was changed
    columns: Indices  # (n,) and where


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
            block = filled(space, np.repeat(X[i : i + 1], len(levels), axis=0), rng)
            block[:, column.index] = levels
            if isinstance(column.parameter, Choice):
                block = _awakened(space, column, block, best_first)
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


def _combinations(points: Scored, singles: Scored, changes: _Changes) -> tuple[Points, Indices]:
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
