"""Scores of candidates on the folds of a cross-validation, as effects and residuals.

Notation: `scores` are `(n, K)`, n candidates on K folds. They are modelled as

    score[i, k] = mean[i] + effect[k] + residual[i, k],    Σₖ effect[k] = 0,

with independent residuals of one variance. Folds differ in difficulty, alike for all candidates, so
the spread of a candidate over folds says little about how well its mean is known: its noise is that
of the residuals alone, with variance `variance / K`.

Candidates that are far from the best do not follow this model: a constant prediction fails on other
samples than a good one. They would inflate the variance that matters, that among good candidates.
"""

from __future__ import annotations

__all__ = ["FoldEffects", "better_half"]

from dataclasses import dataclass

import numpy as np
from scipy import stats

from outcrop.typing import Matrix, Vector


@dataclass(frozen=True)
class FoldEffects:
    """The effects of folds and the variance of residuals; made by `FoldEffects.of`."""

    effects: Vector  # (K,)
    variance: float
    candidates: int  # that it was estimated from
    freedom: int  # degrees of freedom of the variance

    @classmethod
    def of(cls, scores: Matrix) -> FoldEffects | None:
        """The least-squares fit to finite scores; None without two candidates and two folds."""
        n, K = scores.shape
        freedom = (n - 1) * (K - 1)
        if freedom < 1:
            return None
        effects = scores.mean(0) - scores.mean()
        residuals = scores - scores.mean(1, keepdims=True) - effects
        return cls(effects, float((residuals**2).sum() / freedom), n, freedom)

    def mean(self, scores: Vector) -> float:
        """The expected mean over all folds of a candidate with scores on the first ones."""
        return float(np.mean(scores - self.effects[: len(scores)]))

    def std(self, folds: int) -> float:
        """The standard deviation of a candidate's mean, if it was evaluated on so many folds."""
        return float(np.sqrt(self.variance / folds))

    def chance(self, scores: Vector, best: float) -> float:
        """The probability that the mean over all folds will exceed `best`.

        Given scores on the first j folds and no other knowledge of the candidate, its mean over all
        K folds is Student-distributed around `mean(scores)`, with the squared scale

            variance (1/j − 1/K) (1 + 1/n);

        the last factor is for the effects, which are estimated from n candidates.
        """
        j, K = len(scores), len(self.effects)
        scale = np.sqrt(self.variance * (1 / j - 1 / K) * (1 + 1 / self.candidates))
        lead = self.mean(scores) - best
        if scale == 0.0:
            return float(lead > 0)
        return float(stats.t.cdf(lead / scale, self.freedom))


def better_half(scores: Matrix, least: int) -> Matrix:
    """The rows with the best means, half of them but at least `least`."""
    count = max(least, len(scores) - len(scores) // 2)
    return scores[np.argsort(-scores.mean(1), kind="stable")[:count]]
