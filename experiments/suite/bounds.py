"""Ten functions with their minimum at a corner, on a face, or within 3 % of a bound of the box.

Formulas map `X` `(n, d)` to `(n,)`. All minima follow from the formulas: terms are minimal one by
one, or a slope towards the bound outweighs all others.
"""

from __future__ import annotations

__all__ = ["BOUNDS", "bounds_problem"]

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from experiments.suite.reflections import reflected
from outcrop.problems import Problem, box_problem
from outcrop.typing import Matrix, Vector

DIMPLE, DEPTH, WIDTH = np.array([0.3, 0.4]), 0.8, 20.0  # of `dimple_corner`
BOWL = np.array([0.02, 0.985])
SHARP = np.array([0.01, 0.98, 0.025, 0.6, 0.35])
RATIO, OFFSET = np.array([0.015, 0.02, 0.5]), 0.01
FACE = np.array([0.37, 0.62])
EDGE = np.array([0.2, 0.45, 0.7, 0.55])


def linear_corner(X: Matrix) -> Vector:
    """x₁ + 2 x₂ + 4 x₃, least at the origin."""
    return X @ np.array([1.0, 2.0, 4.0])


def root_corner(X: Matrix) -> Vector:
    """Σ √xᵢ + 0.2 sin²(3π xᵢ): a rippled slope with a cusp at the origin."""
    return (np.sqrt(X) + 0.2 * np.sin(3 * np.pi * X) ** 2).sum(1)


def product_corner(X: Matrix) -> Vector:
    """−Π (1 + xᵢ), least where all are 1."""
    return -(1 + X).prod(1)


def dimple_corner(X: Matrix) -> Vector:
    """Σ (1 − xᵢ) less a dimple inside the box, whose bottom is higher than the corner."""
    dimple = np.exp(-WIDTH * ((X - DIMPLE) ** 2).sum(1))
    return (1 - X).sum(1) - DEPTH * dimple


def slope_face(X: Matrix) -> Vector:
    """x₁ + Σ (xⱼ − cⱼ)² over the others, least on x₁ = 0."""
    return X[:, 0] + ((X[:, 1:] - FACE) ** 2).sum(1)


def rosenbrock_face(X: Matrix) -> Vector:
    """Rosenbrock's function on a box that ends at x₁ = ½, where it is least on its valley."""
    return (1 - X[:, 0]) ** 2 + 100 * (X[:, 1] - X[:, 0] ** 2) ** 2


def edge(X: Matrix) -> Vector:
    """2 x₁ + (1 − x₂) + (1 + x₁) Σ 4 (xⱼ − cⱼ)² over the others: two bounds of six."""
    rest = 4 * ((X[:, 2:] - EDGE) ** 2).sum(1)
    return 2 * X[:, 0] + (1 - X[:, 1]) + (1 + X[:, 0]) * rest


def bowl_near(X: Matrix) -> Vector:
    """A tilted bowl around (0.02, 0.985)."""
    a, b = (X - BOWL).T
    return 3 * a**2 + a * b + b**2


def sharp_near(X: Matrix) -> Vector:
    """Σ log(1 + 50 (xᵢ − cᵢ)²): narrow valleys, three of them beside a bound."""
    return np.log1p(50 * (X - SHARP) ** 2).sum(1)


def ratio_near(X: Matrix) -> Vector:
    """Σ log²((xᵢ + 0.01) / (cᵢ + 0.01)): a wall between the minimum and the bound."""
    return (np.log((X + OFFSET) / (RATIO + OFFSET)) ** 2).sum(1)


class Known(NamedTuple):
    """A formula with its box, its minimum and where that is."""

    formula: Callable[[Matrix], Vector]
    box: Sequence[tuple[float, float]]
    minimum: float
    minimiser: Sequence[float] | Vector


UNIT = (0.0, 1.0)
PROBLEMS = {
    "linear-corner-3": Known(linear_corner, [UNIT] * 3, 0.0, (0, 0, 0)),
    "root-corner-2": Known(root_corner, [UNIT] * 2, 0.0, (0, 0)),
    "product-corner-4": Known(product_corner, [UNIT] * 4, -16.0, (1, 1, 1, 1)),
    "dimple-corner-2": Known(
        dimple_corner, [UNIT] * 2, -DEPTH * np.exp(-WIDTH * ((1 - DIMPLE) ** 2).sum()), (1, 1)
    ),
    "slope-face-3": Known(slope_face, [UNIT] * 3, 0.0, (0, *FACE)),
    "rosenbrock-face-2": Known(rosenbrock_face, [(-2.0, 0.5), (-1.0, 2.0)], 0.25, (0.5, 0.25)),
    "edge-6": Known(edge, [UNIT] * 6, 0.0, (0, 1, *EDGE)),
    "bowl-near-2": Known(bowl_near, [UNIT] * 2, 0.0, BOWL),
    "sharp-near-5": Known(sharp_near, [UNIT] * 5, 0.0, SHARP),
    "ratio-near-3": Known(ratio_near, [UNIT] * 3, 0.0, RATIO),
}
BOUNDS = list(PROBLEMS)


def bounds_problem(name: str, instance: int) -> Problem:
    known = PROBLEMS[name]
    problem = box_problem(
        name, known.formula, known.box, known.minimum, [list(known.minimiser)], tags=("bounds",)
    )
    return reflected(problem, instance)
