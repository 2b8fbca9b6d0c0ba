"""Replay: compute every suggestion of a log again, to prove that the log determines them."""

from __future__ import annotations

__all__ = ["Replay", "replayed"]

from collections.abc import Sequence
from dataclasses import dataclass

from outcrop.strategies import Strategy
from outcrop.study import commands
from outcrop.study.events import Asked, Event, to_text
from outcrop.study.state import apply, fold


@dataclass(frozen=True)
class Replay:
    """The result of a replay: how many suggestions were computed again, and which differ."""

    asks: int
    different: tuple[int, ...] = ()  # trial numbers

    @property
    def identical(self) -> bool:
        return not self.different


def replayed(log: Sequence[Event], strategy: Strategy) -> Replay:
    """Compare the bytes of each suggestion in `log` with one computed from the events before it."""
    made_of: dict[int, list[Asked]] = {}  # by how many events each was computed from
    for event in log:
        if isinstance(event, Asked) and event.attempt == 1:
            made_of.setdefault(event.seen, []).append(event)
    state = fold(log[:1])
    different = []
    for event in log[1:]:
        for asked in made_of.get(state.position, ()):
            if to_text(commands.asked(state, strategy, asked.at)) != to_text(asked):
                different.append(asked.number)
        state = apply(state, event)
    return Replay(sum(map(len, made_of.values())), tuple(sorted(different)))
