"""A strategy and a belief that are simple enough to check by hand."""

from __future__ import annotations

__all__ = ["Gaussian", "Roaming"]

from dataclasses import dataclass
from typing import Any

import numpy as np

from outcrop.errors import SpaceExhausted
from outcrop.space import Space
from outcrop.strategies.base import Belief, Suggestion, View
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True)
class Gaussian:
    """Independent normals around the first coordinate, all with one standard deviation."""

    std: float = 0.1

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        return X[:, 0].copy(), np.full(len(X), self.std)

    def sample(self, X: Points, rng: Rng, n: int) -> Matrix:
        return X[:, 0] + self.std * rng.normal(size=(n, len(X)))


@dataclass(frozen=True)
class Roaming:
    """Random points near the best one; what is known or running decides where."""

    space: Space
    weight: int = 0  # floats kept warm

    def propose(self, view: View, rng: Rng) -> Suggestion:
        for _ in range(200):
            x = rng.random(len(self.space.columns))
            if len(view.y) and rng.random() < 0.5:
                x = 0.2 * x + 0.8 * view.X[np.argmin(view.y)]
            point = self.space.from_uniform((x + 0.01 * view.pending.sum(0))[None, :] % 1.0)
            if view.is_noisy or self.space.keys(point)[0] not in view.known:
                break
        else:
            raise SpaceExhausted("every point is known")
        why: dict[str, Any] = {"source": "model", "mean": 1.5, "std": 0.25, "surrogate": "none"}
        return Suggestion(
            self.space.decode(point)[0],
            why | {"acquisition": "whim", "value": -np.inf, "pending": len(view.pending)},
            {"step": view.warm.get("step", 0) + 1, "chains": np.zeros(self.weight)},
        )

    def belief(self, view: View, rng: Rng) -> Belief:
        return Gaussian()
