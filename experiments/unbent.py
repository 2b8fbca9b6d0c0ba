"""Methods whose values are mapped in another way before a model sees them.

The library bends the bad values of an objective with a heavy tail (decision 6). No document does,
so its methods get values that are standardised only.
"""

from __future__ import annotations

__all__ = ["BentFrom", "Unbent", "mapped_view"]

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
        return _MappedStrategy(strategy_for(self.method, space), None)


@dataclass(frozen=True)
class BentFrom:
    """`method` on values that are bent from lower down if that is better by `clear` nats."""

    method: Any
    clear: float

    def strategy(self, space: oc.Space) -> Strategy:
        return _MappedStrategy(strategy_for(self.method, space), self.clear)


@dataclass(frozen=True)
class _MappedStrategy:
    strategy: Strategy
    clear: float | None

    def propose(self, view: View, rng: Rng) -> Suggestion:
        return self.strategy.propose(mapped_view(view, self.clear), rng)

    def belief(self, view: View, rng: Rng) -> Belief:
        return self.strategy.belief(mapped_view(view, self.clear), rng)


@dataclass(frozen=True, eq=False)
class _MappedView(View):
    clear: float | None = None  # None: values are not bent

    @cached_property
    def outcome(self) -> Standardised:
        if self.clear is None:
            return Standardised.of(self.y, self.X, bend=False)
        return Standardised.of(self.y, self.X, not self.robust, self.clear)


def mapped_view(view: View, clear: float | None) -> View:
    """The same view; its `outcome` is linear, or that of `BentFrom` with `clear`."""
    same = {part.name: getattr(view, part.name) for part in fields(View)}
    return _MappedView(**same, clear=clear)
