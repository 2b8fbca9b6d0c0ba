"""Every suggestion of a log made again, to prove that nothing but the log decides."""

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
    """What came of it: how many suggestions were made again, and which came out differently."""

    asks: int
    different: tuple[int, ...] = ()  # trial numbers

    @property
    def identical(self) -> bool:
        return not self.different


def replayed(log: Sequence[Event], strategy: Strategy) -> Replay:
    """Compare the bytes of each suggestion in `log` with those made of the events it had seen."""
    made_of: dict[int, list[Asked]] = {}  # by how many events they had seen
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
