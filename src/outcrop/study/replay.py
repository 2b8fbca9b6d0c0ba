"""Replay: compute every suggestion of a log again, to prove that the log determines them.

Where the time for a suggestion had run out, the recorded cut is made again, and no clock is read.
Parameters and the state of the strategy are compared to the last bit. The record of why a trial was
suggested may name classes as an earlier version did, and its numbers may differ by rounding.
"""

from __future__ import annotations

__all__ = ["Replay", "replayed"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isclose

from outcrop.effort import Effort
from outcrop.former_names import current_label
from outcrop.strategies.registry import MethodLike
from outcrop.study import commands
from outcrop.study.events import Asked, Event, to_text
from outcrop.study.method_state import with_method_state
from outcrop.study.state import apply, fold
from outcrop.study.study_strategies import Strategies

ROUNDING = 1e-9  # by which numbers of a record of why may differ, relatively
LEAST = 1e-12  # likewise, absolutely


@dataclass(frozen=True)
class Replay:
    """The result of a replay: how many suggestions were computed again, and which differ."""

    asks: int
    different: tuple[int, ...] = ()  # trial numbers

    @property
    def identical(self) -> bool:
        return not self.different


def replayed(log: Sequence[Event], method: MethodLike) -> Replay:
    """Compare each suggestion in `log` with one computed from the events before it."""
    strategies = Strategies(method)
    made_of: dict[int, list[Asked]] = {}  # by how many events each was computed from
    for event in log:
        if isinstance(event, Asked) and event.attempt == 1:
            made_of.setdefault(event.seen, []).append(event)
    state = fold(log[:1])
    different = []
    for event in log[1:]:
        for asked in made_of.get(state.position, ()):
            effort, strategy = Effort.recorded(asked.cuts), strategies.for_space(state.space)
            make = partial(
                commands.asked,
                strategy=strategy,
                at=asked.at,
                effort=effort,
                remaining=asked.remaining,
            )
            if not _is_same(with_method_state(state, make), asked):
                different.append(asked.number)
        state = apply(state, event)
    return Replay(sum(map(len, made_of.values())), tuple(sorted(different)))


def _is_same(one: Asked, other: Asked) -> bool:
    texts = (to_text(replace(asked, why={}, worker="")) for asked in (one, other))
    return len(set(texts)) == 1 and _agrees(one.why, other.why)


def _agrees(one: object, other: object) -> bool:
    """Whether two records of why, or two entries of them, are the same."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_agrees(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return one == other or isclose(one, other, rel_tol=ROUNDING, abs_tol=LEAST)
    if isinstance(one, str) and isinstance(other, str):
        return current_label(one) == current_label(other)
    return one == other
