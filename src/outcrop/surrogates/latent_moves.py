"""Gibbs moves of the latents of a process, one observation at a time.

Given all other observations, observation i has the density N(yᵢ; mᵢ(h), vᵢ(h)), a function of its
own latents h only. From a pool of draws of the prior and the present h one is chosen in proportion
to that density, which leaves the posterior invariant [Tjelmeland 2004; Andrieu et al. 2010]. Moves
of all latents together, as those of elliptical slice sampling, are rejected unless they are small:
every observation has to remain likely.
"""

from __future__ import annotations

__all__ = ["resampled"]

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from outcrop.typing import Matrix, Points, Rng, Vector

POOL = 16  # draws of the prior that compete with the present latents
MOST_MOVED = 32  # observations moved in one sweep, chosen at random

# Of observation i with each row of a pool as its latents, with all observations and theirs.
Covariances: TypeAlias = Callable[[int, Points, Points], Matrix]


def resampled(
    K: Matrix, covariances: Covariances, residual: Vector, latents: Points, rng: Rng
) -> Points:
    """The latents `(n, q)`, standard normal a priori, after one sweep.

    `K` is the covariance of the observations, noise included, and `residual` their values minus
    the mean.
    """
    K, latents = K.copy(), latents.copy()
    n, q = latents.shape
    order = rng.permutation(n)[:MOST_MOVED].tolist()
    pools = rng.standard_normal((len(order), POOL, q))
    lots = rng.random(len(order)).tolist()
    right_sides = np.empty((POOL + 2, n))  # present row of K, rows of the pool, residual
    for i, pool, lot in zip(order, pools, lots, strict=True):
        right_sides[0], right_sides[-1] = K[i], residual
        right_sides[1:-1] = covariances(i, pool, latents)
        density = _log_density(K, i, residual[i], right_sides)
        if density is None:
            continue
        shares = np.exp(density - density.max()).cumsum()
        chosen = int(np.searchsorted(shares, lot * shares[-1]))
        if chosen:
            latents[i], variance = pool[chosen - 1], K[i, i]
            K[i] = K[:, i] = right_sides[chosen]
            K[i, i] = variance
    return latents


def _log_density(K: Matrix, i: int, value: float, right_sides: Matrix) -> Vector | None:
    """log N(yᵢ; mᵢ, vᵢ) for each row but the last, up to a constant; None without a factor."""
    variance, rest = K[i, i], K.copy()
    rest[i] = rest[:, i] = 0.0  # as if observation i, which must not predict itself,
    rest[i, i] = 1.0  # were independent of all others
    right_sides = right_sides.copy()
    right_sides[:, i] = 0.0
    chol, trouble = dpotrf(rest.T, lower=1, clean=0, overwrite_a=1)
    if trouble:
        return None
    white = dtrtrs(chol, right_sides.T, lower=1, overwrite_b=1)[0].T
    V, w = white[:-1], white[-1]
    left = np.maximum(variance - np.einsum("mn,mn->m", V, V), np.finfo(float).eps * variance)
    return -0.5 * ((value - V @ w) ** 2 / left + np.log(left))
