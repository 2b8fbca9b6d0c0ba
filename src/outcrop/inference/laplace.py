"""The Laplace approximation: a Gaussian around the mode of a posterior."""

from __future__ import annotations

__all__ = ["Laplace", "laplace"]

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from outcrop.effort import UNLIMITED, UNSTORED, Effort
from outcrop.inference.optimise import MAP
from outcrop.inference.target import Draws, Inference, TargetDensity, require
from outcrop.typing import Matrix, Rng, Vector

STEP = 1e-4  # of central differences in theta: error h²/6 beside a gradient's rounding over h
LEAST_PRECISION = 1e-4  # of a prior, where its own curvature vanishes: a standard deviation of 100


def laplace(target: TargetDensity, theta: Vector, effort: Effort = UNLIMITED) -> Matrix:
    """Covariance `(dim, dim)` of the Laplace approximation at `theta`.

    It is the inverse of the negative Hessian of log prior + log likelihood in θ, taken by central
    differences of exact gradients and symmetrised. Away from a mode, or along a flat direction,
    that matrix need not be positive: its eigenvalues *relative to the prior's* negative Hessian P
    (the λ of H v = λ P v) are floored at 1, so that in no direction is the approximation wider
    than the prior, however coordinates are scaled or correlated. P's own eigenvalues are floored
    at 1e-4. Differences that are not finite are replaced by the prior's, and these by the identity;
    so are those that are left out once `effort` is spent.
    """
    theta = np.asarray(theta, dtype=np.float64)
    with np.errstate(all="ignore"):
        prior = -_hessian(lambda t: target.log_prior_with_gradient(t)[1], theta)
        data = -_hessian(lambda t: target.log_likelihood_with_gradient(t)[1], theta, effort)
    prior = np.where(np.isfinite(prior), prior, np.eye(len(theta)))
    negative_hessian = prior + np.where(np.isfinite(data), data, 0.0)

    precisions, axes = np.linalg.eigh(prior)
    precisions = np.maximum(precisions, LEAST_PRECISION)
    whiten: Matrix = axes / np.sqrt(precisions)  # whitenᵀ P whiten = identity
    ratios, turns = np.linalg.eigh(whiten.T @ negative_hessian @ whiten)
    factor: Matrix = (whiten @ turns) / np.sqrt(np.maximum(ratios, 1.0))
    return np.asarray(factor @ factor.T)


@dataclass(frozen=True)
class Laplace(Inference):
    """The mode of the density in θ, with the covariance of the posterior around it.

    >>> Laplace(starts=4)
    Laplace(starts=4, iterations=200)
    """

    starts: int = 8
    iterations: int = 200
    effort: Effort = field(default=UNLIMITED, compare=False, repr=False, metadata=UNSTORED)
    has_covariance = True

    def __post_init__(self) -> None:
        require(self, starts=1, iterations=1)

    def infer(self, target: TargetDensity, rng: Rng, previous: Draws | None = None) -> Draws:
        """One draw, the mode, and `covariance` beside it."""
        # The Hessian is taken in θ, so the mode must be the one in θ.
        best = MAP(self.starts, self.iterations, jacobian=True, effort=self.effort)
        mode = best.infer(target, rng, previous)
        return replace(mode, covariance=laplace(target, mode.thetas[0], self.effort))

    def within(self, effort: Effort) -> Laplace:
        return replace(self, effort=effort)


def _hessian(
    gradient: Callable[[Vector], Vector], theta: Vector, effort: Effort = UNLIMITED
) -> Matrix:
    """Symmetrised central differences of `gradient`; NaN where they are left out."""
    rows = np.full((len(theta), len(theta)), np.nan)
    for i in range(len(theta)):
        if effort.is_spent("rows of the Hessian of the hyperparameters"):
            break
        ahead, behind = theta.copy(), theta.copy()
        ahead[i] += STEP
        behind[i] -= STEP
        try:
            rows[i] = (gradient(ahead) - gradient(behind)) / (ahead[i] - behind[i])
        except ArithmeticError:  # the likelihood could not be computed there
            rows[i] = np.nan
    return (rows + rows.T) / 2
