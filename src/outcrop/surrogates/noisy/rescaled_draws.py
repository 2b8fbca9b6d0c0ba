"""Draws from a posterior of which only the marginals are known.

A draw f of a similar Gaussian process (m₀, s₀²) is moved and scaled to the mean and the variance of
the posterior (m, s²) at every point; the correlations are those of the process:

    g(x) = m(x) + (f(x) − m₀(x)) s(x) / s₀(x)
"""

from __future__ import annotations

__all__ = ["RescaledDraw", "rescaled_joint", "rescaled_sample"]

from dataclasses import dataclass

import numpy as np

from outcrop.errors import ModelError
from outcrop.surrogates.base import DrawsFunctions, Posterior, Samples
from outcrop.surrogates.draws import Draw
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class RescaledDraw:
    """A draw of `centre`, moved and scaled to the mean and variance of `posterior`."""

    posterior: Posterior
    centre: Posterior
    draw: Draw

    @classmethod
    def of(cls, posterior: Posterior, centre: Posterior, rng: Rng, features: int) -> RescaledDraw:
        if not isinstance(centre, DrawsFunctions):
            raise ModelError(
                f"{type(centre).__name__} offers no drawn functions; use Slice() or MAP() with "
                "Thompson sampling"
            )
        return cls(posterior, centre, centre.draw(rng, features))

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


def rescaled_joint(posterior: Posterior, centre: Posterior, X: Points) -> tuple[Vector, Matrix]:
    """Mean and covariance of `posterior` at `X`, with the correlations of `centre`."""
    if not isinstance(centre, DrawsFunctions):
        raise ModelError(f"{type(centre).__name__} offers no joint predictions")
    mean, var = posterior.predict(X)
    covariance = centre.predict_joint(X)[1]
    ratio = np.sqrt(var / centre.predict(X)[1])
    joint = covariance * np.multiply.outer(ratio, ratio)
    joint[np.diag_indices(len(X))] = var
    return mean, joint


def rescaled_sample(posterior: Posterior, centre: Posterior, X: Points, rng: Rng, n: int) -> Matrix:
    """Joint draws `(n, m)`."""
    if not isinstance(centre, Samples):
        raise ModelError(f"{type(centre).__name__} offers no joint draws")
    mean, var = posterior.predict(X)
    mean0, var0 = centre.predict(X)
    return mean + (centre.sample(X, rng, n) - mean0) * np.sqrt(var / var0)
