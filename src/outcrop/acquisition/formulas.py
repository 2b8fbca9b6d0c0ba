"""Acquisition formulas on plain arrays, exact in the tails, with their derivatives.

Each returns its value and the derivatives in `mean` and in `std`, all of the broadcast shape. φ and
Φ are the standard normal density and distribution; z = (best − mean)/std, and t = |z|. Terms that
would cancel or overflow for large t are written with Mills' ratio and its continued fraction:

    r = Φ(−t)/φ(t) = 1/(t + c),    c = 1/(t + e),    e = 2/(t + 3/(t + 4/(t + …)))

so that for ε ~ N(0, 1) the improvement (ε − t)₊ of a point t deviations short of best has

    E[(ε − t)₊] = φ − t Φ(−t) = φ r c,    E[(ε − t)₊²] = φ r c e.

A `std` below `STD_FLOOR` counts as `STD_FLOOR`. Values and derivatives, also in the variance, are
then finite for |best − mean| up to 1e30. A certain prediction has the expected limits: an EI of
(best − mean)₊ and a LogEI of its logarithm, or, where that is −∞, a hugely negative number that
still falls as the mean rises.
"""

from __future__ import annotations

__all__ = [
    "STD_FLOOR",
    "Derived",
    "expected_improvement",
    "information_about_minimum",
    "log_expected_improvement",
    "mills",
    "probability_of_improvement",
    "scaled_improvement",
]

from math import log, pi, sqrt
from typing import TypeAlias

import numpy as np

from outcrop.special import erfcx
from outcrop.typing import Matrix

Values: TypeAlias = Matrix | float
Derived: TypeAlias = tuple[Matrix, Matrix, Matrix]  # value, ∂/∂mean, ∂/∂std

STD_FLOOR = 1e-60  # z², and z²/std² in a derivative, stay below the largest double
FAR = 15.0  # here 1/r − t has lost 2 digits and 1/c − t over 4; the continued fraction loses none
TERMS = 10  # of it: what is left out is 1e-14 of e at t = FAR, and falls fast

ROOT_HALF, ROOT_HALF_PI, ROOT_2PI = sqrt(0.5), sqrt(0.5 * pi), sqrt(2 * pi)
LOG_ROOT_2PI = 0.5 * log(2 * pi)


def mills(t: Matrix) -> Derived:
    """r, c and e of the module's docstring, to some 15, 13 and 11 digits for every t ≥ 0."""
    near = np.minimum(t, FAR)
    r = ROOT_HALF_PI * erfcx(ROOT_HALF * near)
    c = 1 / r - near
    e = 1 / c - near
    far = t > FAR
    if far.any():
        beyond = np.maximum(t, FAR)
        tail = beyond
        for n in range(TERMS, 2, -1):
            tail = beyond + n / tail
        e = np.where(far, 2 / tail, e)
        c = np.where(far, 1 / (beyond + e), c)
        r = np.where(far, 1 / (beyond + c), r)
    return r, c, e


def expected_improvement(mean: Values, std: Values, best: Values) -> Derived:
    """E[(best − f)₊] = std · (φ(z) + z Φ(z)) [Jones et al. 1998, eq. 15]."""
    z, t, std = _standardised(mean, std, best)
    r, c, _ = mills(t)
    density = np.exp(-0.5 * t * t) / ROOT_2PI
    tail = density * r
    gain = tail * c + np.maximum(z, 0.0)
    return std * gain, -np.where(z > 0, 1 - tail, tail), density


def log_expected_improvement(mean: Values, std: Values, best: Values) -> Derived:
    """log E[(best − f)₊], which does not underflow [Ament et al. 2023, eq. 9]."""
    z, t, std = _standardised(mean, std, best)
    r, c, _ = mills(t)
    half = 0.5 * t * t
    above = z > 0
    # Where z ≤ 0 everything is divided by φ, which would underflow.
    density = np.where(above, np.exp(-half) / ROOT_2PI, 1.0)
    tail = density * r
    gain = std * (tail * c + np.maximum(z, 0.0))
    value = np.log(gain) - (half + LOG_ROOT_2PI) * (z <= 0)
    return value, np.where(above, tail - 1, -tail) / gain, density / gain


def probability_of_improvement(mean: Values, std: Values, best: Values) -> Derived:
    """Pr[f < best] = Φ(z) [Kushner 1964]."""
    z, t, std = _standardised(mean, std, best)
    density = np.exp(-0.5 * t * t) / ROOT_2PI
    tail = density * mills(t)[0]
    mean_bar = density / -std
    return np.where(z > 0, 1 - tail, tail), mean_bar, mean_bar * z


def scaled_improvement(mean: Values, std: Values, best: Values) -> Derived:
    """E[I]/√Var[I] of the improvement I = (best − f)₊ [Noè & Husmeier 2018].

    A function s of z alone, with s' = (Φ − s² (1 − Φ)) / √Var. From z to −z the variance follows by
    (z + ε)₊ = z + ε + (−z − ε)₊ and Stein's identity, without the cancellation of z².
    """
    z, t, std = _standardised(mean, std, best)
    r, c, e = mills(t)
    root = np.exp(-0.25 * t * t) / sqrt(ROOT_2PI)  # √φ, which underflows no earlier than s
    tail = root * root * r
    short = tail * c
    above = z > 0
    # Var[I]/std²: as it is where z > 0, elsewhere without its factor φ r.
    spread = np.where(above, 1 + short * (e - short) - 2 * tail, c * (e - short))
    factor = root * np.sqrt(r)
    value = np.where(above, t + short, factor * c) / np.sqrt(spread)
    slope = np.where(
        above,
        1 - tail - value * value * tail,
        factor * (1 - c * c * (1 - tail) / spread),
    )
    mean_bar = slope / (-std * np.sqrt(spread))
    return value, mean_bar, mean_bar * z


def information_about_minimum(mean: Values, std: Values, minimum: Values) -> Derived:
    """The information of f about its minimum: the entropy lost by f ≥ `minimum`.

        γ φ(γ) / (2 Φ(γ)) − log Φ(γ),    γ = (mean − minimum)/std

    [Wang & Jegelka 2017, eq. 6, for minima].
    """
    z, t, std = _standardised(mean, std, minimum)
    r, c, e = mills(t)
    density = np.exp(-0.5 * t * t) / ROOT_2PI
    above = z < 0  # γ = −z is positive
    hazard = density / (1 - density * r)  # φ(t)/Φ(t); at −t it is 1/r = t + c
    value = np.where(
        above,
        0.5 * t * hazard - np.log1p(-density * r),
        np.log(t + c) + LOG_ROOT_2PI - 0.5 * t * c,
    )
    slope = np.where(above, hazard * (1 + t * (t + hazard)), (t + c) * c * e)
    mean_bar = slope / (-2 * std)
    return value, mean_bar, mean_bar * z


def _standardised(mean: Values, std: Values, best: Values) -> Derived:
    std = np.maximum(std, STD_FLOOR)
    z = (best - mean) / std
    return z, np.abs(z), std
