"""How well a belief predicted values that it did not know yet.

The sum of one-step log densities is the evidence for a model [Dawid 1984]. Densities here are of
values in standardised units, which all models of one study share, so that differences between
models are the same in the objective's units.
"""

from __future__ import annotations

__all__ = ["SeesNewObservations", "log_densities"]

from math import pi
from typing import Protocol, runtime_checkable

import numpy as np

from outcrop.data import Observations
from outcrop.surrogates.base import noise_at
from outcrop.surrogates.mixture import Mixture
from outcrop.typing import Matrix, Points, Vector


@runtime_checkable
class SeesNewObservations(Protocol):
    """A posterior under which a new observation is more than the objective and its noise."""

    def new_observations(self, X: Points) -> tuple[Vector, Matrix, Matrix]:
        """Weights `(q,)`, means and variances `(q, m)` of a mixture for each row of `X`."""
        ...


def log_densities(belief: Mixture, data: Observations, resolution: float) -> Vector:
    """The log density of each value of `data`, noise included, under a belief without them.

    Errors of predictions that are much smaller than `resolution`, a standard deviation in the units
    of the data's, count as none.
    """
    logs = []
    for part, weight in zip(belief.components, belief.weights, strict=True):
        if isinstance(part, SeesNewObservations):
            shares, mean, var = part.new_observations(data.X)
        else:
            shares, (mean, var) = np.ones(1), part.predict(data.X)  # few points: not worth a stack
        var = var + resolution**2 + (0.0 if data.noise is None else data.noise)
        var += noise_at(part, data.X)
        each = -0.5 * ((data.y - mean) ** 2 / var + np.log(2 * pi * var))
        logs.append(np.atleast_2d(each) + np.log(weight * shares)[:, None])
    return np.logaddexp.reduce(np.vstack(logs), axis=0)
