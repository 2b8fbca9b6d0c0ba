"""How probable values are if what a monotone map makes of them is a Gaussian process.

Several maps of the same values are compared, so a coarse model is enough: an isotropic Matérn-5/2
process with the likeliest mean and amplitude, and the best of a few lengthscales and noises.
"""

from __future__ import annotations

__all__ = ["log_evidences"]

import numpy as np

from outcrop.linalg import cholesky, solve_lower
from outcrop.typing import Matrix, Points, Vector

LENGTHSCALES = (0.1, 0.2, 0.4, 0.8, 1.6)  # of root mean square differences per column
NOISES = (1e-6, 1e-2)  # in units of the amplitude


def log_evidences(X: Points, mapped: Matrix, log_slopes: Vector) -> Vector:
    """The log density of values at `X` under each of several maps, `(maps,)`, up to a constant.

    `mapped` is `(maps, n)`; `log_slopes` are sums over the values of the logarithm of the slope of
    each map. Codes of categories that differ have the distance of opposite bounds.
    """
    n, d = X.shape
    square = sum(np.minimum(np.abs(x[:, None] - x), 1.0) ** 2 for x in X.T) / d
    right_sides = np.asfortranarray(np.vstack([np.ones(n), mapped]).T)
    best = np.full(len(mapped), -np.inf)
    for lengthscale in LENGTHSCALES:
        s = np.sqrt(5 * square) / lengthscale
        K = (1 + s + s**2 / 3) * np.exp(-s)
        for noise in NOISES:
            chol, _ = cholesky(K + noise * np.eye(n))
            white = solve_lower(chol, right_sides)
            one, values = white[:, 0], white[:, 1:]
            values = values - np.outer(one, one @ values / (one @ one))  # of the likeliest mean
            amplitudes = (values**2).mean(0)
            log_root = np.log(np.diagonal(chol)).sum()
            best = np.maximum(best, -0.5 * n * np.log(amplitudes) - log_root)
    return best + log_slopes
