"""The state of a study: a pure fold over its events.

`follow` also checks the events: one that cannot follow raises `TrialError`. States are frozen, so
the old one is then still valid. A trial is identified by its number, which is never used twice, not
even after the trial was released.
"""

from __future__ import annotations

__all__ = ["Record", "State", "apply", "fold", "follow"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, takewhile
from typing import TypeGuard, cast

from outcrop.errors import TrialError
from outcrop.short_repr import short_repr
from outcrop.space import Space
from outcrop.strategies.base import View, Why
from outcrop.study import argument_checks, outcomes
from outcrop.study.asked_event import check_asked, worker_of
from outcrop.study.events import (
    Added,
    Amended,
    Asked,
    Created,
    Discarded,
    Enqueued,
    Event,
    Expired,
    Failed,
    Late,
    Released,
    SpaceChanged,
    Stopped,
    Told,
)
from outcrop.study.input_positions import covariances, positions
from outcrop.study.ledger import Ledger
from outcrop.study.translation import EncodedParams, encoded, fitted, legal, refitted
from outcrop.study.trial import ReadOnly, Trial, TrialState
from outcrop.study.trial_records import Block, Record, block_of, frozen, joined, points_of
from outcrop.typing import JsonObject, Params


@dataclass(frozen=True, eq=False)
class State:
    """Everything that is computed from the events so far."""

    created: Created
    position: int = 1  # how many events there were
    records: Ledger[Record] = field(default_factory=Ledger)
    released: Mapping[int, Record] = field(default_factory=dict)  # a value may still arrive
    queue: tuple[Params, ...] = ()
    stopped: str | None = None  # why the newest run ended, until the next trial is asked for
    warm: JsonObject = field(default_factory=dict)  # warm start of the newest suggestion
    corrected: int = 0  # how many events there were after the newest correction or other space
    changes: tuple[SpaceChanged, ...] = ()  # of the space
    changed: int = 0  # how many events there were after the newest of these

    __repr__ = short_repr

    @property
    def space(self) -> Space:
        return self.changes[-1].space if self.changes else self.created.space

    @property
    def spaces(self) -> list[Space]:
        """All spaces that the study has had, the current one last."""
        return [self.created.space, *(change.space for change in self.changes)]

    @cached_property
    def defaults(self) -> Params:
        """Values of parameters in trials that do not have them; the newest that was stated."""
        return {name: value for each in self.changes for name, value in each.defaults.items()}

    @property
    def sign(self) -> float:
        """The factor that makes smaller values better."""
        return -1.0 if self.created.direction == "maximize" else 1.0

    @property
    def next_number(self) -> int:
        return len(self.records)

    @property
    def trials(self) -> list[Trial]:
        """All trials except released ones, by number."""
        return list(chain.from_iterable(self.records.made(_trials)))

    def in_state(self, name: TrialState) -> Sequence[Record]:
        """Records of the trials in a state that fit the space, by number."""
        return [record for block in self._blocks for record in block.records[name]]

    @property
    def running(self) -> Sequence[Record]:
        """Records of all running trials, also of those that do not fit the space any more."""
        aside = [record for block in self._blocks for record in block.aside]
        return [*self.in_state("running"), *(r for r in aside if r.trial.state == "running")]

    @cached_property
    def _blocks(self) -> list[Block]:
        return self.records.made(block_of)

    def record(self, number: int) -> Record:
        """The record of a trial, or `TrialError`.

        A released trial has one only if it was handed out several times: a result may still arrive.
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
        """The data that a strategy gets, joined from cached blocks of trials."""
        blocks, columns = self._blocks, len(self.space.columns)
        X, moved = points_of(blocks, "finished", columns), self._moved
        values = joined(block.values for block in blocks)
        return View(
            number=self.next_number,
            X=X,
            y=frozen(self.sign * values + 0.0),  # never -0.0
            std=joined(block.stds for block in blocks),
            pending=points_of(blocks, "running", columns),
            failed=points_of(blocks, "failed", columns),
            known=frozenset(chain.from_iterable(block.keys for block in blocks)),
            noise=self.created.noise,
            warm=self.warm,
            seed=self.created.seed,
            at=positions(self.space, X, moved),
            input_cov=covariances(self.space, X, moved),
            robust=self.created.robust,
            sign=self.sign,
        )

    @property
    def _moved(self) -> dict[int, Trial]:
        """Finished trials with `at` or `at_std`, by their row among the finished ones."""
        starts = accumulate((len(block.values) for block in self._blocks), initial=0)
        parts = zip(starts, self._blocks, strict=False)
        return {start + row: trial for start, block in parts for row, trial in block.moved}


def _trials(records: Sequence[Record]) -> list[Trial]:
    return [record.trial for record in records]


def fold(events: Iterable[Event]) -> State:
    """The state after all of `events`; the first is `Created`."""
    events = list(events)
    if not events:
        raise TrialError("expected a list of events that begins with Created, got none")
    if not isinstance(events[0], Created):
        raise TrialError(f"a study begins with Created, got {type(events[0]).__name__}")
    return follow(State(_checked(events[0])), events[1:])


def _checked(created: Created) -> Created:
    return replace(
        created,
        direction=argument_checks.checked_direction(created.direction),
        seed=argument_checks.checked_seed(created.seed),
        noise=argument_checks.checked_noise(created.noise),
        robust=argument_checks.checked_robust(created.robust, created.space),
    )


def apply(state: State, event: Event) -> State:
    """The state after one more event, or `TrialError` if it cannot follow."""
    return follow(state, [event])


def follow(state: State, events: Sequence[Event]) -> State:
    """The state after more events; they are encoded together, which is much faster."""
    new = _encoded(state.space, events)
    for index, event in enumerate(events):
        match event:
            case Asked() if event.attempt == 1:
                following = _asked(state, event, next(new))
            case Asked():
                following = _asked_again(state, event)
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
                following = _added(state, event, next(new))
            case Amended() | Discarded():
                following = _corrected(state, event)
            case Enqueued(params):
                queue = (*state.queue, legal(state.space, params))
                following = replace(state, queue=queue)
            case SpaceChanged():
                following = _space_changed(state, event)
                new = _encoded(following.space, events[index + 1 :])
            case Stopped(reason):
                following = replace(state, stopped=reason)
            case _:
                raise TrialError(f"{type(event).__name__} can only be the first event of a study")
        state = replace(following, position=state.position + 1)
    return state


def _encoded(space: Space, events: Sequence[Event]) -> Iterator[EncodedParams]:
    """The parameters of new trials in `events`, up to the next change of the space."""
    until = takewhile(lambda event: not isinstance(event, SpaceChanged), events)
    return iter(encoded(space, [event.params for event in until if _is_new(event)]))


def _is_new(event: Event) -> TypeGuard[Asked | Added]:
    """Whether an event starts a new trial."""
    return isinstance(event, Added) or (isinstance(event, Asked) and event.attempt == 1)


def _asked(state: State, event: Asked, encoded: EncodedParams) -> State:
    if event.seen > state.position:
        raise TrialError(
            f"trial {event.number} refers to {event.seen} earlier events, but there are only "
            f"{state.position}"
        )
    if event.seen < state.changed:
        raise TrialError(f"trial {event.number} was suggested for an earlier space of the study")
    check_asked(event)
    record = _new_record(state, event.number, encoded, began=event.seen)
    why = cast(Why, ReadOnly.deep(event.why))
    trial = replace(record.trial, started=event.at, why=why, worker=worker_of(event))
    queue = state.queue
    if event.queued:
        if not queue or dict(queue[0]) != dict(trial.params):
            raise TrialError(f"trial {event.number} was not next in the queue")
        queue = queue[1:]
    records = state.records.appended(replace(record, trial=trial))
    # A suggestion that was made before a correction is warm from what was corrected.
    warm = event.warm if event.warm and event.seen >= state.corrected else state.warm
    return replace(state, records=records, queue=queue, warm=warm, stopped=None)


def _asked_again(state: State, event: Asked) -> State:
    record = _running(state, event.number)
    if event.attempt != record.trial.attempt + 1:
        raise TrialError(
            f"trial {event.number} is at attempt {record.trial.attempt}; expected attempt "
            f"{record.trial.attempt + 1} next, got {event.attempt}"
        )
    worker = worker_of(event)
    asked = replace(record.asked, attempt=event.attempt, started=event.at, worker=worker)
    records = state.records.replaced(event.number, _with(state, record, asked))
    return replace(state, records=records, stopped=None)


def _told(state: State, event: Told) -> State:
    record = _open(state, event.number)
    told = outcomes.told(record.asked, event, state.spaces[record.epoch])
    return _ended(state, replace(record, expired=False), told)


def _failed(state: State, event: Failed | Expired) -> State:
    expired = isinstance(event, Expired)
    record = _running(state, event.number) if expired else _open(state, event.number)
    failed = outcomes.failed(record.asked, event)
    return _ended(state, replace(record, expired=expired), failed)


def _corrected(state: State, event: Amended | Discarded) -> State:
    """The state after a correction; the next suggestion starts cold."""
    record = state.record(event.number)
    trial = record.asked
    if event.number in state.released:
        raise _was_released(event.number)
    if trial.state == "running":
        raise TrialError(
            f"trial {event.number} is running, so that it has no outcome to correct: tell, fail or "
            "release it"
        )
    if isinstance(event, Amended):
        after = outcomes.amended(trial, event, state.spaces[record.epoch])
    else:
        after = outcomes.discarded(trial, event)
    corrected = _with(state, replace(record, expired=False), after)
    records = state.records.replaced(event.number, corrected)
    return replace(state, records=records, warm={}, corrected=state.position + 1)


def _space_changed(state: State, event: SpaceChanged) -> State:
    """The state with another space; trials and the queue are translated where they fit."""
    argument_checks.checked_robust(state.created.robust, event.space)
    after, now = replace(state, changes=(*state.changes, event)), state.position + 1
    form = after.space, after.defaults
    queue = (refitted(params, *form) for params in state.queue)
    return replace(
        after,
        records=state.records.exchanged(fitted(list(state.records), *form)),
        released=dict(zip(state.released, fitted([*state.released.values()], *form), strict=True)),
        queue=tuple(params for params in queue if params is not None),
        warm={},
        corrected=now,
        changed=now,
    )


def _released(state: State, number: int) -> State:
    record = _running(state, number)
    released = state.released
    if record.trial.attempt > 1:
        released = {**released, number: record}
    return replace(state, records=state.records.replaced(number, None), released=released)


def _added(state: State, event: Added, encoded: EncodedParams) -> State:
    record = _new_record(state, event.number, encoded, began=state.position)
    added = outcomes.added(record.trial, event, state.space)
    ended = replace(record, trial=added, ended=state.position)
    return replace(state, records=state.records.appended(ended))


def _new_record(state: State, number: int, encoded: EncodedParams, began: int) -> Record:
    if number != state.next_number:
        raise TrialError(
            f"expected trial {state.next_number} next, got {number}; numbers are given in order "
            "and never twice"
        )
    params, x, key = encoded
    trial = Trial(number, params, ReadOnly.deep(params.nested))
    return Record(trial, x, key, began, epoch=len(state.changes))


def _with(state: State, record: Record, asked: Trial) -> Record:
    """The record of a changed trial, which is given in the form in which it was asked for."""
    if record.original is None:
        return replace(record, trial=asked)
    return fitted([replace(record, original=asked)], state.space, state.defaults)[0]


def _running(state: State, number: int) -> Record:
    """The record of a running trial, or `TrialError` that names its outcome."""
    record = state.record(number)
    trial = record.trial
    if number in state.released:
        raise _was_released(number)
    if trial.state == "finished":
        raise TrialError(f"trial {number} is finished already, with value {trial.value!r}")
    if trial.state == "failed":
        because = f": {trial.reason}" if trial.reason else ""
        raise TrialError(f"trial {number} has failed already{because}")
    if trial.state == "discarded":
        raise TrialError(
            f"trial {number} was discarded; amend it with a value to bring it back, or add a result"
        )
    return record


def _open(state: State, number: int) -> Record:
    """The record of a trial that can still get an outcome."""
    record = state.record(number)
    if record.expired or number in state.released:
        return record
    return _running(state, number)


def _ended_by_another(state: State, number: int) -> None:
    trial = state.record(number).trial
    if trial.state == "running" or trial.attempt == 1:
        raise TrialError(f"trial {number} has no earlier result, so that this one is not late")


def _ended(state: State, record: Record, trial: Trial) -> State:
    number = trial.number
    ended = _with(state, replace(record, ended=state.position), trial)
    released = {each: kept for each, kept in state.released.items() if each != number}
    return replace(state, records=state.records.replaced(number, ended), released=released)


def _was_released(number: int) -> TrialError:
    return TrialError(f"trial {number} was released; ask for a new one")
