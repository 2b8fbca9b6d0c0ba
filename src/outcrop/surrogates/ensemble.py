"""Several kinds of surrogate side by side, weighed by how well they predict.

Nobody knows beforehand whether an objective is stationary, varies faster towards one end, is rough
in one region, oscillates too finely to be modelled, or is a sum of effects. So several kinds are
fitted to the same data, and their components make one mixture. The acquisition is averaged over all
of them: it is large also where one member alone expects an improvement, beside the largest one that
it expects anywhere.
"""

from __future__ import annotations

__all__ = ["MEMBERS", "Ensemble", "WeighedMembers"]

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any
from zlib import crc32

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Kept
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.inferred import MOST_ROWS
from outcrop.surrogates.kind import Kind, Plain
from outcrop.surrogates.latent import Latent
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.partly_additive import PartlyAdditive
from outcrop.surrogates.prequential import log_densities
from outcrop.surrogates.situation import ALL_MOVE, MANY_NUMBERS, Situation
from outcrop.surrogates.spartan import Spartan
from outcrop.surrogates.warped import Warped
from outcrop.typing import Matrix, Rng

MEMBERS = (
    Plain(),
    Warped(),
    Spartan(),
    Latent(spreads=(0.1, 0.01), together=True),
    PartlyAdditive(),
)
TABLE = 30  # observations from which on the first fit compares members, as of an added table
FEW_MEMBERS = 2  # that are fitted to more than `MOST_ROWS` observations
RESOLUTION = 0.1  # of the data's deviation: a smooth member gains nothing from smaller errors
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

    Where the next trial is chosen, the weight of a member is divided by the largest improvement
    that it expects anywhere, to the power `balance`: with 0 improvements are averaged, with 1 each
    member has a vote for the place of its own largest improvement.
    """

    members: tuple[Kind, ...] = MEMBERS
    chains: int = 2  # of each member
    shared: float = 0.5
    forgetting: float = 0.05
    balance: float = 0.75
    label = "ensemble"

    def __post_init__(self) -> None:
        if not isinstance(self.members, tuple) or not all(
            isinstance(kind, Kind) for kind in self.members
        ):
            raise ModelError(
                f"Ensemble(members={self.members!r}): expected a tuple of kinds of surrogate such "
                "as (Plain(), Warped()), each written with ()"
            )
        labels = [kind.label for kind in self.members]
        if not labels or len(set(labels)) < len(labels):
            raise ModelError(
                f"Ensemble(members=…) with {labels}: expected one kind or more, each once"
            )
        if type(self.chains) is not int or self.chains < 1:
            raise ModelError(f"Ensemble(chains={self.chains!r}): expected an integer of at least 1")
        for name in ("shared", "forgetting", "balance"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise ModelError(f"Ensemble({name}={value!r}): expected a number from 0 to 1")

    def surrogate(self, situation: Situation) -> Surrogate | None:
        is_wide = len(situation.unconditional_numbers) >= MANY_NUMBERS
        if situation.noise.has_uncertain_places or is_wide:
            return None
        offered = [kind for kind in self.members if kind.surrogate(situation) is not None]
        if not offered or offered == [Plain()]:
            return None
        if len(offered) == 1:
            return offered[0].surrogate(situation)
        return WeighedMembers(self, {kind.label: kind for kind in offered}, situation)


@dataclass(frozen=True, eq=False)
class WeighedMembers:
    """The members of an `Ensemble` that apply to a situation, as one surrogate."""

    ensemble: Ensemble
    members: Mapping[str, Kind]  # by label, in the order of the ensemble
    situation: Situation

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        before, whole = previous or {}, self.situation
        seed = int(rng.integers(2**63))
        if "members" not in before and len(observations) >= TABLE:
            comparing, fitting = whole.effort.parts(1.0, 2.0)
            before = self._compared(observations, seed, replace(whole, effort=comparing))
            whole = replace(whole, effort=fitting)
        evidence = self._evidence(observations, before)
        weights = self._weights(evidence, len(observations))
        beliefs = self._fitted(weights, observations, seed, whole, before)
        states = {label: belief.state for label, belief in beliefs.items()}
        return Mixture(
            tuple(part for belief in beliefs.values() for part in belief.components),
            np.concatenate([weights[label] * belief.weights for label, belief in beliefs.items()]),
            {
                "evidence": evidence,
                "rows": observations.fingerprints,
                "members": {**before.get("members", {}), **states},
            },
            evidence,
            tuple(label for label, belief in beliefs.items() for _ in belief.components),
            self.ensemble.balance,
        )

    def _fitted(
        self,
        labels: Collection[str],
        observations: Observations,
        seed: int,
        whole: Situation,
        before: Mapping[str, Any],
    ) -> dict[str, Mixture]:
        """The belief of each of these members, which share the effort of the `whole` situation."""
        efforts = whole.effort.parts(*[1.0] * len(labels))
        beliefs = {}
        for turn, (label, effort) in enumerate(zip(labels, efforts, strict=True)):
            situation = replace(whole, chains=self.ensemble.chains, effort=effort)
            state = self._state(before, label)
            if state is not None and not self._is_due(turn, len(observations)):
                situation = replace(situation, inference=Kept())
            stream = np.random.default_rng([seed, crc32(label.encode())])
            beliefs[label] = self._member(label, situation).fit(observations, stream, state)
        return beliefs

    def _compared(self, table: Observations, seed: int, situation: Situation) -> dict[str, Any]:
        """A state with the members' probabilities, by results that were never predicted.

        Every second of at most `MOST_ROWS` results is predicted from the others.
        """
        n = len(table)
        data = table.rows(np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(int)))
        half = data.rows(slice(0, None, 2))
        situation = replace(situation, observations=len(half))
        beliefs = self._fitted(sorted(self.members), half, seed, situation, {})
        states = {label: belief.state for label, belief in beliefs.items()}
        evidence = self._evidence(data, {"rows": half.fingerprints, "members": states})
        return {"evidence": evidence, "rows": table.fingerprints}

    def _weights(self, evidence: Mapping[str, float], n: int) -> dict[str, float]:
        """The weight in the mixture of each member that is fitted to `n` observations, by label.

        Of many observations only the most probable members are; the order of members counts where
        they are equally probable.
        """
        ranked = sorted(self.members, key=lambda label: -evidence[label])
        fitted = sorted(ranked if n <= MOST_ROWS else ranked[:FEW_MEMBERS])
        total = sum(evidence[label] for label in fitted)
        even, own = self.ensemble.shared / len(fitted), (1 - self.ensemble.shared) / total
        return {label: even + own * evidence[label] for label in fitted}

    def _evidence(self, data: Observations, before: Mapping[str, Any]) -> dict[str, float]:
        """The probability of each member, of which a part is forgotten with every result."""
        labels = sorted(self.members)
        known, even = before.get("evidence", {}), 1 / len(labels)
        w = np.array([known.get(label, even) for label in labels])
        for gains in self._gains(labels, data, before):
            w = w * np.exp(np.clip(gains - gains.mean(), -MOST_CHANGE, MOST_CHANGE))
            w = (1 - self.ensemble.forgetting) * w / w.sum() + self.ensemble.forgetting * even
        return dict(zip(labels, (w / w.sum()).tolist(), strict=True))

    def _gains(
        self, labels: Sequence[str], data: Observations, before: Mapping[str, Any]
    ) -> Matrix:
        """Log densities `(new, members)` of the results that came since the state was stored."""
        rows = set(before.get("rows", ()))
        is_old = np.array([row in rows for row in data.fingerprints], dtype=np.bool_)
        states = [self._state(before, label) for label in labels]
        is_skipped = len(data) > MOST_ROWS or self.ensemble.shared == 1 or None in states
        if is_skipped or is_old.all() or not is_old.any():
            return np.zeros((0, len(labels)))
        old, new = data.rows(np.flatnonzero(is_old)), data.rows(np.flatnonzero(~is_old))
        situation = replace(self.situation, inference=Kept(), observations=len(old))
        beliefs = [
            self._member(label, situation).fit(old, np.random.default_rng(0), state)
            for label, state in zip(labels, states, strict=True)
        ]
        return np.stack([log_densities(belief, new, RESOLUTION) for belief in beliefs], axis=1)

    def _member(self, label: str, situation: Situation) -> Surrogate:
        surrogate = self.members[label].surrogate(situation)
        assert surrogate is not None  # or it would not be among the members
        return surrogate

    def _state(self, before: Mapping[str, Any], label: str) -> Mapping[str, Any] | None:
        state: Mapping[str, Any] | None = before.get("members", {}).get(label)
        return state

    def _is_due(self, turn: int, n: int) -> bool:
        """Whether a member's chains move, of more than `ALL_MOVE` observations only now and then.

        Running trials count, so that members also take turns within a batch.
        """
        return (n + self.situation.running + turn) % ceil(n / ALL_MOVE) == 0
