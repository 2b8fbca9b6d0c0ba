"""The probability that an evaluation succeeds, learnt from successes and failures.

Gaussian processes on labels (+1 success, −1 failure), with sampled hyperparameters as for the
objective, give the probability of success

    P(x) = mean over components of Φ(m(x) / √(v(x) + noise))

Multiplying an acquisition by P is not enough: its logarithm spans hundreds of units and log P a
few. So the search is first restricted to P ≥ 0.9 of the best candidate's, then log P is added.
"""

from __future__ import annotations

__all__ = ["Feasibility", "Restricted"]

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.effort import UNLIMITED, Effort
from outcrop.inference import Slice
from outcrop.kernels import Kernel
from outcrop.maximise import Function
from outcrop.special import ndtr
from outcrop.surrogates import GP, Inferred, Mixture
from outcrop.typing import Points, Rng, Vector

LABEL_NOISE = 0.1  # variance: labels near the border of a region need not be separable
INFERENCE = Slice(chains=4)
SHARE = 0.9  # of the best candidate's probability that a point must have
OUTSIDE = -1e15  # below any log acquisition: a point outside loses to every point inside
SQRT_2PI = float(np.sqrt(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Feasibility:
    """A model of the probability that an evaluation succeeds."""

    labels: Mixture

    @classmethod
    def fit(
        cls,
        succeeded: Points,
        failed: Points,
        kernel: Kernel,
        rng: Rng,
        previous: Mapping[str, Any] | None = None,
        effort: Effort = UNLIMITED,
        cuts: tuple[int, ...] = (),
    ) -> Feasibility:
        """Fitted to encoded points; `previous` is the `labels.state` of an earlier fit.

        Many points are put in boxes, cut across the columns `cuts`.
        """
        labels = np.concatenate([np.ones(len(succeeded)), -np.ones(len(failed))])
        data = Observations(np.vstack([succeeded, failed]), labels)
        surrogate = Inferred(GP(kernel, noise=LABEL_NOISE), INFERENCE.within(effort), cuts=cuts)
        return cls(surrogate.fit(data, rng, previous))

    def log_probability(self, X: Points) -> Vector:
        """log P of success at each row of `X`."""
        mean, var = self.labels.predict_each(X)
        return np.log(self.labels.weights @ ndtr(mean / np.sqrt(var + LABEL_NOISE)))

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        mean, var, pull = self.labels.predict_each_with_pullback(X)
        total = var + LABEL_NOISE
        z = mean / np.sqrt(total)
        p = self.labels.weights @ ndtr(z)
        slope = self.labels.weights[:, None] * np.exp(-0.5 * z**2) / (SQRT_2PI * p)  # d log P / dz
        return np.log(p), pull(slope / np.sqrt(total), -0.5 * slope * z / total)


@dataclass(frozen=True, eq=False)
class Restricted:
    """A function restricted to points where evaluations are likely to succeed."""

    function: Function
    feasibility: Feasibility
    threshold: float  # of log P
    weighs: bool = True  # whether log P is added: only to a function that is itself a logarithm

    @classmethod
    def to_likely(
        cls, function: Function, feasibility: Feasibility, X: Points, weighs: bool = True
    ) -> Restricted:
        """Restricted to `SHARE` of the largest probability among the rows of `X`."""
        threshold = float(feasibility.log_probability(X).max() + np.log(SHARE))
        return cls(function, feasibility, threshold, weighs)

    def __call__(self, X: Points) -> Vector:
        log_p = self.feasibility.log_probability(X)
        return self.function(X) + self._change(log_p)

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        log_p, slope = self.feasibility.with_gradient(X)
        value, gradient = self.function.with_gradient(X)
        return value + self._change(log_p), gradient + self.weighs * slope

    def _change(self, log_p: Vector) -> Vector:
        return self.weighs * log_p + np.where(log_p >= self.threshold, 0.0, OUTSIDE)
