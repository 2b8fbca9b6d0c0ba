"""Formulas that a stationary surrogate fits well: few basins, no fine structure.

Every function maps `X` `(n, d)` in native units to values `(n,)`; all are to be minimised.
Boxes and minima are beside their problems in `boxes`.
"""

from __future__ import annotations

__all__ = [
    "beale",
    "branin",
    "branin02",
    "exponential",
    "gramacy",
    "hartmann6",
    "rosenbrock",
    "six_hump_camel",
]

import numpy as np

from outcrop.typing import Matrix, Vector

# Hartmann's six-dimensional constants: one row per bump.
BUMP_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
BUMP_CURVATURES = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
BUMP_CENTRES = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def branin(X: Matrix) -> Vector:
    """Branin and Hoo's valley with three equal minima."""
    x1, x2 = X.T
    return _branin_valley(x1, x2) + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x1) + 10


def branin02(X: Matrix) -> Vector:
    """Branin's valley rippled along both axes and tilted by a logarithm: one minimum is left."""
    x1, x2 = X.T
    ripple = 10 * (1 - 1 / (8 * np.pi)) * np.cos(x1) * np.cos(x2)
    return _branin_valley(x1, x2) + ripple + np.log(x1**2 + x2**2 + 1) + 10


def _branin_valley(x1: Vector, x2: Vector) -> Vector:
    return (x2 - 5.1 * x1**2 / (4 * np.pi**2) + 5 * x1 / np.pi - 6) ** 2


def beale(X: Matrix) -> Vector:
    """Beale's flat floor between steep corners."""
    x1, x2 = X.T
    return (
        (1.5 - x1 + x1 * x2) ** 2 + (2.25 - x1 + x1 * x2**2) ** 2 + (2.625 - x1 + x1 * x2**3) ** 2
    )


def rosenbrock(X: Matrix) -> Vector:
    """Rosenbrock's bent valley, summed over neighbouring coordinates."""
    head, tail = X[:, :-1], X[:, 1:]
    return (100 * (tail - head**2) ** 2 + (1 - head) ** 2).sum(1)


def six_hump_camel(X: Matrix) -> Vector:
    """Six basins in three pairs, symmetric about the origin."""
    x1, x2 = X.T
    return (4 - 2.1 * x1**2 + x1**4 / 3) * x1**2 + x1 * x2 + (4 * x2**2 - 4) * x2**2


def exponential(X: Matrix) -> Vector:
    """One inverted bump at the origin."""
    return -np.exp(-0.5 * (X**2).sum(1))


def gramacy(X: Matrix) -> Vector:
    """Gramacy and Lee's dip and peak in one corner of a plain that is flat elsewhere."""
    x1, x2 = X.T
    return x1 * np.exp(-(x1**2) - x2**2)


def hartmann6(X: Matrix) -> Vector:
    """Four anisotropic bumps in six dimensions."""
    offsets = X[:, None, :] - BUMP_CENTRES
    return -np.exp(-(BUMP_CURVATURES * offsets**2).sum(2)) @ BUMP_HEIGHTS
