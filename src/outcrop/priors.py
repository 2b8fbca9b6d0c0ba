"""Densities over hyperparameters, and the map from the whole line to their support.

`x` is a vector of independent values in their own (natural) coordinates; `theta` is the same on the
whole line, where inference works: x = exp θ for positive values, a logistic curve for bounded ones,
θ itself otherwise. Everything works elementwise.
"""

from __future__ import annotations

__all__ = [
    "Beta",
    "Gamma",
    "HalfCauchy",
    "Horseshoe",
    "LogNormal",
    "Normal",
    "Prior",
    "Shifted",
    "Uniform",
]

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import inf, lgamma, log, pi

import numpy as np

from outcrop.errors import ModelError
from outcrop.former_names import offer_former_names
from outcrop.typing import Rng, Vector

LOG_2PI = log(2 * pi)


class Prior(ABC):
    """The density of a hyperparameter before any data."""

    @property
    def support(self) -> tuple[float, float]:
        """The open interval on which the density is positive."""
        return 0.0, inf

    @abstractmethod
    def log_density(self, x: Vector) -> Vector:
        """Logarithm of the density at each element; the caller stays inside the support."""

    @abstractmethod
    def slope(self, x: Vector) -> Vector:
        """Derivative of `log_density` at each element."""

    @abstractmethod
    def sample(self, rng: Rng, size: int) -> Vector:
        """Independent draws of x, `(size,)`."""

    @property
    def gaussian(self) -> tuple[float, float] | None:
        """Mean and standard deviation if θ is Gaussian under this prior, else None."""
        return None

    def for_size(self, size: int) -> Prior:
        """The prior for a slot of `size` values."""
        return self

    def natural(self, theta: Vector) -> Vector:
        """x at θ."""
        low, high = self.support
        if low == -inf:
            return theta
        if high == inf:
            return low + np.exp(theta)
        # Rounding must not reach the bounds, where densities may be infinite.
        x = low + (high - low) * np.exp(-np.logaddexp(0, -theta))
        return np.clip(x, np.nextafter(low, high), np.nextafter(high, low))

    def unconstrained(self, x: Vector) -> Vector:
        """θ at x."""
        low, high = self.support
        if low == -inf:
            return x
        if high == inf:
            return np.log(x - low)
        return np.log(x - low) - np.log(high - x)

    def derivative(self, theta: Vector) -> Vector:
        """dx/dθ."""
        low, high = self.support
        if low == -inf:
            return np.ones_like(theta)
        if high == inf:
            return np.exp(theta)
        return (high - low) * np.exp(-np.logaddexp(0, theta) - np.logaddexp(0, -theta))

    def log_jacobian(self, theta: Vector) -> tuple[float, Vector]:
        """Σ log dx/dθ, and its gradient."""
        low, high = self.support
        if low == -inf:
            return 0.0, np.zeros_like(theta)
        if high == inf:
            return float(theta.sum()), np.ones_like(theta)
        both = np.logaddexp(0, theta) + np.logaddexp(0, -theta)
        return len(theta) * log(high - low) - float(both.sum()), -np.tanh(theta / 2)

    def log_prior(self, theta: Vector) -> float:
        """Log density of θ, the Jacobian included, summed."""
        return float(self.log_density(self.natural(theta)).sum()) + self.log_jacobian(theta)[0]

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        slope = self.slope(self.natural(theta)) * self.derivative(theta)
        return self.log_prior(theta), slope + self.log_jacobian(theta)[1]


def _require_positive(prior: Prior, *names: str) -> None:
    for name in names:
        value = getattr(prior, name)
        if not 0 < value < inf:
            raise ModelError(
                f"{type(prior).__name__}({name}={value!r}): expected a finite number above 0"
            )


@dataclass(frozen=True)
class LogNormal(Prior):
    """ln x ~ N(location + growth · ln size, scale²).

    With `growth` lengthscales widen with the number of dimensions; at ½ they grow as fast as the
    typical distance of two points in the unit cube.

    >>> LogNormal(0.0, 1.0, growth=0.5).for_size(4)
    LogNormal(location=0.6931471805599453, scale=1.0, growth=0.0)
    """

    location: float = 0.0
    scale: float = 1.0
    growth: float = 0.0

    def __post_init__(self) -> None:
        _require_positive(self, "scale")

    def log_density(self, x: Vector) -> Vector:
        u = np.log(x)
        z = (u - self.location) / self.scale
        return -0.5 * z**2 - u - (log(self.scale) + 0.5 * LOG_2PI)

    def slope(self, x: Vector) -> Vector:
        return -(1 + (np.log(x) - self.location) / self.scale**2) / x

    def sample(self, rng: Rng, size: int) -> Vector:
        return np.exp(self.location + self.scale * rng.standard_normal(size))

    @property
    def gaussian(self) -> tuple[float, float]:
        return self.location, self.scale

    def for_size(self, size: int) -> LogNormal:
        return LogNormal(self.location + self.growth * log(max(size, 1)), self.scale)


@dataclass(frozen=True)
class Gamma(Prior):
    """Gamma density with mean shape / rate."""

    shape: float
    rate: float

    def __post_init__(self) -> None:
        _require_positive(self, "shape", "rate")

    def log_density(self, x: Vector) -> Vector:
        constant = self.shape * log(self.rate) - lgamma(self.shape)
        return constant + (self.shape - 1) * np.log(x) - self.rate * x

    def slope(self, x: Vector) -> Vector:
        return (self.shape - 1) / x - self.rate

    def sample(self, rng: Rng, size: int) -> Vector:
        return rng.gamma(self.shape, 1 / self.rate, size)


