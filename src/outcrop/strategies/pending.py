"""What to make of trials that are still running.

A policy maps a belief and an acquisition to new ones. `pending` is `(p, D)`, encoded.
"""

from __future__ import annotations

__all__ = ["Believer", "Pending"]

from dataclasses import dataclass
from typing import Protocol

from outcrop.acquisition import Acquisition
from outcrop.surrogates import Mixture
from outcrop.typing import Points, Rng


class Pending(Protocol):
    """How running trials change what is believed, or what is wanted."""

    def account(
        self, pending: Points, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> tuple[Mixture, Acquisition]: ...


@dataclass(frozen=True)
class Believer:
    """Kriging believer: act as if each running trial had returned its predicted mean.

    Over a mixture each component believes its own mean.
    """

    def account(
        self, pending: Points, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> tuple[Mixture, Acquisition]:
        means, _ = posterior.predict_each(pending)
        return posterior.condition(pending, means), acquisition
