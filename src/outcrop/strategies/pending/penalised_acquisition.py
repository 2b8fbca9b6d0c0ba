"""An acquisition times a penalty near busy points.

In a mixture each component has its own penalty, which multiplies its score before the mean over
components is taken. On a log scale the logarithm of the penalty is added. A score of the mixture as
a whole is multiplied by the mean of the penalties.
"""

from __future__ import annotations

__all__ = ["Penalised"]

from dataclasses import dataclass, replace

import numpy as np

from outcrop.acquisition import Acquisition, Pointwise
from outcrop.acquisition.base import Belief, averaged, deviation, each
from outcrop.strategies.pending.penalty_factors import Penalty
from outcrop.strategies.tree_search import TopBranches
from outcrop.typing import Matrix, Points, Rng, Vector

ABOVE = 1e-3  # where an offset puts the lowest score


@dataclass(frozen=True, eq=False)
class Penalised(Acquisition):
    """`acquisition` times `penalty`.

    A factor below 1 would raise a negative score, so scores of an acquisition that does not declare
    itself `non_negative` are made positive first: `positivity` is "softplus", log(1 + exp(a)), or
    "offset", a − min a over the candidates, where `lowest` is that minimum, filled by `prepare`.
    """

    acquisition: Acquisition
    penalty: Penalty
    positivity: str = "softplus"
    lowest: Matrix | float = 0.0  # (k, 1), or (1, 1) for a score of the mixture as a whole

    @property
    def logarithmic(self) -> bool:  # type: ignore[override]
        return self.acquisition.logarithmic

    @property
    def label(self) -> str:
        return f"penalised {type(self.acquisition).__name__}"

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Acquisition:
        inner = self.acquisition.prepare(posterior, incumbent, candidates, rng, step)
        if isinstance(inner, TopBranches):  # the restriction to leaves stays outside the penalty
            return replace(inner, acquisition=replace(self, acquisition=inner.acquisition))
        ready = replace(self, acquisition=inner)
        if ready._needs_positivity and self.positivity == "offset":
            return replace(ready, lowest=ready._values(posterior, candidates).min(1)[:, None])
        return ready

    def __call__(self, posterior: Belief, X: Points) -> Vector:
        log_penalty, scores = self.penalty.log(X), self._values(posterior, X)
        weights = each(posterior).weights
        if self._pointwise is None:
            mean_penalty, _ = averaged(log_penalty, weights, logarithmic=True)
            return self._lowered(scores, mean_penalty[None])[0][0]
        values, _, _ = self._lowered(scores, log_penalty)
        return averaged(values, weights, self.logarithmic)[0]

    def with_gradient(self, posterior: Belief, X: Points) -> tuple[Vector, Points]:
        log_penalty, penalty_pull = self.penalty.log_with_pullback(X)
        belief = each(posterior)
        if self._pointwise is None:
            mean_penalty, share = averaged(log_penalty, belief.weights, logarithmic=True)
            score, gradient = self.acquisition.with_gradient(posterior, X)
            value, score_bar, penalty_bar = self._lowered(score[None], mean_penalty[None])
            gradient = score_bar[0][:, None] * gradient + penalty_pull(share * penalty_bar)
            return value[0], gradient
        mean, var, pull = belief.predict_each_with_pullback(X)
        std = deviation(var)
        scores, mean_bar, std_bar = self._pointwise.pointwise(mean, std)
        values, score_bar, penalty_bar = self._lowered(scores, log_penalty)
        value, share = averaged(values, belief.weights, self.logarithmic)
        bar = share * score_bar
        gradient = pull(bar * mean_bar, bar * std_bar / (2 * std))
        return value, gradient + penalty_pull(share * penalty_bar)

    @property
    def _pointwise(self) -> Pointwise | None:
        """The acquisition if it scores components one by one."""
        return self.acquisition if isinstance(self.acquisition, Pointwise) else None

    @property
    def _needs_positivity(self) -> bool:
        return not (self.logarithmic or self.acquisition.non_negative)

    def _values(self, posterior: Belief, X: Points) -> Matrix:
        """Scores under each component `(k, m)`, or of the mixture as a whole `(1, m)`."""
        if self._pointwise is None:
            return self.acquisition(posterior, X)[None]
        mean, var = each(posterior).predict_each(X)
        return self._pointwise.pointwise(mean, deviation(var))[0]

    def _lowered(self, scores: Matrix, log_penalty: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Penalised scores, and their derivatives in both, all of one shape."""
        if self.logarithmic:
            return scores + log_penalty, np.ones_like(scores), np.ones_like(scores)
        factor = np.exp(log_penalty)
        positive, slope = self._positive(scores)
        return positive * factor, slope * factor, positive * factor

    def _positive(self, scores: Matrix) -> tuple[Matrix, Matrix]:
        """Scores made positive, and their derivatives in the original scores."""
        if not self._needs_positivity:
            return scores, np.ones_like(scores)
        if self.positivity == "offset":
            raised = scores - self.lowest + ABOVE
            return np.maximum(raised, 0.0), np.where(raised > 0, 1.0, 0.0)
        positive = np.logaddexp(0.0, scores)
        return positive, np.exp(scores - positive)
