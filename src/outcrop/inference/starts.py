"""Starting points of inference: previous draws with a finite density, else prior draws."""

from __future__ import annotations

__all__ = ["from_prior", "from_previous", "prior_widths"]

import logging

import numpy as np

from outcrop.effort import UNLIMITED, Effort
from outcrop.inference.target import Draws, LogDensity, SampledDensity
from outcrop.typing import Matrix, Rng, Vector

logger = logging.getLogger(__name__)

SCREENED = 8  # prior draws evaluated per start that is used
ROUNDS = 4  # repetitions while no draw has a finite density
WIDTH_DRAWS = 64  # prior draws behind a width; its sampling error is a few per cent
QUARTILE_RANGE = 1.349  # of a standard normal


def from_previous(target: SampledDensity, rng: Rng, previous: Draws) -> Matrix:
    """The previous points, their NaN entries filled from the prior."""
    thetas = np.array(previous.thetas, dtype=np.float64)
    unknown = np.isnan(thetas)
    if unknown.any():
        thetas[unknown] = target.sample_prior(rng, len(thetas))[unknown]
    return thetas


def from_prior(
    target: SampledDensity,
    log_density: LogDensity,
    rng: Rng,
    n: int,
    effort: Effort = UNLIMITED,
) -> tuple[Matrix, Vector]:
    """`n` prior draws selected by their likelihood, and their log densities.

    `log_density` is that of the posterior. Of `SCREENED · n` draws, `n` are taken without
    replacement in proportion to their likelihood: they are as diverse as the data allow, and poor
    draws are used only if no better ones exist. If fewer than `n` have a finite density those are
    repeated; if none has, the draws are returned as they are, with −inf. Once `effort` is spent and
    one has, no more are evaluated.
    """
    for _ in range(ROUNDS):
        thetas = np.asarray(target.sample_prior(rng, SCREENED * n), dtype=np.float64)
        values = np.full(len(thetas), -np.inf)
        for i, theta in enumerate(thetas):
            if np.isfinite(values[:i]).any() and effort.is_spent("prior draws of hyperparameters"):
                break
            values[i] = log_density(theta)
        alive = np.flatnonzero(np.isfinite(values))
        if len(alive) > 0:
            break
    else:
        logger.warning("no prior draw of %d has a finite density", ROUNDS * SCREENED * n)
        return thetas[:n], values[:n]
    weights = values[alive] - np.array([target.log_prior(theta) for theta in thetas[alive]])
    # The n largest of log weight + Gumbel noise are n draws without replacement.
    ranked = alive[np.argsort(-(weights + rng.gumbel(size=len(alive))))]
    chosen = np.resize(ranked, n)
    return thetas[chosen], values[chosen]


def prior_widths(target: SampledDensity, rng: Rng) -> Vector:
    """The prior's scale in each coordinate `(dim,)`: its interquartile range in normal units.

    Quartiles exist for every prior; a coordinate without spread gets 1.
    """
    lower, upper = np.quantile(target.sample_prior(rng, WIDTH_DRAWS), [0.25, 0.75], axis=0)
    widths: Vector = (upper - lower) / QUARTILE_RANGE
    return np.where(np.isfinite(widths) & (widths > 0), widths, 1.0)
