"""Targets whose posterior is known, and the distribution test that samples of them must pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from outcrop.inference import effective_sample_size
from outcrop.typing import Mask, Matrix, Rng, Vector

# Some 150 p-values are taken, on fixed seeds: at this level the whole set fails by chance alone for
# fewer than one choice of seeds in a hundred.
ALPHA = 4e-5


def assert_distributed(draws: Vector, cdf: Callable[[Any], Any]) -> None:
    """Independent `draws` are compatible with `cdf`, by Kolmogorov and Smirnov."""
    assert stats.kstest(draws, cdf).pvalue > ALPHA


def thinned(chain: Vector) -> Vector:
    """Every so many draws of `chain`, so that the rest are independent for a distribution test."""
    spread = np.abs(chain - np.median(chain))
    size = min(float(effective_sample_size(c[None, :])) for c in (chain, spread))
    return chain[:: 2 * int(np.ceil(len(chain) / size))]


@dataclass(frozen=True)
class Gaussian:
    """Prior N(0, prior covariance), likelihood N(theta; mean, covariance) up to a factor."""

    prior: Matrix
    mean: Vector
    covariance: Matrix
    gaussian: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def __post_init__(self) -> None:
        if len(self.gaussian) != self.dim:
            object.__setattr__(self, "gaussian", np.zeros(self.dim, dtype=bool))

    @property
    def dim(self) -> int:
        return len(self.prior)

    def posterior(self) -> tuple[Vector, Matrix]:
        precision = np.linalg.inv(self.covariance)
        covariance = np.linalg.inv(np.linalg.inv(self.prior) + precision)
        return covariance @ precision @ self.mean, covariance

    def log_prior(self, theta: Vector) -> float:
        return self.log_prior_with_gradient(theta)[0]

    def log_likelihood(self, theta: Vector) -> float:
        return self.log_likelihood_with_gradient(theta)[0]

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        pull: Vector = np.linalg.inv(self.prior) @ theta
        return -0.5 * float(theta @ pull), -pull

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        pull: Vector = np.linalg.inv(self.covariance) @ (theta - self.mean)
        return -0.5 * float((theta - self.mean) @ pull), -pull

    def log_jacobian_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        return 0.0, np.zeros_like(theta)

    def sample_prior(self, rng: Rng, n: int) -> Matrix:
        return rng.multivariate_normal(np.zeros(self.dim), self.prior, size=n)


@dataclass(frozen=True)
class Known:
    """A posterior with the given log density, behind a normal prior of standard deviation `scale`.

    `gradient` is that of the log density; without it there is no likelihood gradient.
    """

    log_density: Callable[[Vector], float]
    dim: int = 1
    scale: float = 3.0
    gradient: Callable[[Vector], Vector] | None = None
    log_jacobian: Callable[[Vector], tuple[float, Vector]] | None = None

    @property
    def gaussian(self) -> Mask:
        return np.zeros(self.dim, dtype=bool)

    def log_prior(self, theta: Vector) -> float:
        return -0.5 * float(theta @ theta) / self.scale**2

    def log_likelihood(self, theta: Vector) -> float:
        return self.log_density(theta) - self.log_prior(theta)

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        return self.log_prior(theta), -theta / self.scale**2

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        assert self.gradient is not None
        return self.log_likelihood(theta), self.gradient(theta) + theta / self.scale**2

    def log_jacobian_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        if self.log_jacobian is None:
            return 0.0, np.zeros_like(theta)
        return self.log_jacobian(theta)

    def sample_prior(self, rng: Rng, n: int) -> Matrix:
        return rng.normal(0.0, self.scale, size=(n, self.dim))


@dataclass(frozen=True)
class ScaledLatents:
    """Latents z ~ N(0, 1) and log scale s ~ N(0, 1), the last; observed y ~ N(z exp(s), 0.5²)."""

    y: Vector

    @property
    def dim(self) -> int:
        return len(self.y) + 1

    @property
    def gaussian(self) -> Mask:
        return np.arange(self.dim) < len(self.y)

    def log_prior(self, theta: Vector) -> float:
        return -20 - 0.5 * float(theta @ theta)  # a constant must not matter

    def log_likelihood(self, theta: Vector) -> float:
        residual = self.y - theta[:-1] * np.exp(theta[-1])
        return -0.5 * float(residual @ residual) / 0.25

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        raise NotImplementedError

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        raise NotImplementedError

    def log_jacobian_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        raise NotImplementedError

    def sample_prior(self, rng: Rng, n: int) -> Matrix:
        return rng.normal(size=(n, self.dim))
