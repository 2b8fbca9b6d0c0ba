"""A divided model held against one process for all of the space.

Parts that know nothing of each other cost precision where one process fits everywhere. Whether they
are worth having is judged by predictions made before results were told: their density under the
divided model against that under the whole one is a Bayes factor [Dawid 1984].
"""

from __future__ import annotations

__all__ = ["Contest", "log_odds"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log, pi
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.inference import Slice
from outcrop.surrogates.base import HasNoise
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.treed_gp import LARGEST
from outcrop.typing import Rng, Vector

LOUDEST = 3.0  # by how much one result may change the logarithm of the odds
RESOLUTION = 1e-3  # of the values' spread: predictions are not told apart below it


def log_odds(chance: float) -> float:
    return log(chance / (1 - chance))


@dataclass(frozen=True, eq=False)
class Contest:
    """`tree` where it has predicted no worse than `whole`, and else `whole`.

    Each result is predicted by both from what they made of those before it. The logarithm of the
    odds for the tree starts at `lead` and moves by the difference of the logarithms of both
    densities. The one that is clearly behind moves a single chain for every suggestion; it goes on
    predicting, for less. Beyond 200 observations a process for all of them costs too much, and
    there is only the tree.
    """

    whole: Inferred
    tree: Any  # a surrogate with an `inference`
    lead: float = 0.0

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        data, before = observations, previous or {}
        if len(data) > LARGEST:
            belief = self.tree.fit(data, rng, before.get("tree"))
            return replace(belief, state={"tree": belief.state})
        lead = self._lead(data, rng, before)
        whole = self.eased(self.whole) if lead > LOUDEST else self.whole
        belief = self.shown(whole.fit(data, rng, before.get("whole")), data)
        state = {"lead": lead, "marks": data.marks, "whole": belief.state}
        if self.is_divided(data):
            tree = self.eased(self.tree) if lead < -LOUDEST else self.tree
            treed = tree.fit(data, rng, before.get("tree"))
            state["tree"] = treed.state
            belief = treed if lead >= 0 else belief
        elif "tree" in before:
            state["tree"] = before["tree"]
        return replace(belief, state=state)

    def is_divided(self, data: Observations) -> bool:
        """Whether the tree has anything to say of its own."""
        return True

    def shown(self, belief: Mixture, data: Observations) -> Mixture:
        """The belief of `whole` in the shape that others expect."""
        return belief

    def eased(self, surrogate: Any) -> Any:
        """What is clearly behind, with one chain moved at a time."""
        if not isinstance(surrogate.inference, Slice):
            return surrogate
        return replace(surrogate, inference=replace(surrogate.inference, moved=1))

    def _lead(self, data: Observations, rng: Rng, before: Mapping[str, Any]) -> float:
        """The logarithm of the odds for the tree, now that results are known that were not."""
        lead = float(before.get("lead", self.lead))
        known = set(before.get("marks", ()))
        is_old = np.array([mark in known for mark in data.marks], dtype=np.bool_)
        if "tree" not in before or "whole" not in before or is_old.all() or not is_old.any():
            return lead
        old, new = data.rows(np.flatnonzero(is_old)), data.rows(np.flatnonzero(~is_old))
        if not self.is_divided(old):
            return lead
        chains = len(before["whole"].get("thetas", "1"))
        still = Slice(chains=chains, burn_in=0, sweeps=0)
        whole = replace(self.whole, inference=still).fit(old, rng, before["whole"])
        tree = replace(self.tree, inference=still).fit(old, rng, before["tree"])
        gains = self._densities(tree, new) - self._densities(self.shown(whole, old), new)
        return lead + float(np.clip(gains, -LOUDEST, LOUDEST).sum())

    def _densities(self, belief: Mixture, data: Observations) -> Vector:
        """The log density of each value of `data`, noise included, under a belief without them."""
        mean, var = belief.predict_each(data.X)
        var = var + RESOLUTION**2 + (0.0 if data.noise is None else data.noise)
        var += np.stack(
            [part.noise_at(data.X) for part in belief.components if isinstance(part, HasNoise)]
        )
        logs = -0.5 * ((data.y - mean) ** 2 / var + np.log(2 * pi * var))
        return np.logaddexp.reduce(logs + np.log(belief.weights)[:, None], axis=0)
