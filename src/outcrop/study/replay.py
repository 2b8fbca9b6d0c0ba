"""Every suggestion of a log made again, to prove that nothing but the log decides."""

from __future__ import annotations

__all__ = ["Replay", "replayed"]

from collections.abc import Iterable
from dataclasses import dataclass

from outcrop.strategies import Strategy
from outcrop.study import commands
from outcrop.study.events import Asked, Event, to_text
from outcrop.study.state import State, apply


@dataclass(frozen=True)
class Replay:
    """What came of it: how many suggestions were made again, and which came out differently."""

    asks: int
    different: tuple[int, ...] = ()  # trial numbers

    @property
    def identical(self) -> bool:
        return not self.different


def replayed(log: Iterable[Event], strategy: Strategy) -> Replay:
    """Compare the bytes of each suggestion in `log` with those made of the events it had seen."""
    states: list[State] = []
    different = []
    asks = 0
    for event in log:
        if isinstance(event, Asked) and event.attempt == 1:
            asks += 1
            again = commands.asked(states[event.seen - 1], strategy, event.at)
            if to_text(again) != to_text(event):
                different.append(event.number)
        states.append(apply(states[-1] if states else None, event))
    return Replay(asks, tuple(different))
