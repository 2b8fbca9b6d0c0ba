"""Elliptical slice sampling of a block that is a priori standard normal.

Each step draws a second point of the prior, which with the present one spans an ellipse that the
prior leaves invariant, and slice samples the angle on it [Murray, Adams & MacKay 2010, figure 2].
There is no step size to choose.
"""

from __future__ import annotations

__all__ = ["elliptical_chain", "elliptical_step"]

from math import cos, log1p, pi, sin

import numpy as np

from outcrop.errors import ModelError
from outcrop.inference.target import LogDensity, SampledDensity, guarded
from outcrop.typing import Matrix, Rng, Vector

SMALLEST_ARC = 1e-12  # below it a proposal is the present point up to rounding


def elliptical_step(
    block: Vector, log_likelihood: LogDensity, rng: Rng, log_value: float | None = None
) -> tuple[Vector, float, int]:
    """One move of `block`: the new block, its log likelihood, and the evaluations it took.

    `log_value` is the log likelihood of `block`; without it, it is evaluated.

    >>> rng = np.random.default_rng(0)
    >>> block, log_value, evaluations = elliptical_step(np.zeros(3), lambda z: float(-z @ z), rng)
    >>> block.shape, log_value == float(-block @ block)
    ((3,), True)
    """
    evaluations = 0
    if log_value is None:
        log_value = log_likelihood(block)
        evaluations = 1
    other = rng.standard_normal(len(block))
    level = log_value + log1p(-rng.random())
    angle = 2 * pi * rng.random()
    low, high = angle - 2 * pi, angle
    while high - low > SMALLEST_ARC:
        proposal: Vector = cos(angle) * block + sin(angle) * other
        value = log_likelihood(proposal)
        evaluations += 1
        if value > level:
            return proposal, value, evaluations
        if angle < 0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * rng.random()
    return block, log_value, evaluations


def elliptical_chain(
    target: SampledDensity, rng: Rng, n: int, start: Vector | None = None, burn_in: int = 0
) -> Matrix:
    """A chain `(n, dim)` of a target all of whose coordinates are `gaussian`.

    It starts at `start`, or else at a draw of the prior.
    """
    if not np.all(target.gaussian):
        raise ModelError(
            f"expected every coordinate to be gaussian, got {np.asarray(target.gaussian)}: "
            "use slice_chain, which alternates both kinds of move"
        )
    likelihood = guarded(target.log_likelihood)
    chain = np.empty((n, target.dim))
    with np.errstate(all="ignore"):
        theta = target.sample_prior(rng, 1)[0] if start is None else np.array(start, dtype=float)
        log_value = likelihood(theta)
        for i in range(-burn_in, n):
            theta, log_value, _ = elliptical_step(theta, likelihood, rng, log_value)
            if i >= 0:
                chain[i] = theta
    return chain
