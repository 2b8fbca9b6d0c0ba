"""Whether values are exact or noisy, by how well the models of a mixture explain them.

If it is unknown whether values have noise, a mixture holds models without noise and models that
learn it, half and half (`Situation.over_noise`). That serves a search: it explores as if values
were exact and still mistrusts a lucky one. To name the best configuration more can be said: unless
models with noise explain the values clearly better, the best value is the best configuration.
"""

from __future__ import annotations

__all__ = ["weighed_by_noise"]

from dataclasses import replace
from math import exp

import numpy as np

from outcrop.surrogates.gp import GPPosterior
from outcrop.surrogates.mixture import Mixture
from outcrop.typing import Vector

CLEAR = 5.0  # nats by which models with noise lead where both answers are equally probable
SOFTNESS = 3.0  # nats by which the log odds change by 1
EXACT_SHARE = 0.4  # of exact models if there is noise: a part of it may be structure after all


def weighed_by_noise(mixture: Mixture) -> Mixture:
    """`mixture` with models weighed by the probability that values are exact.

    If they are, only processes that pass through the values count; if not, exact models have the
    weight `EXACT_SHARE`. Processes with latents do not pass through the values, and their
    likelihoods, which are given the latents, are not compared. A mixture that does not hold both
    kinds of process, or holds anything else, stays as it is.
    """
    parts = [part for part in mixture.components if isinstance(part, GPPosterior)]
    if len(parts) < len(mixture):
        return mixture
    is_exact = np.array([_is_exact(part) for part in parts])
    is_plain = np.array([type(part) is GPPosterior for part in parts])
    through, around = is_exact & is_plain, ~is_exact & is_plain
    if not through.any() or not around.any():
        return mixture
    weights = mixture.weights
    likelihoods = np.array([part.log_likelihood for part in parts])
    lead = _shares(weights * around) @ likelihoods - _shares(weights * through) @ likelihoods
    exact = 1 / (1 + exp(np.clip((lead - CLEAR) / SOFTNESS, -700, 700)))
    noisy = EXACT_SHARE * _shares(weights * is_exact)
    noisy += (1 - EXACT_SHARE) * _shares(weights * ~is_exact)
    return replace(mixture, weights=exact * _shares(weights * through) + (1 - exact) * noisy)


def _shares(weights: Vector) -> Vector:
    return weights / weights.sum()


def _is_exact(part: GPPosterior) -> bool:
    return part.is_exact(float(part.model.kernel.diag(part.data.X[:1])[0]))
