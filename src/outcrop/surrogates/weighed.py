"""One of several surrogates, drawn for each fit in proportion to how well each has predicted."""

from __future__ import annotations

__all__ = ["WeighedLottery"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.inference import Slice
from outcrop.surrogates.contest import MOST_CHANGE, log_densities, told_since
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.mixture import Mixture
from outcrop.typing import Rng, Vector


@dataclass(frozen=True, eq=False)
class WeighedLottery:
    """One of several named surrogates, drawn anew for each fit; the others keep their state.

    Each predicts every result before it is told, from its chains as they are. The weights are the
    products of these densities, a result changing none by more than `MOST_CHANGE` in logarithm;
    a surrogate is drawn with a probability of at least `least`.
    """

    parts: Mapping[str, Inferred]
    least: float = 0.1
    most: float = MOST_CHANGE

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        before = previous or {}
        states = {name: before[name] for name in self.parts if name in before}
        logs = self._weighed(observations, rng, before, states)
        unknown = [name for name in self.parts if name not in states]
        shares = np.exp(logs - logs.max())
        shares = self.least + (1 - self.least * len(shares)) * shares / shares.sum()
        drawn = str(rng.choice(unknown)) if unknown else str(rng.choice(list(self.parts), p=shares))
        belief = self.parts[drawn].fit(observations, rng, states.get(drawn))
        own = {"logs": logs.tolist(), "marks": observations.marks}
        return replace(belief, state={**states, drawn: belief.state, **own})

    def _weighed(
        self, data: Observations, rng: Rng, before: Mapping[str, Any], states: Mapping[str, Any]
    ) -> Vector:
        logs = np.array(before.get("logs", np.zeros(len(self.parts))))
        old, new = told_since(before.get("marks", ()), data)
        if len(states) < len(self.parts) or not len(old) or not len(new):
            return logs
        gains = np.zeros((len(self.parts), len(new)))
        for i, (name, part) in enumerate(self.parts.items()):
            still = Slice(chains=len(states[name]["thetas"]), burn_in=0, sweeps=0)
            belief = replace(part, inference=still).fit(old, rng, states[name])
            gains[i] = log_densities(belief, new)
        return logs + np.maximum(gains - gains.max(0), -self.most).sum(1)


@dataclass(frozen=True, eq=False)
class CreditedLottery:
    """One of several named surrogates, drawn for each fit by how often its draws led to a new best.

    The others keep their state.
    """

    parts: Mapping[str, Inferred]
    thompson: bool = True

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        before = previous or {}
        states = {name: before[name] for name in self.parts if name in before}
        credit = {name: list(before.get("credit", {}).get(name, (1.0, 1.0))) for name in self.parts}
        old, new = told_since(before.get("marks", ()), observations)
        if before.get("drawn") in credit and len(old) and len(new):
            credit[before["drawn"]][int(new.y.min() >= old.y.min())] += 1
        chances = [rng.beta(*credit[name]) for name in self.parts]
        if self.thompson:
            drawn = list(self.parts)[int(np.argmax(chances))]
        else:
            rates = np.array([good / (good + bad) for good, bad in credit.values()])
            drawn = str(rng.choice(list(self.parts), p=rates / rates.sum()))
        belief = self.parts[drawn].fit(observations, rng, states.get(drawn))
        own = {"credit": credit, "drawn": drawn, "marks": observations.marks}
        return replace(belief, state={**states, drawn: belief.state, **own})
