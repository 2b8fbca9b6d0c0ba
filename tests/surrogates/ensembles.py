"""Kinds whose predictions are known, and ensembles of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import outcrop as oc
from outcrop.data import Observations
from outcrop.inference import Kept
from outcrop.surrogates import Kind, Mixture, Situation
from outcrop.surrogates.situation import NoiseFacts

SPACE = oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1)})
EXACT = NoiseFacts(False)


@dataclass(frozen=True)
class Constant:
    """A posterior that predicts one mean and one variance everywhere."""

    mean: float
    var: float

    def predict(self, X):
        return np.full(len(X), self.mean), np.full(len(X), self.var)

    def predict_with_pullback(self, X):
        return *self.predict(X), lambda mean_bar, var_bar: np.zeros_like(X)

    def condition(self, X, y):
        return self

    def incumbent(self):
        return 0.0


@dataclass(frozen=True)
class ConstantKind(Kind):
    """A kind that never learns: its density of every result is known."""

    mean: float
    var: float = 1.0

    @property
    def label(self) -> str:
        return f"constant {self.mean}"

    def surrogate(self, situation):
        return self

    def fit(self, observations, rng, previous: Mapping[str, Any] | None = None) -> Mixture:
        return replace(Mixture.single(Constant(self.mean, self.var)), state={"kept": True})


@dataclass(frozen=True)
class WatchedKind(ConstantKind):
    """A constant kind that notes when its chains would move."""

    moved: list[str] = field(default_factory=list, compare=False)
    is_kept: bool = False

    def surrogate(self, situation):
        return replace(self, is_kept=isinstance(situation.inference, Kept))

    def fit(self, observations, rng, previous: Mapping[str, Any] | None = None) -> Mixture:
        if not self.is_kept:
            self.moved.append(self.label)
        return super().fit(observations, rng, previous)


def data_of(y, seed=0):
    X = np.random.default_rng(seed).random((len(y), 2))
    return Observations(X, np.asarray(y, dtype=float))


def fitted(ensemble, data, previous=None, seed=0, situation=None):
    surrogate = ensemble.surrogate(situation or Situation(SPACE, EXACT))
    return surrogate.fit(data, np.random.default_rng(seed), previous)
