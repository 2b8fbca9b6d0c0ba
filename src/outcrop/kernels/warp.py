"""Input warping: a kernel of inputs mapped by a monotone curve in every dimension.

The curves map the unit interval onto itself. `x` holds points strictly inside (0, 1); the shapes
`a` and `b` are positive and broadcast against it. Both curves are the identity at a = b = 1; below
1, `a` stretches what is near 0 and `b` what is near 1, and above 1 they do the opposite. `W` are
warped points, of the shape of `X`.
"""

from __future__ import annotations

__all__ = ["BetaCDF", "Curve", "Kumaraswamy", "Warp", "beta_cdf_with_derivatives"]

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ShapeError
from outcrop.kernels.base import Kernel, Pull
from outcrop.kernels.stationary import positive_vector, summed_like
from outcrop.kernels.wrappers import LearntMap
from outcrop.typing import Matrix, Points, Vector

LEAST = 1e-6  # least distance of inputs from 0 and 1, where the slope of a curve may be infinite
GRID = (np.arange(16) + 0.5) / 16  # where the slope of a curve is evaluated to find its maximum
TERMS = 128  # pairs of terms of the continued fraction; shapes up to 50 need 32 of them
CONVERGED = 1e-13  # relative change by two terms


class Curve(ABC):
    """A family of distribution functions on (0, 1) with two shapes."""

    @abstractmethod
    def __call__(self, x: Points, a: Vector, b: Vector) -> Points:
        """w(x), in [0, 1] and rising."""

    @abstractmethod
    def slope(self, x: Points, a: Vector, b: Vector) -> Points:
        """∂w/∂x."""

    @abstractmethod
    def sensitivities(self, x: Points, a: Vector, b: Vector) -> tuple[Points, Points]:
        """∂w/∂a and ∂w/∂b."""


@dataclass(frozen=True)
class Kumaraswamy(Curve):
    """w = 1 − (1 − xᵃ)ᵇ: nearly a Beta distribution function, in closed form [Kumaraswamy 1980].

    Its shapes do not swap under reflection, w(1 − x; b, a) ≠ 1 − w(x; a, b), unless one of them
    is 1, where it is the Beta distribution function.
    """

    def __call__(self, x: Points, a: Vector, b: Vector) -> Points:
        return -np.expm1(b * _log_rest(a * np.log(x)))

    def slope(self, x: Points, a: Vector, b: Vector) -> Points:
        log_x = np.log(x)
        return a * b * np.exp((a - 1) * log_x + (b - 1) * _log_rest(a * log_x))

    def sensitivities(self, x: Points, a: Vector, b: Vector) -> tuple[Points, Points]:
        log_x = np.log(x)
        log_power = a * log_x
        log_rest = _log_rest(log_power)
        by_a = b * np.exp(log_power + (b - 1) * log_rest) * log_x
        return by_a, -np.exp(b * log_rest) * log_rest


def _log_rest(log_power: Points) -> Points:
    """ln(1 − xᵃ) from ln xᵃ, exact at both ends."""
    return np.log(-np.expm1(log_power))


@dataclass(frozen=True)
class BetaCDF(Curve):
    """w = Iₓ(a, b), the distribution function of a Beta variable [Snoek et al. 2014].

    Reflection swaps its shapes: w(1 − x; b, a) = 1 − w(x; a, b).
    """

    def __call__(self, x: Points, a: Vector, b: Vector) -> Points:
        from scipy import special  # here, because it loads slowly and few need it

        return special.betainc(a, b, x)

    def slope(self, x: Points, a: Vector, b: Vector) -> Points:
        from scipy import special

        return np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special.betaln(a, b))

    def sensitivities(self, x: Points, a: Vector, b: Vector) -> tuple[Points, Points]:
        _, by_a, by_b = beta_cdf_with_derivatives(x, a, b)
        return by_a, by_b


@dataclass(frozen=True, eq=False)
class Warp(LearntMap):
    """`kernel` of inputs mapped by a curve w(·; aᵢ, bᵢ) in every dimension: k(w(x), w(x')).

        Warp([0.5], [2.0], Matern52([0.3]))             # varies more near 0 than near 1
        Warp(a, b, Matern52([0.3]), curve=BetaCDF())    # as in Snoek et al. 2014

    With a = b = 1 it is the kernel itself. Inputs lie in the unit cube. A single shape is used
    for all dimensions.
    """

    a: Vector  # (d,) or (1,)
    b: Vector  # (d,) or (1,)
    kernel: Kernel
    curve: Curve = field(default_factory=Kumaraswamy)
    map_fields = "a", "b", "curve"

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            value = positive_vector("Warp", name, getattr(self, name))
            object.__setattr__(self, name, value)

    def map_bars(self, pairs: Pairs, images: Pairs, pull: Pull, K_bar: Matrix) -> dict[str, Vector]:
        a_bar, b_bar = np.zeros(len(self.a)), np.zeros(len(self.b))
        for X, W_bar in zip((pairs.X1, pairs.X2), pull.inputs(K_bar), strict=True):
            by_a, by_b = self.curve.sensitivities(_inside(X), self.a, self.b)
            a_bar += summed_like((W_bar * by_a).sum(0), self.a)
            b_bar += summed_like((W_bar * by_b).sum(0), self.b)
        return {"a": a_bar, "b": b_bar}

    def scales(self, dimension: int) -> Vector:
        """The inner kernel's lengths where the curves are steepest."""
        if self.members:
            return np.stack([one.scales(dimension) for one in self.members])
        steepest = self._slope(np.tile(GRID[:, None], dimension)).max(0)
        return self.kernel.scales(dimension) / steepest

    def image(self, X: Points) -> Points:
        self._check(X)
        return self.curve(_inside(X), self.a, self.b)

    def pull_image(self, X: Points, image_bar: Points) -> Points:
        return image_bar * self._slope(X)

    def _slope(self, X: Points) -> Points:
        """∂w/∂x; at a bound the slope just inside, so that an ascent can leave the bound."""
        return self.curve.slope(_inside(X), self.a, self.b)

    def _check(self, X: Points) -> None:
        for size in (len(self.a), len(self.b)):
            if size not in (1, X.shape[1]):
                raise ShapeError(
                    f"Warp has {size} shapes for points of {X.shape[1]} dimensions; give one per "
                    "dimension, or a single one for all"
                )


