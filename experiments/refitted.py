"""Surrogates whose hyperparameters are found anew only every so many observations."""

from __future__ import annotations

__all__ = ["Refitted"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from outcrop.data import Observations
from outcrop.inference import MAP, Slice
from outcrop.surrogates import GP, Inferred, Mixture
from outcrop.typing import Rng

KEPT = Slice(chains=1, burn_in=0, sweeps=0)  # previous hyperparameters as they are


@dataclass(frozen=True, eq=False)
class Refitted:
    """A surrogate whose hyperparameters change once `every` observations have come in."""

    model: GP
    inference: MAP
    every: int

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        fitted = previous["fitted"] if previous else -self.every
        is_due = len(observations) - fitted >= self.every
        surrogate = Inferred(self.model, self.inference if is_due else KEPT)
        belief = surrogate.fit(observations, rng, previous)
        state = {**belief.state, "fitted": len(observations) if is_due else fitted}
        return replace(belief, state=state)
