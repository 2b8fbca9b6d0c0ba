"""Acquisitions of the information that a trial gives about the optimum.

`k` components, `S` sampled minima for each, `n` candidates, `m` points.
"""

from __future__ import annotations

__all__ = ["MaxValueEntropy", "sample_minima"]

from dataclasses import dataclass, field, replace
from math import log

import numpy as np

from outcrop.acquisition.base import Belief, Pointwise, each
from outcrop.acquisition.formulas import STD_FLOOR, Derived, information_about_minimum
from outcrop.errors import ModelError, ShapeError
from outcrop.special import ndtr
from outcrop.typing import Matrix, Points, Rng, Vector

# Least distance of a minimum below the incumbent, in the units of the model: five of the standard
# deviations 1e-4 that stand for "no noise". Without it the incumbent itself, which is known and as
# low as the sampled minimum, would have an information of log 2.
MARGIN = 5e-4
PRECISION = 1e-3  # of a quartile, in interquartile ranges; the Gumbel fits no better than that
HALVINGS = 60  # at most: then the bracket is rounding
QUARTILES = np.array([0.75, 0.5, 0.25])  # of Pr[min > y], so y rises


@dataclass(frozen=True, eq=False)
class MaxValueEntropy(Pointwise):
    """Max-value entropy search, for minima and without noise [Wang & Jegelka 2017].

    The mean, over sampled minima, of the information that f(x) gives about them. The name is that
    of the paper; here the lowest value is sampled.
    """

    samples: int = 16
    minima: Matrix | None = field(default=None, repr=False)  # (k, S), or (1, S) for all
    non_negative = True

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ModelError(
                f"MaxValueEntropy(samples={self.samples!r}): expected at least 1, such as 16"
            )
        if self.minima is not None and (np.ndim(self.minima) != 2 or not np.size(self.minima)):
            raise ShapeError(
                f"expected minima (k, S) with one row per component, got {np.shape(self.minima)}"
            )

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> MaxValueEntropy:
        if self.minima is not None:
            return self
        mean, var = each(posterior).predict_each(candidates)
        drawn = sample_minima(mean, np.sqrt(var), rng, self.samples)
        cap = np.asarray(incumbent, dtype=float).reshape(-1, 1) - MARGIN
        return replace(self, minima=np.minimum(drawn, cap))

    def pointwise(self, mean: Matrix, std: Matrix) -> Derived:
        if self.minima is None:
            raise ModelError(
                "MaxValueEntropy(minima=None) has no sampled minima; evaluate what its "
                "`prepare` returns"
            )
        if len(self.minima) not in (1, len(mean)):
            raise ShapeError(
                f"expected one row of minima for each of {len(mean)} components, "
                f"got {len(self.minima)}"
            )
        value, mean_bar, std_bar = information_about_minimum(
            mean[:, None], std[:, None], self.minima[:, :, None]
        )
        return value.mean(1), mean_bar.mean(1), std_bar.mean(1)


def sample_minima(mean: Matrix, std: Matrix, rng: Rng, samples: int) -> Matrix:
    """Lowest values over `(k, n)` predictions, drawn from a Gumbel fitted per component, `(k, S)`.

    Candidates are taken as independent, Pr[min > y] ≈ Πᵢ Φ((meanᵢ − y)/stdᵢ); the Gumbel has that
    median and interquartile range [ibid., section 3.1]. One draw falls into each `samples`-th part
    of its distribution, which makes the mean over few draws steadier.
    """
    if mean.ndim != 2 or not mean.shape[1]:
        raise ShapeError(f"expected predictions (k, n) at one candidate or more, got {mean.shape}")
    low, middle, high = _quartiles(mean, np.maximum(std, STD_FLOOR)).T
    # Pr[min > y] = exp(−exp((y − location)/scale)).
    scale = np.maximum(high - low, 0.0) / (log(log(4)) - log(log(4 / 3)))
    location = middle - scale * log(log(2))
    share = (np.arange(samples) + rng.random((len(mean), samples))) / samples
    share = np.clip(share, 1e-12, 1 - 1e-12)
    return location[:, None] + scale[:, None] * np.log(-np.log(share))


def _quartiles(mean: Matrix, std: Matrix) -> Matrix:
    """Where Pr[min > y] is each of `QUARTILES`, by bisection, `(k, 3)`."""
    # Pr[min ≤ low] ≤ n Φ(−7) < 1/4 for any n below 1e11, and Pr[min > high] ≤ Φ(−2) < 1/4.
    low = np.repeat((mean - 7 * std).min(1)[:, None], 3, axis=1)
    high = np.repeat((mean + 2 * std).min(1)[:, None], 3, axis=1)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        survival = ndtr((mean[:, None] - middle[:, :, None]) / std[:, None]).prod(2)
        below = survival > QUARTILES
        low, high = np.where(below, middle, low), np.where(below, high, middle)
        if (high - low <= PRECISION * (low[:, 2:] - low[:, :1])).all():
            break
    return 0.5 * (low + high)
