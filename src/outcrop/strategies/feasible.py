"""Where evaluations fail, learnt from where they failed.

A Gaussian process on labels (+1 success, −1 failure) gives the probability of success

    P(x) = Φ(m(x) / √(v(x) + noise))

Multiplying an acquisition by P is not enough: its logarithm spans hundreds of units and log P a
few. So the search is first restricted to P ≥ 0.8 of the best candidate's, then weighed.
"""

from __future__ import annotations

__all__ = ["Feasibility", "Restricted"]

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from outcrop.data import Observations
from outcrop.inference import MAP
from outcrop.kernels import Kernel
from outcrop.maximise import Function
from outcrop.params import free
from outcrop.priors import Normal
from outcrop.surrogates import GP, Inferred, Posterior
from outcrop.typing import Points, Rng, Vector

LABEL_NOISE = 0.05  # variance: labels near the border of a region need not be separable
SHARE = 0.8  # of the best candidate's probability that a point must have
OUTSIDE = -1e6  # below any log acquisition: a point outside loses to every point inside
LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Feasibility:
    """The belief that an evaluation succeeds."""

    posterior: Posterior

    @classmethod
    def fit(cls, succeeded: Points, failed: Points, kernel: Kernel, rng: Rng) -> Feasibility:
        labels = np.concatenate([np.ones(len(succeeded)), -np.ones(len(failed))])
        data = Observations(np.vstack([succeeded, failed]), labels)
        model = GP(kernel, noise=LABEL_NOISE, mean=free(Normal()))
        return cls(Inferred(model, MAP(starts=3, iterations=50)).fit(data, rng).components[0])

    def log_probability(self, X: Points) -> Vector:
        """log P of success at each row of `X`."""
        mean, var = self.posterior.predict(X)
        return log_ndtr(mean / np.sqrt(var + LABEL_NOISE))

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        mean, var, pull = self.posterior.predict_with_pullback(X)
        total = var + LABEL_NOISE
        z = mean / np.sqrt(total)
        value = log_ndtr(z)
        slope = np.exp(-0.5 * z**2 - 0.5 * LOG_2PI - value)  # d log Φ / dz
        return value, pull(slope / np.sqrt(total), -0.5 * slope * z / total)


@dataclass(frozen=True, eq=False)
class Restricted:
    """A function to maximise where evaluations are likely enough to succeed."""

    function: Function
    feasibility: Feasibility
    threshold: float  # of log P

    @classmethod
    def to_likely(cls, function: Function, feasibility: Feasibility, X: Points) -> Restricted:
        """Restricted to `SHARE` of the largest probability among the rows of `X`."""
        return cls(
            function, feasibility, float(feasibility.log_probability(X).max() + np.log(SHARE))
        )

    def __call__(self, X: Points) -> Vector:
        log_p = self.feasibility.log_probability(X)
        return self.function(X) + log_p + np.where(log_p >= self.threshold, 0.0, OUTSIDE)

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        log_p, slope = self.feasibility.with_gradient(X)
        value, gradient = self.function.with_gradient(X)
        value = value + log_p + np.where(log_p >= self.threshold, 0.0, OUTSIDE)
        return value, gradient + slope
