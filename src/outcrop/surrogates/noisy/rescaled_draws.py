"""Draws from a posterior of which only the marginals are known.

A draw f of a similar Gaussian process (m₀, s₀²) is moved and scaled to the mean and the variance of
the posterior (m, s²) at every point; the correlations are those of the process:

    g(x) = m(x) + (f(x) − m₀(x)) s(x) / s₀(x)
"""

from __future__ import annotations

__all__ = ["RescaledDraw", "RescaledPosterior"]

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from outcrop.surrogates.base import HasScales, Posterior, drawing, noise_at, sampling
from outcrop.typing import Draw, Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class RescaledDraw:
    """A draw of `centre`, moved and scaled to the mean and variance of `posterior`."""

    posterior: Posterior
    centre: Posterior
    draw: Draw

    def __call__(self, X: Points) -> Vector:
        mean, var = self.posterior.predict(X)
        mean0, var0 = self.centre.predict(X)
        return mean + (self.draw(X) - mean0) * np.sqrt(var / var0)

    def gradient(self, X: Points) -> Points:
        """∇g at each row of `X`, `(m, d)`."""
        _, var, pull = self.posterior.predict_with_pullback(X)
        mean0, var0, pull0 = self.centre.predict_with_pullback(X)
        ratio = np.sqrt(var / var0)
        away = 0.5 * (self.draw(X) - mean0) * ratio
        slope = ratio[:, None] * self.draw.gradient(X)
        return slope + pull(np.ones(len(X)), away / var) - pull0(ratio, away / var0)


class RescaledPosterior(Posterior, ABC):
    """A posterior with marginals of its own and the correlations of the process `inner`."""

    inner: Posterior

    @abstractmethod
    def observed(self) -> Points:
        """The points with observations."""

    def incumbent(self) -> float:
        """The lowest mean at the data."""
        return float(self.predict(self.observed())[0].min())

    def noise_at(self, X: Points) -> Vector:
        """The noise variance of an observation at each row of `X`, that of the process."""
        return noise_at(self.inner, X)

    def scales(self) -> Vector:
        """The lengthscales of the central process, 1 where it has none."""
        inner = self.inner
        return inner.scales() if isinstance(inner, HasScales) else np.ones(self.observed().shape[1])

    @property
    def model(self) -> Any:
        return getattr(self.inner, "model", None)

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        mean, var = self.predict(X)
        covariance = drawing(self.inner, "predict jointly").predict_joint(X)[1]
        ratio = np.sqrt(var / self.inner.predict(X)[1])
        joint = covariance * np.multiply.outer(ratio, ratio)
        joint[np.diag_indices(len(X))] = var
        return mean, joint

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """Joint draws `(n, m)`."""
        centre = sampling(self.inner)
        mean, var = self.predict(X)
        mean0, var0 = self.inner.predict(X)
        return mean + (centre.sample(X, rng, n) - mean0) * np.sqrt(var / var0)

    def draw(self, rng: Rng, features: int = 512) -> Draw:
        return RescaledDraw(self, self.inner, drawing(self.inner).draw(rng, features))
