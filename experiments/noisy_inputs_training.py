"""Hyperparameters of the full unscented process as the thesis trains them, on one parameter.

The objective is the weighted sum of the log likelihoods of all moved data sets, eq. 3.61. With the
thesis's weights, which are large and of both signs, it is a second difference of the likelihood:
the expected log likelihood up to second order in the moves, which has no upper bound in general.
Here it is climbed from the hyperparameters of the plain process, within the bounds of all models.
"""

from __future__ import annotations

__all__ = ["retrained", "weighted_log_likelihood"]

from dataclasses import replace
from typing import Any

import numpy as np

from experiments.noisy_inputs import LENGTHSCALE, VALUE_NOISE, VARIANCE
from outcrop.data import Observations
from outcrop.kernels import RBF, Scaled
from outcrop.surrogates.noisy.unscented import Unscented
from outcrop.typing import Matrix, Vector

LOW, HIGH = np.log([(p.low, p.high) for p in (VARIANCE, LENGTHSCALE, VALUE_NOISE)]).T
FARTHER = (0.0, 3.0, 6.0)  # starts: the logarithm of the noise variance, above the plain one
JITTER = 1e-10  # of the variance
OUTSIDE = 1e9
OPTIONS = {"maxiter": 600, "xatol": 1e-3, "fatol": 1e-3}


def retrained(plain: Any, data: Observations, spread: float, transform: Unscented) -> Any:
    """The plain process with hyperparameters that the weighted sum prefers, given the data."""
    from scipy.optimize import minimize

    kernel = plain.model.kernel
    start = np.log(
        [float(kernel.variance), float(kernel.kernel.lengthscales[0]), plain.model.noise]
    )

    def cost(theta: Vector) -> float:
        if (theta < LOW).any() or (theta > HIGH).any():
            return OUTSIDE
        return -weighted_log_likelihood(theta, data, spread, transform)

    starts = [np.clip(start + np.array([0.0, 0.0, up]), LOW, HIGH) for up in FARTHER]
    found = [minimize(cost, each, method="Nelder-Mead", options=OPTIONS) for each in starts]
    best = min(found, key=lambda each: float(each.fun))
    variance, scale, noise = np.exp(best.x)
    kernel = Scaled(float(variance), RBF(np.array([scale])))
    return replace(plain.model, kernel=kernel, noise=float(noise)).condition(data)


def weighted_log_likelihood(
    theta: Vector, data: Observations, spread: float, transform: Unscented
) -> float:
    """The sum for ln variance, ln lengthscale and ln noise variance; −∞ where a matrix fails."""
    x = data.X[:, 0]
    shifts = transform.shifts(spread * np.eye(len(x)))
    each = _log_likelihoods(theta, np.vstack([x, x + shifts]), data.y)
    if not np.isfinite(each).all():
        return -np.inf
    weight = transform.weight(len(x))
    return float(each[0] + weight * (each[1:] - each[0]).sum())


def _log_likelihoods(theta: Vector, points: Matrix, y: Vector) -> Vector:
    """Of `y` at each row of `points` `(sets, n)`."""
    variance, scale, noise = np.exp(theta)
    squares = (points[:, :, None] - points[:, None, :]) ** 2
    K = variance * np.exp(-0.5 * squares / scale**2)
    K += (noise + JITTER * variance) * np.eye(len(y))
    try:
        L = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return np.full(len(points), -np.inf)
    z = np.linalg.solve(L, np.broadcast_to(y, points.shape)[..., None])[..., 0]
    log_root = np.log(np.diagonal(L, axis1=1, axis2=2)).sum(1)
    return np.asarray(-0.5 * (z**2).sum(1) - log_root - 0.5 * len(y) * np.log(2 * np.pi))
