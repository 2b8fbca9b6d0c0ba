"""What a chaotic run must have kept, by its log and by the notes of its processes.

A process notes the mark of a result once it was acknowledged; the log has the mark too.
"""

from __future__ import annotations

__all__ = ["BARS", "compared"]

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from outcrop.study import Study
from outcrop.study.events import (
    Asked,
    Event,
    Expired,
    Failed,
    Late,
    Released,
    Told,
    from_text,
)

# The most that there may be; of the longest wait, seconds beyond the lease.
BARS = {
    "lost": 0,
    "doubled": 0,
    "wrong_values": 0,
    "running_at_one_point": 0,
    "never_told": 0,
    "longest_wait": 5.0,
    "different_states": 0,
    "different_suggestions": 0,
    "failed_processes": 0,
}

Notes = Mapping[int, Sequence[Sequence[Any]]]  # of each life: the time, mark, number and value


def compared(study: Study, fresh: Study, notes: Notes, lease: float) -> dict[str, Any]:
    """The log beside the notes; `study` followed it, and `fresh` has read it at once."""
    log = [from_text(text) for text in fresh._store.read(fresh._id)]
    acknowledged = [words[1:] for each in notes.values() for words in each]
    replay = fresh.replay()
    return {
        "events": len(log),
        **marks_compared(log, acknowledged),
        **waits(log),
        "running_at_one_point": running_at_one_point(fresh, log),
        "different_states": int(study.trials != fresh.trials),
        "different_suggestions": len(replay.different),
        "asked_again": sum(isinstance(event, Asked) and event.attempt > 1 for event in log),
    }


def marks_compared(log: Sequence[Event], acknowledged: Sequence[Sequence[Any]]) -> dict[str, int]:
    """Results that were acknowledged and are not in the log, or that are there more than once."""
    outcomes = [event for event in log if isinstance(event, Told | Late)]
    marks = Counter(event.info["mark"] for event in outcomes)
    values = {event.info["mark"]: (event.number, event.value) for event in outcomes}
    told = Counter(event.number for event in log if isinstance(event, Told))
    return {
        "acknowledged": len(acknowledged),
        "lost": sum(mark not in marks for mark, _, _ in acknowledged),
        "doubled": sum(count - 1 for count in (*marks.values(), *told.values())),
        "wrong_values": sum(
            values.get(mark, (number, value)) != (number, value)
            for mark, number, value in acknowledged
        ),
    }


def waits(log: Sequence[Event]) -> dict[str, Any]:
    """Seconds from an ask until its trial was told or offered again, and trials that never were."""
    since: dict[int, float] = {}
    longest = 0.0
    for event in log:
        if isinstance(event, Asked | Told | Failed | Expired | Released):
            if event.number in since:
                longest = max(longest, event.at - since.pop(event.number))
            if isinstance(event, Asked):
                since[event.number] = event.at
    return {"longest_wait": longest, "never_told": len(since)}


def running_at_one_point(study: Study, log: Sequence[Event]) -> int:
    """How often a trial was handed out at a point where another one was running."""
    running: dict[int, object] = {}
    count = 0
    for event in log:
        if isinstance(event, Asked):
            point = study.space.key(event.params)
            count += any(point == other and event.number != n for n, other in running.items())
            running[event.number] = point
        elif isinstance(event, Told | Failed | Expired | Released):
            running.pop(event.number, None)
    return count
