"""What is believed of the objective averaged over noise in its inputs.

    f̄(x) = E f(x + ε) ≈ Σ wₛ f(x + δₛ),    ε ~ N(0, C)

with the points of `surroundings`; under a Gaussian process with an RBF kernel the expectation is
exact. The variance is that of f̄, with the covariances of the points: where f wiggles, its average
is known better than f itself.

Around a point near a bound the belief is asked beyond it, where it extrapolates: noise does not
stop at a bound either.
"""

from __future__ import annotations

__all__ = ["Averaged", "AveragedDraw"]

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from outcrop.errors import ModelError
from outcrop.linalg import cholesky
from outcrop.surrogates.averages import Average, Jointly, Process, Stretched, Together
from outcrop.surrogates.base import DrawsFunctions, Posterior, PredictionPull, Samples
from outcrop.surrogates.draws import Draw
from outcrop.surrogates.gp import GPPosterior
from outcrop.surrogates.noisy.uncertain import UncertainObservations
from outcrop.surrogates.noisy.utgp import UTGPPosterior
from outcrop.surrogates.noisy.utgp_full import FullUTGPPosterior
from outcrop.surrogates.surroundings import Surroundings
from outcrop.typing import Matrix, Points, Rng, Vector

CACHED_NUMBERS = 200_000  # of covariances at a time
JITTER = 1e-10  # of the largest variance; draws of averages close by are all but the same


@dataclass(frozen=True, eq=False)
class Averaged:
    """A posterior of f, seen as one of f̄.

    `at` are the points to choose from, those where something was observed: the incumbent is the
    lowest mean of f̄ there. What is observed stays an observation at its point.
    """

    posterior: Posterior
    around: Surroundings
    at: Points

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

    def condition(self, X: Points, y: Vector) -> Averaged:
        """The same belief once `y` is also believed to be observed at `X`."""
        return replace(self, posterior=self.posterior.condition(X, y), at=np.vstack([self.at, X]))

    def incumbent(self) -> float:
        """The lowest mean of the average at the data: what a lucky value says counts for little."""
        return float(self.predict(self.at)[0].min())

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        """Mean `(m,)` and covariance `(m, m)` of the average."""
        if isinstance(self._average, Process):
            return self._average.predict_joint(X)
        if not isinstance(self.posterior, DrawsFunctions):
            raise ModelError(f"{type(self.posterior).__name__} offers no joint predictions")
        mean, covariance = self.posterior.predict_joint(self.around.points(X))
        half = self.around.average(covariance)
        return self.around.average(mean), self.around.average(half.T)

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """`n` joint draws of the average, `(n, m)`."""
        if isinstance(self.posterior, DrawsFunctions):
            mean, covariance = self.predict_joint(X)
            jitter = JITTER * covariance.diagonal().max(initial=0.0) + np.finfo(float).tiny
            chol, _ = cholesky((covariance + covariance.T) / 2 + jitter * np.eye(len(X)))
            return mean + rng.standard_normal((n, len(X))) @ chol.T
        if not isinstance(self.posterior, Samples):
            raise ModelError(f"{type(self.posterior).__name__} offers no joint draws")
        return self.around.average(self.posterior.sample(self.around.points(X), rng, n).T).T

    def draw(self, rng: Rng, features: int = 512) -> AveragedDraw:
        """One draw of the average as a function."""
        if not isinstance(self.posterior, DrawsFunctions):
            raise ModelError(
                f"{type(self.posterior).__name__} offers no drawn functions; use a GP for Thompson "
                "sampling"
            )
        return AveragedDraw(self.posterior.draw(rng, features), self.around)

    def scales(self) -> Vector:
        """Those of f, or all of the cube where it has none."""
        own = getattr(self.posterior, "scales", None)
        return np.ones(self.at.shape[1]) if own is None else own()

    @cached_property
    def _average(self) -> Average:
        posterior = self.posterior
        if isinstance(posterior, GPPosterior):
            data = posterior.data
            if not isinstance(data, UncertainObservations) or data.ends == 1:
                return Process(posterior, self.around)
        if isinstance(posterior, UTGPPosterior | FullUTGPPosterior):
            centre = posterior.inner
            if isinstance(centre, GPPosterior):
                return Stretched(posterior, centre, self.around)
        if isinstance(posterior, DrawsFunctions):
            return Jointly(posterior, self.around)
        return Together(posterior, self.around)


@dataclass(frozen=True, eq=False)
class AveragedDraw:
    """A function drawn from a belief, averaged."""

    draw: Draw
    around: Surroundings

    def __call__(self, X: Points) -> Vector:
        return self.around.average(self.draw(self.around.points(X)))

    def gradient(self, X: Points) -> Points:
        return self.around.average(self.draw.gradient(self.around.points(X)))
