"""The interface of pending policies: they change the belief or the acquisition.

A policy maps a belief and an acquisition to new ones, in the model's units and on encoded points.
`p` trials are running, `view.pending` is `(p, D)`; a belief has `k` components. If no trial is
running, a policy changes nothing.
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

    A policy that does not work with every method may also have `check(method)`, which is called
    when a `Method` is made and raises `MethodError`.
    """

    def account(
        self, view: View, space: Space, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> Accounted:
        """The belief and the acquisition for the next trial."""
        ...


def in_order(pending: Points) -> Points:
    """The same points sorted, so that results do not depend on the order of trials."""
    if not pending.shape[1]:  # a space without columns, whose points are all the same
        return pending
    return pending[np.lexsort(pending.T[::-1])]
