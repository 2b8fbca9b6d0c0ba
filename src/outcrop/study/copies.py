"""Copies of studies: the whole log, or its readable part after files of its store were lost."""

from __future__ import annotations

__all__ = ["known_log", "readable_log", "text_for", "write_copy"]

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import nan

from outcrop.errors import StorageDamaged, StorageError, StudyError
from outcrop.study import events
from outcrop.study.state import State, fold, follow
from outcrop.study.storage import Memory, Storage
from outcrop.study.trial import Correction, Trial

logger = logging.getLogger(__name__)


def readable_log(store: Storage, study: int, state: State) -> list[str]:
    """The log of a study; `state` is the newest one that this process knows.

    After files of the store were lost, it is what their open connection can still read. If that is
    less than what is known, the log is made of the known results.
    """
    try:
        return store.read(study)
    except StorageDamaged:
        from outcrop.study.storage.sql import SqlStorage  # a search without a database needs none

        with suppress(StorageError):
            texts = store.remains(study) if isinstance(store, SqlStorage) else []
            if len(texts) >= state.position:
                return texts
        logger.warning("the log cannot be read any more; the results that are known are copied")
        return [events.to_text(event) for event in known_log(state)]


def known_log(state: State) -> list[events.Event]:
    """A log with the results of `state`, in which their configurations come from the queue."""
    log: list[events.Event] = [state.created]
    copy = fold(log)
    for record in state.records:
        trial = record.asked
        if trial.state == "running":
            continue
        changes = state.changes[len(copy.changes) : record.epoch]
        log += changes
        copy = follow(copy, changes)
        number, at = copy.next_number, trial.finished or 0.0
        origin = {"source": "queue"}
        asked = events.Asked(
            number, trial.params, why=origin, queued=True, seen=copy.position + 1, at=at
        )
        told = (events.Enqueued(trial.params, at), asked, *_outcomes(trial, number))
        log += told
        copy = follow(copy, told)
    return [*log, *state.changes[len(copy.changes) :]]


def _outcomes(trial: Trial, number: int) -> Iterator[events.Event]:
    """The outcome of a trial and its corrections, as events of the trial `number`."""
    now = Correction(trial.state, trial.value, trial.std, trial.reason, trial.at, trial.at_std)
    first, *later = [*trial.corrections, now]
    at = trial.finished or 0.0
    if first.value is None:
        yield events.Failed(number, first.failure, trial.info, at)
    else:
        yield events.Told(number, first.value, first.std, trial.info, at, first.at, first.at_std)
    for made, after in zip(trial.corrections, later, strict=True):
        if after.state == "discarded":
            yield events.Discarded(number, made.reason, made.made)
        else:
            value = nan if after.value is None else after.value
            places = after.at, after.at_std
            yield events.Amended(number, value, after.std, *places, made.reason, made.made)


def text_for(store: Storage, event: events.Event) -> str:
    """An event as a store keeps it; functions among the constraints of a space stay in memory."""
    return events.to_text(event, in_process=isinstance(store, Memory))


def write_copy(log: Sequence[str], name: str, store: Storage, *, update: bool = False) -> int:
    """The id of a study in `store` with that log; `StudyError` if the name is taken.

    With `update`, an earlier copy of that name gets the events that it does not have yet.
    """
    text_for(store, events.from_text(log[0]))  # refuses what only a store in memory can keep
    study, length = store.create(name, log[0]), 1
    if study is None and update and (study := store.find(name)) is not None:
        earlier = store.read(study)
        length = len(earlier)
        if earlier != log[:length]:
            raise StudyError(
                f"study {name!r} of {store!r} is not an earlier copy of this one; choose another "
                "name or store"
            )
    if study is None:
        raise StudyError(f"{store!r} already has a study {name!r}; choose another name or store")
    if length < len(log) and not store.append(study, length, log[length:]):
        raise StudyError(f"study {name!r} was changed in {store!r} while it was being copied")
    return study
