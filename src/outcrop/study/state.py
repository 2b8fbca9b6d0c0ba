"""The state of a study: a pure fold over its events.

`follow` is also the check: an event that cannot follow raises `TrialError`, and since states are
never changed, nothing happened. Trials are told apart by number. A number is never used twice, not
even that of a released trial, which otherwise leaves no trace. `x` is an encoded point, `(D,)`.
"""

from __future__ import annotations

__all__ = ["Record", "State", "apply", "fold", "follow"]

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from outcrop.errors import TrialError
from outcrop.space import Space
from outcrop.strategies.base import View
from outcrop.study.events import (
    Added,
    Asked,
    Created,
    Enqueued,
    Event,
    Expired,
    Failed,
    Late,
    Released,
    Stopped,
    Told,
)
from outcrop.study.ledger import Ledger
from outcrop.study.trial import ReadOnly, Trial, TrialState
from outcrop.typing import Params, Points, Vector


@dataclass(frozen=True, eq=False)
class Record:
    """A trial, where it is in the encoded space, and when it ran as positions in the log."""

    trial: Trial
    x: Vector
    key: str
    began: int  # how many events it was made of; it is in the log there, or somewhat later
    ended: int | None = None  # the place of its outcome; None while it runs
    expired: bool = False  # failed since nobody answered: a value may come yet


@dataclass(frozen=True, eq=False)
class State:
    """All that follows from the events so far."""

    created: Created
    position: int = 1  # how many events there were
    records: Ledger[Record] = field(default_factory=Ledger)
    released: Mapping[int, Record] = field(default_factory=dict)  # a value may come yet
    queue: tuple[Params, ...] = ()
    stopped: str | None = None  # why the newest run ended, until the next trial is asked for
    warm: Mapping[str, Any] = field(default_factory=dict)  # of the newest suggestion that has any

    @property
    def space(self) -> Space:
        return self.created.space

    @property
    def sign(self) -> float:
        """What makes smaller better when a value is multiplied by it."""
        return -1.0 if self.created.direction == "maximize" else 1.0

    @property
    def next_number(self) -> int:
        return len(self.records)

    @property
    def trials(self) -> list[Trial]:
        """All trials but the released ones, by number."""
        return [record.trial for record in self.records]

    def in_state(self, name: TrialState) -> Sequence[Record]:
        """Records of running, finished or failed trials, by number."""
        return self._by_state[name]

    @cached_property
    def _by_state(self) -> dict[TrialState, list[Record]]:
        found: dict[TrialState, list[Record]] = {"running": [], "finished": [], "failed": []}
        for record in self.records:
            found[record.trial.state].append(record)
        return found

    def record(self, number: int) -> Record:
        """What is known of a trial, or `TrialError`.

        Released trials are unknown, but for those that others may still work on.
        """
        count = self.next_number
        if not 0 <= number < count:
            known = f"numbers go from 0 to {count - 1}" if count else "none was asked for yet"
            raise TrialError(f"trial {number} is unknown: {known}")
        record = self.records[number] or self.released.get(number)
        if record is None:
            raise _was_released(number)
        return record

    @cached_property
    def view(self) -> View:
        """What a strategy sees; encoded rows are kept with the trials, so this is only stacking."""
        finished = self.in_state("finished")
        trials = [record.trial for record in finished]
        missing = math.nan
        return View(
            number=self.next_number,
            X=self._stacked(finished),
            y=_frozen([self.sign * (trial.value or 0.0) + 0.0 for trial in trials]),  # never -0.0
            std=_frozen([missing if trial.std is None else trial.std for trial in trials]),
            pending=self._stacked(self.in_state("running")),
            failed=self._stacked(self.in_state("failed")),
            known=frozenset(record.key for record in self.records),
            noise=self.created.noise,
            warm=self.warm,
            seed=self.created.seed,
        )

    def _stacked(self, records: Iterable[Record]) -> Points:
        rows = [record.x for record in records]
        flat = np.concatenate(rows) if rows else np.empty(0)
        return _frozen(flat).reshape(len(rows), len(self.space.columns))


Place: TypeAlias = tuple[Params, Vector, str]  # checked parameters, `x` and key


def fold(events: Iterable[Event]) -> State:
    """The state after all of `events`; the first is `Created`."""
    events = list(events)
    if not events:
        raise TrialError("expected a list of events that begins with Created, got none")
    if not isinstance(events[0], Created):
        raise TrialError(f"a study begins with Created, got {type(events[0]).__name__}")
    return follow(State(events[0]), events[1:])


def apply(state: State, event: Event) -> State:
    """The state after one more event, or `TrialError` if it cannot follow."""
    return follow(state, [event])


def follow(state: State, events: Sequence[Event]) -> State:
    """The state after more events; encoding them together takes a small part of the time."""
    places = iter(_places(state.space, [event.params for event in events if _is_new(event)]))
    for event in events:
        match event:
            case Asked() if event.attempt > 1:
                following = _asked_again(state, event)
            case Asked():
                following = _asked(state, event, next(places))
            case Told():
                following = _told(state, event)
            case Failed() | Expired():
                following = _failed(state, event)
            case Late(number):
                _ended_by_another(state, number)
                following = state
            case Released(number):
                following = _released(state, number)
            case Added():
                following = _added(state, event, next(places))
            case Enqueued(params):
                queue = (*state.queue, ReadOnly(state.space.validate(params)))
                following = replace(state, queue=queue)
            case Stopped(reason):
                following = replace(state, stopped=reason)
            case _:
                raise TrialError(f"{type(event).__name__} cannot follow: the study exists already")
        state = replace(following, position=state.position + 1)
    return state


