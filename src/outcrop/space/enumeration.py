"""The levels of discrete columns, and all points of a finite space."""

from __future__ import annotations

__all__ = ["MOST_LISTED", "every", "positions", "shifted"]

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from outcrop.space.encoding import LogLattice
from outcrop.space.tree import Column
from outcrop.typing import Points, Vector

if TYPE_CHECKING:
    from outcrop.space.space import Space

MOST_LISTED = 200_000  # configurations of a space that are listed to count or to exhaust them


def every(space: Space) -> Points:
    """All admissible points of a finite space."""
    X = np.zeros((1, len(space.columns)))
    for column in space.columns:
        assert column.levels is not None
        active = space.active(X)[:, column.index]
        copies = np.where(active, column.levels, 1)
        level = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
        X = np.repeat(X, copies, axis=0)
        X[:, column.index] = np.where(np.repeat(active, copies), positions(column)[level], 0.0)
    return X[space.admits(X)] if space.constraints else X


def positions(column: Column) -> Vector:
    """Every legal position of a discrete column."""
    levels = np.arange(column.levels or 0)
    return levels.astype(float) if column.is_code else shifted(column, np.zeros(1), levels)


def shifted(column: Column, x: Vector, steps: ArrayLike) -> Vector:
    """Positions of a discrete unit column that lie `steps` levels beyond those nearest to `x`."""
    codec, levels = column.codec, column.levels
    assert levels is not None
    marks = codec.marks(x) + np.asarray(steps, dtype=np.int64)
    if isinstance(codec, LogLattice):
        return codec.encode(np.clip(marks, codec.low, codec.high).tolist())
    return np.clip(marks, 0, levels - 1) / max(levels - 1, 1)
