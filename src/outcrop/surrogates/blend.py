"""Several surrogates as one: all of them together, or one drawn for each fit."""

from __future__ import annotations

__all__ = ["Blend", "Lottery"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.mixture import Mixture
from outcrop.typing import Rng


@dataclass(frozen=True, eq=False)
class Blend:
    """One mixture of the beliefs of named surrogates, which have equal weights."""

    parts: Mapping[str, Surrogate]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ModelError("Blend({}): expected at least one surrogate")

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The components of all parts; each part continues from its state, stored by name."""
        previous = previous or {}
        fitted = {
            name: part.fit(observations, rng, previous.get(name))
            for name, part in self.parts.items()
        }
        return Mixture(
            tuple(component for belief in fitted.values() for component in belief.components),
            np.concatenate([belief.weights for belief in fitted.values()]),
            {name: belief.state for name, belief in fitted.items()},
        )


@dataclass(frozen=True, eq=False)
class Lottery:
    """One of several named surrogates, drawn anew for each fit; the others keep their state."""

    parts: Mapping[str, Surrogate]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ModelError("Lottery({}): expected at least one surrogate")

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        states = {name: state for name, state in (previous or {}).items() if name in self.parts}
        name = str(rng.choice(list(self.parts)))
        belief = self.parts[name].fit(observations, rng, states.get(name))
        return replace(belief, state={**states, name: belief.state})
