"""Check-ups: whether the log of a study is whole, and whether its suggestions can be made again."""

from __future__ import annotations

__all__ = ["CheckUp", "checked_up"]

from collections.abc import Mapping
from dataclasses import dataclass

from outcrop.errors import OutcropError
from outcrop.strategies.method_text import restored
from outcrop.study.events import Event, from_text
from outcrop.study.replay import Replay, replayed
from outcrop.study.state import State, fold, follow


@dataclass(frozen=True)
class CheckUp:
    """What was found out about the log of a study; its first `sound` events can be saved."""

    records: int  # that could be read
    sound: int  # events from the first one on that follow each other
    state: State | None  # after these
    damage: str = ""  # what comes after these; empty if nothing does
    replay: Replay | None = None  # of these
    not_replayed: str = ""  # why there is no replay

    @property
    def results(self) -> int:
        """How many trials have a value or a failure."""
        trials = [] if self.state is None else self.state.trials
        return sum(trial.has_outcome for trial in trials)


def checked_up(records: Mapping[int, str], *, replay: bool = True) -> CheckUp:
    """Follow a log, given as records by position, as far as it goes; then make its asks again."""
    log: list[Event] = []
    state: State | None = None
    damage = ""
    for position in range(max(records, default=-1) + 1):
        if position not in records:
            damage = f"event {position} is missing"
            break
        try:
            event = from_text(records[position])
            state = fold([event]) if state is None else follow(state, [event])
        except (ValueError, TypeError, LookupError, AttributeError, OSError) as error:
            damage = f"event {position} is damaged: {error}"
            break
        log.append(event)
    if not records:
        damage = "it has no events"
    found = CheckUp(len(records), len(log), state, damage)
    if state is None or not replay:
        return found
    try:
        again = replayed(log, restored(state.created.method))
    except OutcropError as error:
        return CheckUp(len(records), len(log), state, damage, not_replayed=str(error))
    return CheckUp(len(records), len(log), state, damage, again)
