"""A Gaussian process that accounts for uncertain hyperparameters without sampling them.

The posterior of θ is taken to be Gaussian around its mode, N(θ̂, Σ), and the prediction to depend
on θ linearly [Garnett et al. 2014; Alvi 2019, eqs 6.2–6.6]. With Σ = A Aᵀ only derivatives along
the columns of A are needed, and those come from posteriors a small step to either side.
"""

from __future__ import annotations

__all__ = ["STEP", "MarginalPosterior"]

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from outcrop.errors import ModelError
from outcrop.surrogates.base import Posterior, PredictionPull, sampling
from outcrop.typing import Matrix, Points, Rng, Vector

STEP = 1e-4  # of a column of A: truncation (h²) and rounding (1e-12 / h) are both near 1e-8


@dataclass(frozen=True, eq=False)
class MarginalPosterior:
    """The mean at θ̂, and a variance that includes the effect of the uncertainty of θ.

    With ∂ along the columns of A, `variance="thesis"` is 4/3 V + |∂m|² + |∂V|²/(3V), and `"moment"`
    is V + |∂m|²: the form of the thesis keeps 4/3 of the variance even when θ is certain.
    """

    centre: Posterior
    ahead: tuple[Posterior, ...]  # at θ̂ + h · column
    behind: tuple[Posterior, ...]  # at θ̂ − h · column
    variance: Literal["thesis", "moment"] = "thesis"

    def __post_init__(self) -> None:
        if self.variance not in ("thesis", "moment"):
            raise ModelError(f'variance={self.variance!r}: expected "thesis" or "moment"')

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        mean, var, _ = self.predict_with_pullback(X)
        return mean, var

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        mean, var, pull = self.centre.predict_with_pullback(X)
        ahead = [part.predict_with_pullback(X) for part in self.ahead]
        behind = [part.predict_with_pullback(X) for part in self.behind]
        slopes = self._slopes(ahead, behind, 0, len(X))
        if self.variance == "moment":
            curves, share, own = np.zeros_like(slopes), np.zeros_like(var), 1.0
        else:
            curves, share, own = self._slopes(ahead, behind, 1, len(X)), 1 / (3 * var), 4 / 3
        spread = (curves**2).sum(0)

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            X_bar = pull(mean_bar, var_bar * (own - spread * share / var))
            slope_bars, curve_bars = var_bar * slopes / STEP, var_bar * share * curves / STEP
            for i, (one, other) in enumerate(zip(ahead, behind, strict=True)):
                X_bar = X_bar + one[2](slope_bars[i], curve_bars[i])
                X_bar = X_bar - other[2](slope_bars[i], curve_bars[i])
            return X_bar

        return mean, own * var + (slopes**2).sum(0) + share * spread, pull_back

    def condition(self, X: Points, y: Vector) -> MarginalPosterior:
        """Every part once `y` is also believed at `X`; the belief about θ stays as it was."""
        return replace(
            self,
            centre=self.centre.condition(X, y),
            ahead=tuple(part.condition(X, y) for part in self.ahead),
            behind=tuple(part.condition(X, y) for part in self.behind),
        )

    def incumbent(self) -> float:
        return self.centre.incumbent()

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """Joint draws `(n, m)`: those of the centre, stretched to the marginal variance."""
        mean, var = self.centre.predict(X)
        return mean + (sampling(self.centre).sample(X, rng, n) - mean) * np.sqrt(
            self.predict(X)[1] / var
        )

    @staticmethod
    def _slopes(ahead: list, behind: list, which: int, m: int) -> Matrix:  # type: ignore[type-arg]
        """Central differences of means (0) or variances (1), one row per column of A."""
        differences = [one[which] - other[which] for one, other in zip(ahead, behind, strict=True)]
        return np.reshape(differences, (len(ahead), m)) / (2 * STEP)
