"""The outcome of a trial: what it becomes when it is told, failed, added, amended or discarded.

Every function returns a new trial and raises if the event has an invalid value. Whether the event
can follow at all is checked by `state`.
"""

from __future__ import annotations

__all__ = ["added", "amended", "discarded", "failed", "told", "valued"]

import math
from dataclasses import replace

from outcrop.errors import TrialError
from outcrop.space import Space
from outcrop.study import argument_checks
from outcrop.study.events import Added, Amended, Discarded, Expired, Failed, Told
from outcrop.study.trial import Correction, ReadOnly, Trial


def valued(trial: Trial, value: float, std: float | None) -> Trial:
    """A trial with its value; one that is not finite is a failure."""
    value, std = argument_checks.checked_value(value), argument_checks.checked_std(std)
    if math.isfinite(value):
        return replace(trial, state="finished", value=value, std=std, reason="")
    return replace(trial, state="failed", value=None, std=None, reason=f"the value is {value}")


def told(trial: Trial, event: Told, space: Space) -> Trial:
    """A trial whose value was told."""
    outcome = replace(
        valued(trial, event.value, event.std), finished=event.at, info=ReadOnly.deep(event.info)
    )
    return _placed(outcome, space, event.where, event.where_std)


def failed(trial: Trial, event: Failed | Expired) -> Trial:
    """A trial whose evaluation failed."""
    return replace(
        trial,
        state="failed",
        reason=event.reason,
        finished=event.at,
        info=ReadOnly.deep({} if isinstance(event, Expired) else event.info),
    )


def added(trial: Trial, event: Added, space: Space) -> Trial:
    """A trial whose outcome was obtained elsewhere."""
    outcome = valued(trial, event.value, event.std)
    if event.reason is not None:
        if outcome.state != "failed":
            raise TrialError(f"trial {trial.number} has the value {event.value} of a failure")
        outcome = replace(outcome, reason=str(event.reason))
    info = ReadOnly.deep(event.info or {})
    outcome = replace(outcome, source="added", finished=event.at, info=info)
    return _placed(outcome, space, event.where, event.where_std)


def amended(trial: Trial, event: Amended, space: Space) -> Trial:
    """A trial with another outcome; the former one is kept among its corrections.

    What the event does not give stays as it was. A trial that failed or was discarded has no value
    to keep, so that it needs one.
    """
    given = (event.value, event.std, event.where, event.where_std)
    if all(each is None for each in given):
        raise TrialError(
            f"nothing to amend in trial {trial.number}: give a value, std, at or at_std, or "
            "discard the trial"
        )
    value = trial.value if event.value is None else event.value
    if value is None:
        because = f" ({trial.reason})" if trial.reason else ""
        raise TrialError(
            f"trial {trial.number} is {trial.state}{because} and has no value: give one with "
            "value=…"
        )
    outcome = valued(trial, value, trial.std if event.std is None else event.std)
    if outcome.state == "failed" and event.reason:
        outcome = replace(outcome, reason=event.reason)
    where = trial.at if event.where is None else event.where
    where_std = trial.at_std if event.where_std is None else event.where_std
    return _corrected(trial, _placed(outcome, space, where, where_std), event)


def discarded(trial: Trial, event: Discarded) -> Trial:
    """A trial without an outcome; the former one is kept among its corrections."""
    if trial.state == "discarded":
        raise TrialError(
            f"trial {trial.number} is discarded already; amend it with a value to bring it back"
        )
    void = replace(
        trial, state="discarded", value=None, std=None, at=None, at_std=None, reason=event.reason
    )
    return _corrected(trial, void, event)


def _placed(trial: Trial, space: Space, where: object, where_std: object) -> Trial:
    """A trial with the inputs at which its value was obtained."""
    at, at_std = argument_checks.checked_places(space, trial.params, where, where_std)
    return replace(
        trial,
        at=None if at is None else ReadOnly(at),
        at_std=None if at_std is None else ReadOnly(at_std),
    )


def _corrected(before: Trial, after: Trial, event: Amended | Discarded) -> Trial:
    """The corrected trial, with its former outcome and the reason."""
    former = Correction(
        before.state,
        before.value,
        before.std,
        before.reason,
        before.at,
        before.at_std,
        reason=str(event.reason),
        made=event.at,
    )
    return replace(after, corrections=(*before.corrections, former))
