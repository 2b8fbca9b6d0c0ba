"""A belief in the objective averaged over the noise of its inputs.

    f̄(x) = E f(x + ε),    ε ~ N(0, C)

A Gaussian process whose kernel declares its expectation (`Kernel.expected`, RBF kernels) has f̄ in
closed form. Every other belief is averaged over `NoisePoints`, f̄(x) ≈ Σ wₛ f(x + δₛ), which is
exact for polynomials up to the third degree; `AveragedPosterior.is_exact` tells which of the two
holds. The variance is that of f̄, with the covariances of the points: where f varies within the
noise, its average is known better than f itself.

Near a bound the belief is evaluated beyond it and extrapolates: the noise does not stop at a bound.
"""

from __future__ import annotations

__all__ = ["AveragedPosterior", "AveragedDraw"]

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from outcrop.linalg import cholesky
from outcrop.short_repr import short_repr
from outcrop.surrogates.base import (
    DrawsFunctions,
    Posterior,
    PredictionPull,
    drawing,
    noise_at,
    sampling,
)
from outcrop.surrogates.gp import GPPosterior
from outcrop.surrogates.noisy.rescaled_draws import RescaledPosterior
from outcrop.surrogates.robust.average_moments import (
    Average,
    CorrelatedAverage,
    JointAverage,
    ProcessAverage,
    RescaledAverage,
)
from outcrop.surrogates.robust.noise_points import NoisePoints
from outcrop.typing import Draw, Matrix, Points, Rng, Vector

CACHED_NUMBERS = 200_000  # covariances computed at a time
JITTER = 1e-10  # of the largest variance; averages at close points are almost equal


@dataclass(frozen=True, eq=False)
class AveragedPosterior:
    """The posterior of f̄ that follows from a posterior of f.

    `at` are the points with observations: the incumbent is the lowest mean of f̄ among them.
    Observations stay observations of f at their points.
    """

    posterior: Posterior
    around: NoisePoints
    at: Points

    __repr__ = short_repr

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        rows = max(CACHED_NUMBERS // (len(self.around) * max(len(self.at), 1)), 1)
        parts = [
            self._average.predict_with_pullback(X[start : start + rows])[:2]
            for start in range(0, len(X), rows)
        ]
        means, variances = zip(*parts, strict=True) if parts else ((), ())
        return np.concatenate([np.empty(0), *means]), np.concatenate([np.empty(0), *variances])

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        return self._average.predict_with_pullback(X)

    def condition(self, X: Points, y: Vector) -> AveragedPosterior:
        """The same belief given observations `y` at `X` as well."""
        return replace(self, posterior=self.posterior.condition(X, y), at=np.vstack([self.at, X]))

    def incumbent(self) -> float:
        """The lowest mean of the average at the data; a single low value has little influence."""
        return float(self.predict(self.at)[0].min())

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        """Mean `(m,)` and covariance `(m, m)` of the average."""
        return self._average.predict_joint(X)

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """`n` joint draws of the average, `(n, m)`."""
        if isinstance(self.posterior, DrawsFunctions):
            mean, covariance = self.predict_joint(X)
            jitter = JITTER * covariance.diagonal().max(initial=0.0) + np.finfo(float).tiny
            chol, _ = cholesky((covariance + covariance.T) / 2 + jitter * np.eye(len(X)))
            return mean + rng.standard_normal((n, len(X))) @ chol.T
        draws = sampling(self.posterior).sample(self.around.points(X), rng, n)
        return self.around.average(draws.T).T

    def draw(self, rng: Rng, features: int = 512) -> AveragedDraw:
        """One draw of the average as a function."""
        return AveragedDraw(drawing(self.posterior).draw(rng, features), self.around)

    def noise_at(self, X: Points) -> Vector:
        """The noise variance of an observation at each row of `X`."""
        return noise_at(self.posterior, X)

    def scales(self) -> Vector:
        """The scales of f, or 1 where it has none."""
        own = getattr(self.posterior, "scales", None)
        return np.ones(self.at.shape[1]) if own is None else own()

    @property
    def is_exact(self) -> bool:
        """Whether the average is the expectation in closed form, not a sum over points."""
        return self._average.is_exact

    @cached_property
    def _average(self) -> Average:
        posterior = self.posterior
        if isinstance(posterior, GPPosterior) and not posterior.is_average:
            return ProcessAverage(posterior, self.around)
        if isinstance(posterior, RescaledPosterior) and isinstance(posterior.inner, GPPosterior):
            return RescaledAverage(posterior, self.around, posterior.inner)
        if isinstance(posterior, DrawsFunctions):
            return JointAverage(posterior, self.around)
        return CorrelatedAverage(posterior, self.around)


@dataclass(frozen=True, eq=False)
class AveragedDraw:
    """The average of a function drawn from a belief; `draw(X)` is `(m,)`."""

    draw: Draw
    around: NoisePoints

    def __call__(self, X: Points) -> Vector:
        return self.around.average(self.draw(self.around.points(X)))

    def gradient(self, X: Points) -> Points:
        return self.around.average(self.draw.gradient(self.around.points(X)))