@dataclass(frozen=True)
class HalfCauchy(Prior):
    """2 / (π s (1 + (x/s)²)) for x > 0: small values likely, large ones possible."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        _require_positive(self, "scale")

    def log_density(self, x: Vector) -> Vector:
        return log(2 / (pi * self.scale)) - np.log1p((x / self.scale) ** 2)

    def slope(self, x: Vector) -> Vector:
        return -2 * x / (self.scale**2 + x**2)

    def sample(self, rng: Rng, size: int) -> Vector:
        return self.scale * np.tan(0.5 * pi * rng.random(size))


@dataclass(frozen=True)
class Horseshoe(Prior):
    """Carvalho et al. 2009's horseshoe on the positive half-line, by its usual closed bound.

        p(x) ∝ ln(1 + 3 (s/x)²)

    The form that hyperparameter samplers use for a noise level [Snoek et al. 2012]; its integral is
    π s √3, so the density is proper.
    """

    scale: float = 0.1

    def __post_init__(self) -> None:
        _require_positive(self, "scale")

    def log_density(self, x: Vector) -> Vector:
        return np.log(np.log1p(3 * (self.scale / x) ** 2)) - log(pi * self.scale * 3**0.5)

    def slope(self, x: Vector) -> Vector:
        ratio = 3 * (self.scale / x) ** 2
        return -2 * ratio / (x * (1 + ratio) * np.log1p(ratio))

    def sample(self, rng: Rng, size: int) -> Vector:
        # ln(1 + c²/x²) = ∫₀¹ c²/(x² + t c²) dt: given t, whose density is ½ t^{-½}, half-Cauchy.
        return self.scale * 3**0.5 * rng.random(size) * np.tan(0.5 * pi * rng.random(size))


@dataclass(frozen=True)
class Uniform(Prior):
    """The uniform density between `low` and `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not -inf < self.low < self.high < inf:
            raise ModelError(
                f"Uniform(low={self.low!r}, high={self.high!r}): expected finite low < high"
            )

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def log_density(self, x: Vector) -> Vector:
        return np.full(np.shape(x), -log(self.high - self.low))

    def slope(self, x: Vector) -> Vector:
        return np.zeros(np.shape(x))

    def sample(self, rng: Rng, size: int) -> Vector:
        return rng.uniform(self.low, self.high, size)


@dataclass(frozen=True)
class Normal(Prior):
    """Gaussian density on the whole line."""

    mean: float = 0.0
    std: float = 1.0

    def __post_init__(self) -> None:
        _require_positive(self, "std")

    support = (-inf, inf)

    def log_density(self, x: Vector) -> Vector:
        return -0.5 * ((x - self.mean) / self.std) ** 2 - (log(self.std) + 0.5 * LOG_2PI)

    def slope(self, x: Vector) -> Vector:
        return (self.mean - x) / self.std**2

    def sample(self, rng: Rng, size: int) -> Vector:
        return self.mean + self.std * rng.standard_normal(size)

    @property
    def gaussian(self) -> tuple[float, float]:
        return self.mean, self.std


@dataclass(frozen=True)
class Beta(Prior):
    """Beta density on (0, 1)."""

    a: float
    b: float

    def __post_init__(self) -> None:
        _require_positive(self, "a", "b")

    support = (0.0, 1.0)

    def log_density(self, x: Vector) -> Vector:
        constant = lgamma(self.a + self.b) - lgamma(self.a) - lgamma(self.b)
        return constant + (self.a - 1) * np.log(x) + (self.b - 1) * np.log1p(-x)

    def slope(self, x: Vector) -> Vector:
        return (self.a - 1) / x - (self.b - 1) / (1 - x)

    def sample(self, rng: Rng, size: int) -> Vector:
        return rng.beta(self.a, self.b, size)


@dataclass(frozen=True)
class Shifted(Prior):
    """`by` plus a value with the density `prior`: a floor under a noise variance, for example."""

    prior: Prior
    by: float

    @property
    def support(self) -> tuple[float, float]:
        low, high = self.prior.support
        return low + self.by, high + self.by

    def log_density(self, x: Vector) -> Vector:
        return self.prior.log_density(x - self.by)

    def slope(self, x: Vector) -> Vector:
        return self.prior.slope(x - self.by)

    def sample(self, rng: Rng, size: int) -> Vector:
        return self.prior.sample(rng, size) + self.by

    @property
    def gaussian(self) -> tuple[float, float] | None:
        return self.prior.gaussian

    def for_size(self, size: int) -> Shifted:
        return replace(self, prior=self.prior.for_size(size))

    # θ maps to the value before the shift: 1e-30 would be lost beside a floor of 1e-6.

    def natural(self, theta: Vector) -> Vector:
        return self.prior.natural(theta) + self.by

    def unconstrained(self, x: Vector) -> Vector:
        return self.prior.unconstrained(x - self.by)

    def derivative(self, theta: Vector) -> Vector:
        return self.prior.derivative(theta)

    def log_jacobian(self, theta: Vector) -> tuple[float, Vector]:
        return self.prior.log_jacobian(theta)

    def log_prior(self, theta: Vector) -> float:
        return self.prior.log_prior(theta)

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        return self.prior.log_prior_with_gradient(theta)


offer_former_names(__name__)
