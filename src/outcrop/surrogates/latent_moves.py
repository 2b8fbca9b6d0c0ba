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
from scipy.linalg.lapack import dpotrf

from outcrop.linalg import solve_lower
from outcrop.typing import Mask, Matrix, Points, Rng, Vector

POOL = 16  # draws of the prior that compete with the present latents
MOST_MOVED = 64  # observations moved in one sweep, chosen at random

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
    others = np.ones(n, dtype=np.bool_)
    for i in rng.permutation(n)[:MOST_MOVED].tolist():
        pool = np.vstack([latents[i], rng.standard_normal((POOL, q))])
        cross = covariances(i, pool, latents)
        others[i] = False
        density = _log_density(K[i, i], K[others][:, others], cross[:, others], residual, others, i)
        others[i] = True
        if density is None:
            continue
        share = np.exp(density - density.max()).cumsum()
        chosen = int(np.searchsorted(share, rng.random() * share[-1]))
        if chosen:
            latents[i], variance = pool[chosen], K[i, i]
            K[i] = K[:, i] = cross[chosen]
            K[i, i] = variance
    return latents


def _log_density(
    variance: float, rest: Matrix, cross: Matrix, residual: Vector, others: Mask, i: int
) -> Vector | None:
    """log N(yᵢ; mᵢ, vᵢ) for each row of `cross`, up to a constant; None without a factor."""
    chol, trouble = dpotrf(rest, lower=1)
    if trouble:
        return None
    white = solve_lower(chol, np.vstack([cross, residual[others]]).T)
    V, w = white[:, :-1], white[:, -1]
    left = np.maximum(variance - np.einsum("nm,nm->m", V, V), np.finfo(float).eps * variance)
    return -0.5 * ((residual[i] - V.T @ w) ** 2 / left + np.log(left))
