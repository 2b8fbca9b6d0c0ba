"""Methods that get standardised values, as those of the documents do.

The library bends the bad values of an objective with a heavy tail before a model sees them
(decision 6). No document does.
"""

from __future__ import annotations

__all__ = ["Unbent", "unbent_view"]

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import outcrop as oc
from outcrop.strategies.base import Belief, Strategy, Suggestion, View
from outcrop.strategies.registry import strategy_for
from outcrop.surrogates import Standardised
from outcrop.typing import Rng


@dataclass(frozen=True)
class Unbent:
    """`method`, which is anything that a study takes, on values that are standardised only."""

    method: Any

    def strategy(self, space: oc.Space) -> Strategy:
        return _UnbentStrategy(strategy_for(self.method, space))


@dataclass(frozen=True)
class _UnbentStrategy:
    strategy: Strategy

    def propose(self, view: View, rng: Rng) -> Suggestion:
        return self.strategy.propose(unbent_view(view), rng)

    def belief(self, view: View, rng: Rng) -> Belief:
        return self.strategy.belief(unbent_view(view), rng)


class _UnbentView(View):
    @cached_property
    def outcome(self) -> Standardised:
        return Standardised.of(self.y, self.X, bend=False)


def unbent_view(view: View) -> View:
    """The same view; its `outcome` is linear."""
    return _UnbentView(**{part.name: getattr(view, part.name) for part in fields(view)})
