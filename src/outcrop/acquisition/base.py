"""The interface of acquisitions, and a base for those that are a formula in mean and deviation.

`k` components of a mixture, `m` points `X` of `(m, d)`. A belief is a posterior or a weighted
mixture of posteriors; only its predictions are used here. Over a mixture an acquisition is the
weighted mean of its values under the components; on a log scale the mean is taken before the
logarithm. Acquisitions that score the disagreement of components exceed that mean (`averages` is
False).
"""

from __future__ import annotations

__all__ = [
    "Acquisition",
    "Pointwise",
    "Belief",
    "OfComponents",
    "Predicts",
    "PredictsEach",
    "averaged",
    "deviation",
    "each",
]

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias, cast

import numpy as np

from outcrop.acquisition.formulas import STD_FLOOR, Derived
from outcrop.effort import Effort
from outcrop.typing import Matrix, Points, PredictionPull, Rng, Vector


class Predicts(Protocol):
    """A single posterior."""

    def predict(self, X: Points) -> tuple[Vector, Vector]: ...

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]: ...


class PredictsEach(Protocol):
    """A mixture of posteriors; means and variances are `(k, m)`."""

    @property
    def weights(self) -> Vector: ...

    def predict_each(self, X: Points) -> tuple[Matrix, Matrix]: ...

    def predict_each_with_pullback(self, X: Points) -> tuple[Matrix, Matrix, PredictionPull]: ...


Belief: TypeAlias = Predicts | PredictsEach


class Acquisition(ABC):
    """A score of points under a belief; the point with the largest score is suggested."""

    logarithmic: ClassVar[bool] = False  # whether values are logarithms of what is averaged
    averages: ClassVar[bool] = True  # whether a mixture scores the mean over its components
    non_negative: ClassVar[bool] = False  # whether no value is below 0

    @abstractmethod
    def __call__(self, posterior: Belief, X: Points) -> Vector:
        """The score of each row of `X`, `(m,)`."""

    @abstractmethod
    def with_gradient(self, posterior: Belief, X: Points) -> tuple[Vector, Points]:
        """The same, and its gradient at each row, `(m, d)`."""

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Acquisition:
        """The acquisition, ready to be evaluated; called once per suggestion.

        `incumbent` is the value to improve on, or `(k,)` with one per component; `candidates` cover
        the space; `step` counts the suggestions of a model from 1.
        """
        return self

    def within(self, effort: Effort) -> Acquisition:
        """The same, whose `prepare` leaves steps out once `effort` is spent, if it can."""
        return self


class OfComponents(Acquisition):
    """An acquisition of the predictions of all components at a point."""

    @abstractmethod
    def jointly(self, mean: Matrix, var: Matrix, noise: Matrix, weights: Vector) -> Derived:
        """Values `(m,)`, and their derivatives in `mean` and `var`, both `(k, m)`.

        `noise` `(k, m)` is the variance that an observation adds to the objective's.
        """

    def __call__(self, posterior: Belief, X: Points) -> Vector:
        belief = each(posterior)
        mean, var = belief.predict_each(X)
        return self.jointly(mean, var, _noise(posterior, X), belief.weights)[0]

    def with_gradient(self, posterior: Belief, X: Points) -> tuple[Vector, Points]:
        belief = each(posterior)
        mean, var, pull = belief.predict_each_with_pullback(X)
        value, mean_bar, var_bar = self.jointly(mean, var, _noise(posterior, X), belief.weights)
        return value, pull(mean_bar, var_bar)


class Pointwise(OfComponents):
    """An acquisition of the mean and standard deviation at a point."""

    @abstractmethod
    def pointwise(self, mean: Matrix, std: Matrix) -> Derived:
        """Values and their derivatives in `mean` and `std`, all `(k, m)`."""

    def __call__(self, posterior: Belief, X: Points) -> Vector:
        belief = each(posterior)
        mean, var = belief.predict_each(X)
        values, _, _ = self.pointwise(mean, deviation(var))
        return averaged(values, belief.weights, self.logarithmic)[0]

    def jointly(self, mean: Matrix, var: Matrix, noise: Matrix, weights: Vector) -> Derived:
        std = deviation(var)
        values, mean_bar, std_bar = self.pointwise(mean, std)
        value, share = averaged(values, weights, self.logarithmic)
        return value, share * mean_bar, share * std_bar / (2 * std)


@dataclass(frozen=True, eq=False)
class _Alone:
    """A single posterior as a mixture of one."""

    posterior: Predicts
    weights: Vector

    def predict_each(self, X: Points) -> tuple[Matrix, Matrix]:
        mean, var = self.posterior.predict(X)
        return mean[None], var[None]

    def predict_each_with_pullback(self, X: Points) -> tuple[Matrix, Matrix, PredictionPull]:
        mean, var, pull = self.posterior.predict_with_pullback(X)
        return mean[None], var[None], lambda mean_bar, var_bar: pull(mean_bar[0], var_bar[0])


def each(posterior: Belief) -> PredictsEach:
    """The belief as a mixture."""
    if hasattr(posterior, "predict_each"):
        return cast(PredictsEach, posterior)
    return _Alone(posterior, np.ones(1))


def averaged(values: Matrix, weights: Vector, logarithmic: bool) -> tuple[Vector, Matrix]:
    """The mean over components, and its derivative in each component's value."""
    if not logarithmic:
        return weights @ values, weights[:, None]
    log_weights = np.log(weights, out=np.full(len(weights), -np.inf), where=weights > 0)
    values = values + log_weights[:, None]
    top = values.max(0)
    share = np.exp(values - top)
    total = share.sum(0)
    return top + np.log(total), share / total


def deviation(var: Matrix) -> Matrix:
    """Standard deviations, at least `STD_FLOOR`."""
    return np.sqrt(np.maximum(var, STD_FLOOR**2))


def _noise(posterior: Belief, X: Points) -> Matrix:
    """The noise variance of an observation under each component, `(k, m)`; 0 if it is unknown."""
    parts = getattr(posterior, "components", (posterior,))
    known = [getattr(part, "noise_at", None) for part in parts]
    return np.stack([np.zeros(len(X)) if at is None else at(X) for at in known])