def _is_new(event: Event) -> TypeGuard[Asked | Added]:
    """Whether an event brings a trial that was not there before."""
    return isinstance(event, Added) or (isinstance(event, Asked) and event.attempt == 1)


def _asked(state: State, event: Asked, place: Place) -> State:
    if event.seen > state.position:
        raise TrialError(
            f"trial {event.number} was made of {event.seen} events, of which there are only "
            f"{state.position}"
        )
    record = _new_record(state, event.number, place, began=event.seen)
    trial = replace(record.trial, started=event.at, why=ReadOnly.deep(event.why))
    queue = state.queue
    if event.queued:
        if not queue or dict(queue[0]) != dict(trial.params):
            raise TrialError(f"trial {event.number} was not next in the queue")
        queue = queue[1:]
    records = state.records.appended(replace(record, trial=trial))
    warm = event.warm or state.warm
    return replace(state, records=records, queue=queue, warm=warm, stopped=None)


def _asked_again(state: State, event: Asked) -> State:
    record = _running(state, event.number)
    if event.attempt != record.trial.attempt + 1:
        raise TrialError(
            f"trial {event.number} is at attempt {record.trial.attempt}, which attempt "
            f"{event.attempt} cannot follow"
        )
    again = replace(record, trial=replace(record.trial, attempt=event.attempt, started=event.at))
    records = state.records.replaced(event.number, again)
    return replace(state, records=records, stopped=None)


def _told(state: State, event: Told) -> State:
    record = _open(state, event.number)
    told = replace(
        record.trial,
        **_outcome(event.value, event.std),
        finished=event.at,
        info=ReadOnly.deep(event.info),
    )
    return _ended(state, replace(record, expired=False), told)


def _failed(state: State, event: Failed | Expired) -> State:
    expired = isinstance(event, Expired)
    record = _running(state, event.number) if expired else _open(state, event.number)
    failed = replace(
        record.trial,
        state="failed",
        reason=event.reason,
        finished=event.at,
        info=ReadOnly.deep({} if isinstance(event, Expired) else event.info),
    )
    return _ended(state, replace(record, expired=expired), failed)


def _released(state: State, number: int) -> State:
    record = _running(state, number)
    released = state.released
    if record.trial.attempt > 1:
        released = {**released, number: record}
    return replace(state, records=state.records.replaced(number, None), released=released)


def _added(state: State, event: Added, place: Place) -> State:
    record = _new_record(state, event.number, place, began=state.position)
    added = replace(
        record.trial, **_outcome(event.value, event.std), source="added", finished=event.at
    )
    ended = replace(record, trial=added, ended=state.position)
    return replace(state, records=state.records.appended(ended))


def _outcome(value: float, std: float | None) -> dict[str, Any]:
    """The fields of a trial that follow from a value."""
    if math.isfinite(value):
        return {"state": "finished", "value": value, "std": std, "reason": ""}
    return {"state": "failed", "reason": f"the value is {value}"}


def _places(space: Space, params: Sequence[Params]) -> list[Place]:
    checked = [ReadOnly(space.validate(each)) for each in params]
    X = space.encode(checked).X
    return list(zip(checked, X, space.keys(X), strict=True))


def _new_record(state: State, number: int, place: Place, began: int) -> Record:
    if number != state.next_number:
        raise TrialError(
            f"expected trial {state.next_number} to come next, got {number}; "
            "numbers are given in order and never twice"
        )
    params, x, key = place
    trial = Trial(number, params, ReadOnly.deep(state.space.nest(params)))
    return Record(trial, x, key, began)


def _running(state: State, number: int) -> Record:
    """The record of a trial that still runs, or `TrialError` that says what became of it."""
    record = state.record(number)
    trial = record.trial
    if number in state.released:
        raise _was_released(number)
    if trial.state == "finished":
        raise TrialError(f"trial {number} is finished already, with value {trial.value!r}")
    if trial.state == "failed":
        because = f": {trial.reason}" if trial.reason else ""
        raise TrialError(f"trial {number} has failed already{because}")
    return record


def _open(state: State, number: int) -> Record:
    """The record of a trial that an outcome may still come for."""
    record = state.record(number)
    if record.expired or number in state.released:
        return record
    return _running(state, number)


def _ended_by_another(state: State, number: int) -> None:
    trial = state.record(number).trial
    if trial.state == "running" or trial.attempt == 1:
        raise TrialError(f"trial {number} was not told by another before")


def _ended(state: State, record: Record, trial: Trial) -> State:
    number = trial.number
    ended = replace(record, trial=trial, ended=state.position)
    released = {each: kept for each, kept in state.released.items() if each != number}
    return replace(state, records=state.records.replaced(number, ended), released=released)


def _was_released(number: int) -> TrialError:
    return TrialError(f"trial {number} was released; ask for a new one")


def _frozen(values: Vector | list[float]) -> Vector:
    array = np.asarray(values, dtype=np.float64)
    array.flags.writeable = False
    return array
