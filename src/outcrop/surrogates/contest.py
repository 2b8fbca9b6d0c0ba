"""Choice between a divided model and one process for the whole space, by their predictions.

Independent parts cost precision where one process fits everywhere. So both models predict every
result before it is told; the ratio of their densities is a Bayes factor [Dawid 1984], and the more
probable model is used.
"""

from __future__ import annotations

__all__ = ["Contest", "log_odds"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.inference import Kept
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.prequential import log_densities
from outcrop.typing import Rng

LARGEST = 200  # observations beyond which one process for all of them costs too much
MOST_CHANGE = 3.0  # of the logarithm of the odds, by one result
CLEAR = 3 * MOST_CHANGE  # a lead that need not be brought up to date by every result
RESOLUTION = 1e-3  # of the values' spread: smaller errors of predictions count as none


def log_odds(chance: float) -> float:
    return log(chance / (1 - chance))


@dataclass(frozen=True, eq=False)
class Contest:
    """The belief of `tree` if it has predicted no worse than `whole`, else that of `whole`.

    Both predict each result from those before it. The logarithm of the odds for the tree starts at
    `lead` and changes by the difference of both log densities. The model that is behind is fitted
    for every `turn`-th suggestion, and if it is far behind, only one of its chains moves then. If
    the lead is clear, results in between do not change it. Of more than `LARGEST` observations only
    the tree is fitted.
    """

    whole: Inferred
    tree: Any  # a surrogate with an `inference`
    lead: float = 0.0
    turn: int = 1

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        data, before = observations, previous or {}
        if len(data) > LARGEST:
            belief = self.tree.fit(data, rng, before.get("tree"))
            return replace(belief, state={"tree": belief.state})
        rested = before.get("rested", 0) + 1
        rests = "tree" in before and "whole" in before and rested < self.turn
        is_clear = abs(before.get("lead", 0.0)) > CLEAR
        lead = before["lead"] if rests and is_clear else self._lead(data, rng, before)
        if rests:
            state = {**before, "lead": lead, "marks": data.marks, "rested": rested}
            return self._led(data, rng, state)
        first, second = self.whole.inference.in_turns(2)
        whole = replace(self.whole, inference=first)
        whole = self.as_trailing(whole) if lead > MOST_CHANGE else whole
        belief = self.as_tree(whole.fit(data, rng, before.get("whole")), data)
        state = {"lead": lead, "marks": data.marks, "whole": belief.state}
        if self.is_divided(data):
            tree = replace(self.tree, inference=self.tree.inference.within(second.effort))
            tree = self.as_trailing(tree) if lead < -MOST_CHANGE else tree
            treed = tree.fit(data, rng, before.get("tree"))
            state["tree"] = treed.state
            belief = treed if lead >= 0 else belief
        elif "tree" in before:
            state["tree"] = before["tree"]
        return replace(belief, state=state)

    def _led(self, data: Observations, rng: Rng, state: Mapping[str, Any]) -> Mixture:
        """The belief of the contestant in the lead; the other keeps its state."""
        if state["lead"] >= 0:
            belief = self.tree.fit(data, rng, state["tree"])
            return replace(belief, state={**state, "tree": belief.state})
        belief = self.as_tree(self.whole.fit(data, rng, state["whole"]), data)
        return replace(belief, state={**state, "whole": belief.state})

    def is_divided(self, data: Observations) -> bool:
        """Whether the tree divides the space."""
        return True

    def as_tree(self, belief: Mixture, data: Observations) -> Mixture:
        """The belief of `whole` in the form of the tree's beliefs."""
        return belief

    def as_trailing(self, surrogate: Any) -> Any:
        """The surrogate that is clearly behind, with one chain moved at a time."""
        return replace(surrogate, inference=surrogate.inference.moving_one())

    def _lead(self, data: Observations, rng: Rng, before: Mapping[str, Any]) -> float:
        """The logarithm of the odds for the tree, updated by the new results."""
        lead = float(before.get("lead", self.lead))
        known = set(before.get("marks", ()))
        is_old = np.array([mark in known for mark in data.marks], dtype=np.bool_)
        if "tree" not in before or "whole" not in before or is_old.all() or not is_old.any():
            return lead
        old, new = data.rows(np.flatnonzero(is_old)), data.rows(np.flatnonzero(~is_old))
        if not self.is_divided(old):
            return lead
        whole = replace(self.whole, inference=Kept()).fit(old, rng, before["whole"])
        tree = replace(self.tree, inference=Kept()).fit(old, rng, before["tree"])
        plain = log_densities(self.as_tree(whole, old), new, RESOLUTION)
        gains = log_densities(tree, new, RESOLUTION) - plain
        return lead + float(np.clip(gains, -MOST_CHANGE, MOST_CHANGE).sum())
