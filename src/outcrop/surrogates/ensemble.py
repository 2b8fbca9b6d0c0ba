"""Several kinds of surrogate side by side, weighed by how well they predict.

Nobody knows beforehand whether an objective is stationary, varies faster towards one end, is rough
in one region, oscillates too finely to be modelled, or is a sum of effects. So several kinds are
fitted to the same data, and their components make one mixture: the acquisition is averaged over all
of them, and a member that sees a chance of improvement is heard even if the others see none.
"""

from __future__ import annotations

__all__ = ["MEMBERS", "Ensemble", "WeighedMembers"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Slice
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.kind import Kind, Plain
from outcrop.surrogates.latent import Latent
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.partly_additive import PartlyAdditive
from outcrop.surrogates.prequential import log_densities
from outcrop.surrogates.situation import ChainLimits, Situation
from outcrop.surrogates.spartan import Spartan
from outcrop.surrogates.warped import Warped
from outcrop.typing import Rng

MEMBERS = (
    Plain(),
    Warped(),
    Spartan(),
    Latent(spreads=(0.1, 0.01), together=True),
    PartlyAdditive(),
)
RESOLUTION = 0.1  # of the data's deviation: a smooth member gains nothing from smaller errors
RARELY = 3  # suggestions after which a member of less than average weight moves its chains
MOST_CHANGE = 3.0  # of a member's log score by one result, beside the mean of all


@dataclass(frozen=True)
class Ensemble(Kind):
    """Several kinds of surrogate in one mixture.

        oc.Method(surrogate=oc.surrogates.Ensemble())
        oc.Method(surrogate=oc.surrogates.Ensemble((oc.surrogates.Plain(), oc.surrogates.Warped())))

    Every member predicts each result before it is told. `shared` is the part of the weight that all
    members share alike whatever they predicted; the rest follows the densities of the results. By
    `forgetting`, a part of that moves back to all members with each result, so that a member that
    was wrong early can return. With `shared=1` weights are equal.
    """

    members: tuple[Kind, ...] = MEMBERS
    chains: int = 4  # of each member
    moved: int = 1  # of these, for each suggestion
    sweeps: int = 1  # of each that moves
    shared: float = 0.5
    forgetting: float = 0.05
    label = "ensemble"

    def __post_init__(self) -> None:
        labels = [kind.label for kind in self.members]
        if not labels or len(set(labels)) < len(labels):
            raise ModelError(
                f"Ensemble(members=…) with {labels}: expected one kind or more, each once"
            )
        if not 0 <= self.shared <= 1 or not 0 <= self.forgetting <= 1:
            raise ModelError(
                f"Ensemble(shared={self.shared!r}, forgetting={self.forgetting!r}): expected "
                "shares between 0 and 1"
            )

    @property
    def limits(self) -> ChainLimits:
        return ChainLimits(self.chains, self.moved, self.sweeps)

    def surrogate(self, situation: Situation) -> Surrogate | None:
        kinds = sorted(self.members, key=lambda kind: kind.label)
        offered = [kind for kind in kinds if kind.surrogate(situation) is not None]
        if len(offered) < 2:
            return offered[0].surrogate(situation) if offered else None
        return WeighedMembers(self, {kind.label: kind for kind in offered}, situation)


@dataclass(frozen=True, eq=False)
class WeighedMembers:
    """The members of an `Ensemble` that apply to a situation, as one surrogate."""

    ensemble: Ensemble
    members: Mapping[str, Kind]  # by label, in its order
    situation: Situation

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        before = previous or {}
        seed = int(rng.integers(2**63))
        evidence = self._evidence(observations, before)
        weights = self._weights(evidence)
        efforts = self.situation.effort.parts(*[1.0] * len(self.members))
        beliefs = {}
        for turn, (label, effort) in enumerate(zip(self.members, efforts, strict=True)):
            state = self._state(before, label)
            is_due = weights[label] * len(weights) >= 1 or (len(observations) + turn) % RARELY == 0
            if state is None or is_due:
                situation = replace(self.situation, limits=self.ensemble.limits, effort=effort)
            else:
                situation = replace(self.situation, inference=self._still)
            stream = np.random.default_rng([seed, crc32(label.encode())])
            beliefs[label] = self._member(label, situation).fit(observations, stream, state)
        return Mixture(
            tuple(part for belief in beliefs.values() for part in belief.components),
            np.concatenate([weights[label] * belief.weights for label, belief in beliefs.items()]),
            {
                "evidence": evidence,
                "rows": observations.fingerprints,
                "members": {label: belief.state for label, belief in beliefs.items()},
            },
            weights,
        )

    def _weights(self, evidence: Mapping[str, float]) -> dict[str, float]:
        """The weight of each member in the mixture."""
        even = self.ensemble.shared / len(evidence)
        return {label: even + (1 - self.ensemble.shared) * w for label, w in evidence.items()}

    def _evidence(self, data: Observations, before: Mapping[str, Any]) -> dict[str, float]:
        """The members' posterior probabilities, with a share that is forgotten at each result."""
        labels = list(self.members)
        even = np.full(len(labels), 1 / len(labels))
        known = before.get("evidence", {})
        w = np.array([known.get(label, 1 / len(labels)) for label in labels])
        w /= w.sum()
        for gains in self._gains(data, before):
            w *= np.exp(np.clip(gains - gains.mean(), -MOST_CHANGE, MOST_CHANGE))
            w /= w.sum()
            w = (1 - self.ensemble.forgetting) * w + self.ensemble.forgetting * even
        return dict(zip(labels, w.tolist(), strict=True))

    def _gains(self, data: Observations, before: Mapping[str, Any]) -> np.ndarray:
        """Log densities `(new, members)` of the results that came since the state was stored."""
        rows = set(before.get("rows", ()))
        is_old = np.array([row in rows for row in data.fingerprints], dtype=np.bool_)
        if not rows or is_old.all() or not is_old.any() or self.ensemble.shared == 1:
            return np.zeros((0, len(self.members)))
        old, new = data.rows(np.flatnonzero(is_old)), data.rows(np.flatnonzero(~is_old))
        own = replace(self.situation, inference=self._still, observations=len(old))
        found = []
        for label in self.members:
            surrogate, stream = self._member(label, own), np.random.default_rng(0)
            belief = surrogate.fit(old, stream, self._state(before, label))
            found.append(log_densities(belief, new, RESOLUTION))
        return np.stack(found, axis=1)

    @property
    def _still(self) -> Slice:
        """Chains stay where they are."""
        return Slice(chains=self.ensemble.chains, burn_in=0, sweeps=0)

    def _member(self, label: str, situation: Situation) -> Surrogate:
        surrogate = self.members[label].surrogate(situation)
        assert surrogate is not None  # `Ensemble.surrogate` has asked for this situation
        return surrogate

    def _state(self, before: Mapping[str, Any], label: str) -> Mapping[str, Any] | None:
        state: Mapping[str, Any] | None = before.get("members", {}).get(label)
        return state