def _inside(X: Points) -> Points:
    return np.clip(X, LEAST, 1 - LEAST)


def beta_cdf_with_derivatives(x: Points, a: Vector, b: Vector) -> tuple[Points, Points, Points]:
    """Iₓ(a, b), ∂I/∂a and ∂I/∂b, by differentiating the continued fraction of I term by term.

    The fraction converges fast below (a + 1)/(a + b + 2); above, I = 1 − I₁₋ₓ(b, a) is used
    [Abramowitz & Stegun 1964, 26.5.8; differentiated as in Boik & Robison-Cox 1998].
    """
    x, a, b = np.broadcast_arrays(np.asarray(x, dtype=float), a, b)
    turned = x > (a + 1) / (a + b + 2)
    near = np.where(turned, 1 - x, x)
    first, second = np.where(turned, b, a), np.where(turned, a, b)
    value, by_first, by_second = _below(near, np.where(turned, x, 1 - x), first, second)
    return (
        np.where(turned, 1 - value, value),
        np.where(turned, -by_second, by_first),
        np.where(turned, -by_first, by_second),
    )


def _below(x: Points, rest: Points, a: Vector, b: Vector) -> tuple[Points, Points, Points]:
    """The same where the fraction converges fast; `rest` is 1 − x.

    I = xᵃ (1 − x)ᵇ / (a B(a, b)) · F with F = 1/(1 + d₁/(1 + d₂/(1 + …))).
    """
    from scipy import special

    log_x, log_rest = np.log(x), np.log(rest)
    gammas = special.gammaln(a + b) - special.gammaln(a + 1) - special.gammaln(b)
    fraction, by_a, by_b = _fraction(x, a, b)
    front = np.exp(a * log_x + b * log_rest + gammas)
    both = special.digamma(a + b)
    value = front * fraction
    return (
        value,
        value * (log_x + both - special.digamma(a + 1)) + front * by_a,
        value * (log_rest + both - special.digamma(b)) + front * by_b,
    )


def _fraction(x: Points, a: Vector, b: Vector) -> Matrix:
    """F and its derivatives in a and b, `(3, …)`.

    F is the limit of P/Q, where P and Q follow the same recurrence, sₙ = sₙ₋₁ + dₙ sₙ₋₂, and so do
    their derivatives with one term more. All six live in one array `(3, 2, …)`: the values and
    derivatives of P and of Q. Only ratios count, so all are divided by Q before it overflows.
    """
    before, now = np.zeros((2, 3, 2, *x.shape))
    before[0, 1] = 1.0  # P/Q = 0/1
    now[0] = 1.0  # P/Q = 1/1
    known = np.zeros((3, *x.shape))
    for m in range(TERMS):
        for d, d_a, d_b in (_odd_term(m, x, a, b), _even_term(m + 1, x, a, b)):
            after = now + d * before
            after[1] += d_a * before[0]
            after[2] += d_b * before[0]
            before, now = now, after
        scale = now[0, 1].copy()
        before /= scale
        now /= scale
        P, Q = now[:, 0], now[:, 1]
        last, known = known, np.stack([P[0], P[1] - P[0] * Q[1], P[2] - P[0] * Q[2]])
        if (np.abs(known - last) <= CONVERGED * np.abs(known[0])).all():
            break
    return known


def _odd_term(m: int, x: Points, a: Vector, b: Vector) -> tuple[Points, Points, Points]:
    """d₂ₘ₊₁ and its derivatives in a and b."""
    d = -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1)) * x
    by_a = 1 / (a + m) + 1 / (a + b + m) - 1 / (a + 2 * m) - 1 / (a + 2 * m + 1)
    return d, d * by_a, d / (a + b + m)


def _even_term(m: int, x: Points, a: Vector, b: Vector) -> tuple[Points, Points, Points]:
    """d₂ₘ and its derivatives in a and b."""
    by_b = m / ((a + 2 * m - 1) * (a + 2 * m)) * x
    d = (b - m) * by_b
    return d, -d * (1 / (a + 2 * m - 1) + 1 / (a + 2 * m)), by_b
