"""Formulas of test problems: first those that a stationary surrogate fits well.

Then those with many basins, kinks or fine structure. Every function maps `X` `(n, d)` in native
units to values `(n,)`; all are to be minimised. Boxes and minima are beside their problems in
`boxes`.
"""

from __future__ import annotations

__all__ = [
    "ackley",
    "beale",
    "branin",
    "branin02",
    "cross_in_tray",
    "decaying_sin",
    "deflected_corrugated_spring",
    "egg_holder",
    "exponential",
    "gramacy",
    "griewank",
    "hartmann6",
    "holder_table",
    "levy",
    "levy13",
    "michalewicz",
    "rkhs",
    "rosenbrock",
    "shubert",
    "shubert03",
    "six_hump_camel",
    "weierstrass",
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

WEIERSTRASS_ORDERS = np.arange(21)
SHUBERT_ORDERS = np.arange(1, 6)

# The RKHS function of HTBO (Assael et al. 2014): smooth bumps on the left, sharp ones on the right.
SMOOTH_WIDTH, SHARP_WIDTH = 0.1, 0.01
SMOOTH_BUMPS = np.array([(0.1, 4), (0.15, -1), (0.08, 2), (0.3, -2), (0.4, 1)])  # (centre, weight)
SHARP_BUMPS = np.array(
    [
        (0.8, 3), (0.85, 4), (0.9, 2), (0.95, 1), (0.92, -1), (0.74, 2), (0.91, 2),
        (0.89, 3), (0.79, 3), (0.88, 2), (0.86, -1), (0.96, -2), (0.99, 4), (0.82, -3),
    ]
)  # fmt: skip


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


def ackley(X: Matrix) -> Vector:
    """Ackley's funnel under a regular ripple."""
    radius = np.sqrt((X**2).mean(1))
    ripple = np.cos(2 * np.pi * X).mean(1)
    return 20 * -np.expm1(-0.2 * radius) - np.e * np.expm1(ripple - 1)  # exactly 0 at the origin


def griewank(X: Matrix) -> Vector:
    """A shallow bowl under a product of cosines."""
    order = np.arange(1, X.shape[1] + 1)
    return 1 + (X**2).sum(1) / 4000 - np.cos(X / np.sqrt(order)).prod(1)


def levy(X: Matrix) -> Vector:
    """Levy's function of any dimension: a bowl under waves along every axis."""
    w = 1 + (X - 1) / 4
    first, last = w[:, 0], w[:, -1]
    inner = (w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2)
    end = (last - 1) ** 2 * (1 + np.sin(2 * np.pi * last) ** 2)
    return np.sin(np.pi * first) ** 2 + inner.sum(1) + end


def levy13(X: Matrix) -> Vector:
    """Levy's two-dimensional function number 13."""
    x1, x2 = X.T
    ripple1 = 1 + np.sin(3 * np.pi * x2) ** 2
    ripple2 = 1 + np.sin(2 * np.pi * x2) ** 2
    return np.sin(3 * np.pi * x1) ** 2 + (x1 - 1) ** 2 * ripple1 + (x2 - 1) ** 2 * ripple2


def michalewicz(X: Matrix) -> Vector:
    """Narrow valleys along every axis, with steepness m = 10; a sum of one term per coordinate."""
    order = np.arange(1, X.shape[1] + 1)
    return -(np.sin(X) * np.sin(order * X**2 / np.pi) ** 20).sum(1)


def deflected_corrugated_spring(X: Matrix) -> Vector:
    """Rings of ripples about (5, …, 5), slowly rising outwards."""
    square = ((X - 5) ** 2).sum(1)
    return -np.cos(5 * np.sqrt(square)) + 0.1 * square


def shubert(X: Matrix) -> Vector:
    """Shubert's function number 1: the product over coordinates of a sum of cosines."""
    phases = (SHUBERT_ORDERS + 1) * X[..., None] + SHUBERT_ORDERS
    return (np.cos(phases) @ SHUBERT_ORDERS).prod(1)


def shubert03(X: Matrix) -> Vector:
    """Shubert's function number 3: the sum over coordinates of a sum of sines."""
    phases = (SHUBERT_ORDERS + 1) * X[..., None] + SHUBERT_ORDERS
    return -(np.sin(phases) @ SHUBERT_ORDERS).sum(1)


def holder_table(X: Matrix) -> Vector:
    """A table whose four legs at the corners are the minima; kinked along many lines."""
    x1, x2 = X.T
    growth = np.exp(np.abs(1 - np.hypot(x1, x2) / np.pi))
    return -np.abs(np.sin(x1) * np.cos(x2) * growth)


def cross_in_tray(X: Matrix) -> Vector:
    """A tray divided by a cross, with four equal minima near the middle."""
    x1, x2 = X.T
    growth = np.exp(np.abs(100 - np.hypot(x1, x2) / np.pi))
    return -1e-4 * (np.abs(np.sin(x1) * np.sin(x2) * growth) + 1) ** 0.1


def egg_holder(X: Matrix) -> Vector:
    """Wide irregular waves with the minimum on the border."""
    x1, x2 = X.T
    lifted = x2 + 47
    return -lifted * np.sin(np.sqrt(np.abs(lifted + x1 / 2))) - x1 * np.sin(
        np.sqrt(np.abs(x1 - lifted))
    )


def weierstrass(X: Matrix) -> Vector:
    """Weierstrass's nowhere smooth sum, cut after 21 terms.

        f(x) = Σⱼ [Σₖ 2⁻ᵏ cos(2π 3ᵏ (xⱼ + ½)) − d Σₖ 2⁻ᵏ cos(π 3ᵏ)]

    The constant is taken d times for every coordinate, as in the benchmark suite the papers used,
    so that the minimum 2d(d − 1)(1 − 2⁻²¹) is zero in one dimension only.
    """
    weights, rates = 0.5**WEIERSTRASS_ORDERS, 3.0**WEIERSTRASS_ORDERS
    dimension = X.shape[1]
    # cos(2πr(x + ½)) = −cos(2πrx) for odd r, without the rounding of r(x + ½)
    waves = -(np.cos(2 * np.pi * rates * X[..., None]) @ weights).sum(1)
    return waves + dimension**2 * weights.sum()


def rkhs(X: Matrix) -> Vector:
    """Gaussian bumps, smooth below one half and sharp above 0.7; the negative of HTBO's."""
    smooth = _bumps(X, SMOOTH_BUMPS, SMOOTH_WIDTH)
    return -(smooth + _bumps(X, SHARP_BUMPS, SHARP_WIDTH))


def _bumps(X: Matrix, bumps: Matrix, width: float) -> Vector:
    centres, weights = bumps.T
    return np.exp(-((X - centres) ** 2) / (2 * width**2)) @ weights


def decaying_sin(X: Matrix) -> Vector:
    """t sin(3t) exp(−t) with t = 2.5 (x + 1) [Alvi's thesis, eq. 3.63]."""
    t = 2.5 * (X[:, 0] + 1)
    return t * np.sin(3 * t) * np.exp(-t)
