"""Convergence of chains, and the number of independent draws that they are worth.

`chains` is `(m, n)`, or `(m, n, dim)`: m chains of n draws each. Results have the trailing shape:
`()` or `(dim,)`. Chains are cut in halves first, so that the halves of a drifting
chain differ [Vehtari et al. 2021, sections 3 and 4].
"""

from __future__ import annotations

__all__ = ["effective_sample_size", "rank_normalise", "split_r_hat"]

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import ShapeError
from outcrop.typing import Vector

Chains = NDArray[np.float64]
SHORTEST = 4  # draws per chain: a variance needs two in each half


def effective_sample_size(chains: Chains) -> Vector:
    """Number of independent draws whose mean is as uncertain as the chains' mean.

    Autocorrelations of all chains are combined [Gelman et al. 2013, section 11.5] and summed over
    Geyer's [1992] initial positive, monotone sequence of pairs. Never more than N log₁₀ N for N
    draws in all. If no chain moves, each is worth one draw.

    >>> chains = np.random.default_rng(0).normal(size=(4, 1000, 2))
    >>> (effective_sample_size(chains) > 3000).all()
    np.True_
    """
    halves, count = _halves(chains), np.shape(chains)[0]
    m, n, dim = halves.shape
    sizes = np.empty(dim)
    within, total = _variances(halves)
    for j in range(dim):
        if within[j] == 0:
            sizes[j] = count
            continue
        covariances = _autocovariances(halves[:, :, j]).mean(axis=0)
        correlations = 1 - (within[j] - covariances * n / (n - 1)) / total[j]
        correlations[0] = 1.0
        pairs = correlations[: n - n % 2].reshape(-1, 2).sum(axis=1)
        positive = pairs[: np.argmin(pairs > 0)] if (pairs <= 0).any() else pairs
        time = -1 + 2 * np.minimum.accumulate(positive).sum()
        sizes[j] = m * n / max(time, 1 / np.log10(m * n))
    return sizes.reshape(np.shape(chains)[2:])


def split_r_hat(chains: Chains) -> Vector:
    """Ratio of the standard deviation of all draws to that within half-chains; 1 when mixed.

    For heavy tails apply it to `rank_normalise(chains)`. Chains that never move give 1 if they
    agree and ∞ if they do not.

    >>> stuck = np.stack([np.full(100, 1.0), np.full(100, 2.0)])
    >>> float(split_r_hat(stuck))
    inf
    """
    within, total = _variances(_halves(chains))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(total / within)
    return np.where(total == 0, 1.0, ratio).reshape(np.shape(chains)[2:])


def rank_normalise(chains: Chains) -> Chains:
    """Each draw replaced by the normal quantile of its rank among all draws of its coordinate.

    Ties share their mean rank; quantiles are at (rank − 3/8) / (N + 1/4) [Blom 1958].
    """
    from scipy.special import ndtri  # here, because scipy is not needed to import the package

    draws = _checked(chains)
    m, n, dim = draws.shape
    scores = np.empty((m * n, dim))
    for j in range(dim):
        _, place, counts = np.unique(draws[:, :, j], return_inverse=True, return_counts=True)
        ranks = np.cumsum(counts) - (counts - 1) / 2
        scores[:, j] = ndtri((ranks[place.ravel()] - 0.375) / (m * n + 0.25))
    return scores.reshape(np.shape(chains))


def _checked(chains: Chains) -> Chains:
    """`chains` as `(m, n, dim)`."""
    draws = np.asarray(chains, dtype=np.float64)
    if draws.ndim not in (2, 3) or draws.shape[0] == 0 or draws.shape[1] < SHORTEST:
        raise ShapeError(
            f"expected chains (m, n) or (m, n, dim) with m ≥ 1 and n ≥ {SHORTEST}, got "
            f"{draws.shape}: put chains first and draws second, and draw more if there are too few"
        )
    return draws[:, :, None] if draws.ndim == 2 else draws


def _halves(chains: Chains) -> Chains:
    """`(2m, n // 2, dim)`; of an odd number of draws the first is left out."""
    draws = _checked(chains)
    half = draws.shape[1] // 2
    draws = draws[:, draws.shape[1] - 2 * half :]
    return np.concatenate([draws[:, :half], draws[:, half:]])


def _variances(halves: Chains) -> tuple[Vector, Vector]:
    """Variance within chains, and the pooled estimate within and between them; `(dim,)`."""
    n = halves.shape[1]
    # Exactly zero for constant chains, whose mean may round to another number.
    moved = (halves != halves[:, :1]).any(axis=1)
    within = np.where(moved, halves.var(axis=1, ddof=1), 0.0).mean(axis=0)
    means = np.where(moved, halves.mean(axis=1), halves[:, 0])
    between = np.where((means == means[:1]).all(axis=0), 0.0, means.var(axis=0, ddof=1))
    return within, (n - 1) / n * within + between


def _autocovariances(draws: Chains) -> Chains:
    """Biased autocovariances at lags 0 … n − 1 of each row of `(m, n)`, by Fourier transform."""
    n = draws.shape[1]
    spectrum = np.fft.rfft(draws - draws.mean(axis=1, keepdims=True), n=2 * n, axis=1)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, n=2 * n, axis=1)[:, :n] / n)
