"""Objectives that jump at a border and behave differently on its two sides, on the unit cube.

All have the minimum 0. What a regression tree can represent and one stationary process cannot.
"""

from __future__ import annotations

__all__ = ["LANDSCAPES", "cliff", "moor", "terraces"]

from collections.abc import Callable
from functools import partial

import numpy as np

from outcrop.problems import Problem
from outcrop.problems.base import box_problem
from outcrop.typing import Points, Vector


def terraces(d: int) -> Problem:
    """A bowl with jumps along the first two coordinates; the minimum is beside two of them."""
    return _on_cube("terraces", _terraces, (0.42, 0.63), d)


def cliff(d: int) -> Problem:
    """A smooth bowl in the lower 40 % of the first coordinate, waves on a plateau above."""
    return _on_cube("cliff", _cliff, (0.25, 0.6), d)


def moor(d: int) -> Problem:
    """A plane in the lower half of the first coordinate; beyond, waves, one of them the lowest."""
    return _on_cube("moor", _moor, (0.75, 0.3), d)


def _terraces(X: Points, best: Vector) -> Vector:
    jumps = 1.0 * (X[:, 0] < 0.35) + 0.7 * (X[:, 1] > 0.7) + 0.5 * (X[:, 0] > 0.8)
    return jumps + 2 * np.square(X - best).mean(1)


def _cliff(X: Points, best: Vector) -> Vector:
    bowl = 2 * np.square(X - best).mean(1)
    return np.where(X[:, 0] > 0.4, 0.3 + 0.7 * _waves(X - best, 6), bowl)


def _moor(X: Points, best: Vector) -> Vector:
    waves = 2 * np.square(X - best).mean(1) + 0.5 * _waves(X - best, 6)
    return np.where(X[:, 0] < 0.5, 0.5 + 0.3 * X[:, 1], waves)


def _waves(Z: Points, frequency: float) -> Vector:
    """From 0 at the origin to 2."""
    return (1 - np.cos(2 * np.pi * frequency * Z)).mean(1)


def _on_cube(
    name: str,
    formula: Callable[[Points, Vector], Vector],
    minimiser: tuple[float, float],
    d: int,
) -> Problem:
    """A problem in `d` dimensions whose minimiser repeats two coordinates."""
    best = np.resize(minimiser, d)
    return box_problem(f"{name}-{d}", lambda X: formula(X, best), [(0, 1)] * d, 0.0, best[None, :])


LANDSCAPES: dict[str, Callable[[], Problem]] = {
    "terraces-2": partial(terraces, 2),
    "cliff-2": partial(cliff, 2),
    "moor-2": partial(moor, 2),
}
