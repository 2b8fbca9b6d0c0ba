"""A random forest as a surrogate.

Each tree predicts the mean and the variance of the values in a point's leaf; the forest's mean and
variance follow by the law of total variance [Hutter et al. 2014]:

    μ(x) = mean over t of μ_t(x),    σ²(x) = mean over t of σ_t²(x) + variance over t of μ_t(x).

A forest is constant between cuts, so its gradients are 0, and beyond the data its prediction stays
as at their edge. It takes categories, conditions and thousands of observations directly.
"""

from __future__ import annotations

__all__ = ["Forest", "ForestPosterior"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError, ShapeError
from outcrop.short_repr import short_repr
from outcrop.surrogates.base import PredictionPull
from outcrop.surrogates.forest_growth import Trees, grow, sums
from outcrop.surrogates.kind import Kind
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.situation import Situation
from outcrop.typing import Conditions, Matrix, Points, Rng, Vector

VAR_FLOOR = 1e-8  # of the variance of all values: keeps log std finite where all trees agree
LEAST_WEIGHT = 1e-6  # of an observation; a smaller one would be lost in the rounding of sums
DEFAULT = 0.5  # value of an inactive number: the middle of its range


@dataclass(frozen=True)
class Forest(Kind):
    """A random forest of regression trees, each grown on a bootstrap sample of the observations.

        oc.Method(surrogate=oc.surrogates.Forest())
        oc.Method(surrogate=oc.surrogates.Forest(trees=100, smallest=3))    # for noisy objectives

    `categories`, `((column, levels), …)`, and `conditions`, `((column, ((column of a choice, code),
    …)), …)`, are filled in from the space. Inactive parameters have a default: the middle of the
    range of a number, the first level of a category. Noise is not learnt; observations with known
    noise weigh less.
    """

    trees: int = 32
    smallest: int = 1  # observations in a leaf
    share: float = 5 / 6  # of the columns, drawn for each cut
    bootstrap: bool = True  # without it every tree is grown on all observations
    categories: tuple[tuple[int, int], ...] = ()
    conditions: tuple[tuple[int, Conditions], ...] = ()  # of each conditional column
    label = "Forest"

    def __post_init__(self) -> None:
        for name in ("trees", "smallest"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ModelError(f"Forest({name}={value!r}): expected a whole number of at least 1")
        if not 0 < self.share <= 1:
            raise ModelError(
                f"Forest(share={self.share!r}): expected a share of the columns, above 0 and "
                "at most 1"
            )

    def surrogate(self, situation: Situation) -> Forest:
        """The same forest with the categories and conditions of the space."""
        columns = situation.space.columns
        return replace(
            self,
            categories=tuple((c.index, c.levels or 1) for c in columns if c.is_code),
            conditions=tuple((c.index, c.conditions) for c in columns if c.conditions),
        )

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`; each forest is grown from nothing."""
        n = len(observations)
        if not n:
            raise ModelError("a forest needs at least one observation, got none")
        X, y = self.completed(observations.X), observations.y
        weights = np.ones((self.trees, n))
        if self.bootstrap:
            weights = rng.multinomial(n, np.full(n, 1 / n), size=self.trees).astype(float)
        if observations.noise is not None:
            precision = 1.0 / (1.0 + observations.noise / (float(y.var()) or 1.0))
            weights *= np.maximum(precision, LEAST_WEIGHT)
        trees = grow(X, y, weights, dict(self.categories), self.smallest, self.share, rng)
        leaf, size = trees.leaf_of(X).reshape(-1), len(trees.column)
        w, values = weights.reshape(-1), np.tile(y, self.trees)
        weight = sums(leaf, w, size)
        mean = sums(leaf, w * values, size) / np.maximum(weight, np.finfo(float).tiny)
        error = sums(leaf, w * (values - mean[leaf]) ** 2, size)
        return Mixture.single(ForestPosterior(self, observations, trees, weight, mean, error))

    def completed(self, X: Points) -> Points:
        """Points with defaults for inactive parameters."""
        if not self.conditions:
            return X
        X, given, codes = X.copy(), X, {column for column, _ in self.categories}
        for column, conditions in self.conditions:
            active = np.all([given[:, choice] == code for choice, code in conditions], axis=0)
            X[~active, column] = 0.0 if column in codes else DEFAULT
        return X


@dataclass(frozen=True, eq=False)
class ForestPosterior:
    """The belief of a forest; made by `Forest.fit`. Statistics of leaves are `(nodes,)`."""

    model: Forest
    data: Observations
    trees: Trees
    weight: Vector
    mean: Vector
    error: Vector  # sum of squares around the mean

    __repr__ = short_repr

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        leaf = self._leaf_of(X)
        means = self.mean[leaf]
        var = (self.error[leaf] / self.weight[leaf]).mean(0) + means.var(0)
        return means.mean(0), np.maximum(var, self._floor)

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        """The same, and gradients of 0: a forest is constant between cuts."""
        return *self.predict(X), lambda mean_bar, var_bar: np.zeros_like(X)

    def condition(self, X: Points, y: Vector) -> ForestPosterior:
        """The same trees with `y` at `X` added to their leaves."""
        data = self.data.append(X, y)
        leaf, size = self._leaf_of(data.X[len(self.data) :]), len(self.weight)
        values = np.tile(data.y[len(self.data) :], len(leaf))
        leaf = leaf.reshape(-1)
        more = np.bincount(leaf, minlength=size)
        average = sums(leaf, values, size) / np.maximum(more, 1)
        weight = self.weight + more
        away = (average - self.mean) * more / np.maximum(weight, np.finfo(float).tiny)
        mean = self.mean + away
        error = self.error + sums(leaf, (values - average[leaf]) ** 2, size)
        error += self.weight * away * (average - self.mean)
        return replace(self, data=data, weight=weight, mean=mean, error=error)

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """`n` joint draws at the rows of `X`, `(n, m)`: of a tree, then of values of its leaves.

        Their mean and variance are those of `predict`, apart from its least variance.
        """
        leaf = self._leaf_of(X)
        draws = np.empty((n, len(X)))
        for i, tree in enumerate(rng.integers(len(leaf), size=n)):
            names, at = np.unique(leaf[tree], return_inverse=True)
            std = np.sqrt(self.error[names] / self.weight[names])
            draws[i] = (self.mean[names] + std * rng.standard_normal(len(names)))[at]
        return draws

    def incumbent(self) -> float:
        """The lowest mean at the data: a single value may be low because of noise."""
        return float(self.predict(self.data.X)[0].min())

    def _leaf_of(self, X: Points) -> np.ndarray[Any, np.dtype[np.int64]]:
        if X.ndim != 2 or X.shape[1] != self.data.dimension:
            raise ShapeError(f"expected X (m, {self.data.dimension}), got {X.shape}")
        return self.trees.leaf_of(self.model.completed(X))

    @cached_property
    def _floor(self) -> float:
        return VAR_FLOOR * (float(self.data.y.var()) or 1.0)
