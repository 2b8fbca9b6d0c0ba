"""Commands: pure functions that turn a call such as `tell` into the events to record.

Each function checks its arguments and returns events that can follow the given state, or raises.
The caller, an `Optimizer` or a `Study`, applies the events.
"""

from __future__ import annotations

__all__ = [
    "Purpose",
    "added",
    "amended",
    "asked",
    "discarded",
    "enqueued",
    "failed",
    "found",
    "generator",
    "number_of",
    "offered_again",
    "released",
    "told",
]

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum

import numpy as np

from outcrop.effort import UNLIMITED, Effort
from outcrop.errors import TrialError
from outcrop.records import read, write
from outcrop.space.plain import exact_int
from outcrop.strategies.base import Strategy, Why
from outcrop.study.argument_checks import checked_info, checked_places, checked_std, checked_value
from outcrop.study.events import (
    Added,
    Amended,
    Asked,
    Discarded,
    Enqueued,
    Expired,
    Failed,
    Late,
    Released,
    Told,
)
from outcrop.study.external_results import ExternalResult, naming
from outcrop.study.state import Record, State
from outcrop.study.trial import LegalParams, Trial
from outcrop.typing import Params, Rng

ATTEMPTS = 3  # how often a trial is handed out if its lease expires each time


class Purpose(IntEnum):
    """What random numbers are used for; stored studies rely on these, so none is ever changed."""

    ASK = 0
    BELIEF = 1
    RECOMMEND = 2


def generator(state: State, purpose: Purpose) -> Rng:
    """Random numbers that depend on the seed, the next trial's number and the purpose only."""
    return np.random.default_rng([state.created.seed, state.next_number, int(purpose)])


def found(state: State, trial: Trial | int) -> Record:
    """The record of a trial, given itself or its number."""
    if isinstance(trial, Trial):
        record = state.record(trial.number)
        asked, given = record.asked.params, trial.original or trial.params
        if dict(asked) != dict(given) != dict(record.trial.params):
            raise TrialError(
                f"trial {trial.number} of this study has the parameters "
                f"{dict(record.trial.params)}, but the given trial has {dict(trial.params)}: it "
                "belongs to another study"
            )
        return record
    return state.record(number_of(trial))


def number_of(trial: Trial | int) -> int:
    """The number of a trial, given itself or its number."""
    if isinstance(trial, Trial):
        return trial.number
    number = None if isinstance(trial, float) else exact_int(trial)
    if number is None:
        raise TrialError(f"expected a trial or its number, got {trial!r}")
    return number


def asked(
    state: State,
    strategy: Strategy,
    at: float,
    effort: Effort = UNLIMITED,
    remaining: int | None = None,
) -> Asked:
    """The next trial: the first of the queue, or else the strategy's suggestion.

    If `effort` is spent before the suggestion is complete, its cuts are recorded with it, and so is
    `remaining` if it is known: a replay makes the suggestion with the same.
    """
    number, seen = state.next_number, state.position
    if state.queue:
        origin: Why = {"source": "queue"}
        return Asked(number, state.queue[0], why=origin, queued=True, seen=seen, at=at)
    view = replace(state.view, effort=effort, remaining=remaining)
    suggestion = strategy.propose(view, generator(state, Purpose.ASK))
    why: Why = read(write(suggestion.why, "why"))
    if isinstance(why.get("mean"), int | float):
        why["mean"] = state.sign * why["mean"]  # a value of the objective, in the user's sign
    if effort.cuts:
        why["cut"] = effort.cut_short
    return Asked(
        number,
        _legal(state, suggestion.params),
        why=why,
        warm=suggestion.warm,
        seen=seen,
        at=at,
        cuts=effort.cuts,
        remaining=remaining,
    )


def offered_again(state: State, number: int, at: float) -> Asked | Expired:
    """A trial that nobody evaluates any more: again, or failed after the last attempt."""
    trial = state.record(number).trial
    if trial.attempt < ATTEMPTS and not trial.aside:
        return Asked(number, trial.params, attempt=trial.attempt + 1, seen=state.position, at=at)
    return Expired(number, f"handed out {trial.attempt} times without an answer", at)


def told(
    state: State,
    trial: Trial | int,
    value: object,
    std: object,
    info: object,
    at: float,
    where: object = None,
    where_std: object = None,
) -> Told | Late:
    """A value for a trial; `where` are the inputs at which it was really obtained."""
    record = found(state, trial)
    number = record.trial.number
    outcome = checked_value(value), checked_std(std)
    asked_in = state.spaces[record.epoch]
    places = checked_places(asked_in, record.asked.params, where, where_std)
    if _is_late(record):
        return Late(number, *outcome, "", checked_info(info), at, *places)
    return Told(number, *outcome, checked_info(info), at, *places)


def failed(
    state: State, trial: Trial | int, reason: object, info: object, at: float
) -> Failed | Late:
    """The failure of a trial."""
    record = found(state, trial)
    number = record.trial.number
    if _is_late(record):
        return Late(number, reason=str(reason), info=checked_info(info), at=at)
    return Failed(number, str(reason), checked_info(info), at)


def amended(
    state: State,
    trial: Trial | int,
    value: object,
    std: object,
    where: object,
    where_std: object,
    reason: object,
    at: float,
) -> Amended:
    """Another outcome for a trial that has ended; what is None stays."""
    record = found(state, trial)
    known = record.asked
    places = checked_places(
        state.spaces[record.epoch],
        known.params,
        known.at if where is None else where,
        known.at_std if where_std is None else where_std,
    )
    return Amended(
        known.number,
        None if value is None else checked_value(value),
        checked_std(std),
        None if where is None else places[0],
        None if where_std is None else places[1],
        str(reason),
        at,
    )


def discarded(state: State, trial: Trial | int, reason: object, at: float) -> Discarded:
    """The outcome of a trial declared void."""
    return Discarded(found(state, trial).trial.number, str(reason), at)


def released(state: State, trial: Trial | int, at: float) -> Released:
    """A trial given back without a result.

    Given a number, the attempt is not checked.
    """
    record = found(state, trial)
    if isinstance(trial, Trial) and trial.attempt < record.trial.attempt:
        raise TrialError(
            f"trial {trial.number} was handed out again meanwhile (attempt "
            f"{record.trial.attempt}); only the holder of that attempt can give it back"
        )
    return Released(record.trial.number, at)


def enqueued(state: State, params: Params, at: float) -> Enqueued:
    """A configuration to hand out next."""
    return Enqueued(_legal(state, params), at)


def added(state: State, results: Sequence[ExternalResult], at: float) -> list[Added]:
    """Results that were obtained elsewhere; all are added or, if one is wrong, none."""
    events = []
    for number, result in enumerate(results, start=state.next_number):
        with naming(result.place):
            legal = _legal(state, result.params)
            outcome = checked_value(result.value), checked_std(result.std)
            places = checked_places(state.space, legal, result.at, result.at_std)
            info = checked_info(result.info) or None
            events.append(Added(number, legal, *outcome, at, result.reason, *places, info))
    return events


def _legal(state: State, params: Params) -> LegalParams:
    """Parameters that a caller or a strategy gave, checked here and nowhere after."""
    return LegalParams(state.space.validate(params))


def _is_late(record: Record) -> bool:
    """Whether a trial that was handed out more than once already has its outcome."""
    trial = record.trial
    return trial.state != "running" and trial.attempt > 1 and not record.expired
