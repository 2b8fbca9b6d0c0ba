"""What a pending policy is: how running trials change what is believed, or what is wanted.

A policy maps a belief and an acquisition to new ones, in the model's units and on encoded points.
`p` trials are running, `view.pending` is `(p, D)`; a belief has `k` components. Where nothing is
running a policy changes nothing.
"""

from __future__ import annotations

__all__ = ["Accounted", "Pending", "in_order"]

from typing import Protocol, TypeAlias

import numpy as np

from outcrop.acquisition import Acquisition
from outcrop.space import Space
from outcrop.strategies.base import View
from outcrop.surrogates import Mixture
from outcrop.typing import Points, Rng

Accounted: TypeAlias = tuple[Mixture, Acquisition]


class Pending(Protocol):
    """How running trials are accounted for.

    A policy that does not go with every method may also have `check(method)`, which is called when
    a `Method` is made and raises `MethodError`.
    """

    def account(
        self, view: View, space: Space, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> Accounted:
        """The belief and the acquisition by which the next trial is found."""
        ...


def in_order(pending: Points) -> Points:
    """The same points in one order, so that the order of trials does not show in any digit."""
    return pending[np.lexsort(pending.T[::-1])]
