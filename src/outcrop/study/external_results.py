"""Results obtained elsewhere, as `add` takes them: one, lists, tables, files and trials.

What is skipped, ignored or moved on the way is said in `notes`.
"""

from __future__ import annotations

__all__ = [
    "ExternalResult",
    "ExternalResults",
    "Skipped",
    "naming",
    "of_lists",
    "of_trials",
    "with_snapping",
]

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from outcrop.errors import ParamsError, TrialError
from outcrop.space import Space
from outcrop.space.snapping import snapped
from outcrop.study.trial import Trial
from outcrop.typing import JsonObject, Params


@dataclass(frozen=True)
class ExternalResult:
    """One result as it was given; the study checks it when it is added."""

    place: str  # where it was given, for messages
    params: Params
    value: object = math.nan
    std: object = None
    reason: str | None = None  # why it failed; None if the value says so
    at: Params | None = None
    at_std: Params | None = None
    info: JsonObject | None = None


@dataclass(frozen=True)
class Skipped:
    """A result that is not added, and why."""

    why: str


@dataclass(frozen=True)
class ExternalResults:
    """Results to be added together, and notes about what else was given."""

    results: Sequence[ExternalResult]
    notes: Sequence[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, given: Iterable[ExternalResult | Skipped], notes: Sequence[str] = ()
    ) -> ExternalResults:
        """Those of `given` that are not skipped; the others are counted."""
        each = list(given)
        skipped = Counter(one.why for one in each if isinstance(one, Skipped))
        counts = ", ".join(f"{count} {why}" for why, count in skipped.items())
        said = [f"skipped {counts}", *notes] if counts else notes
        return cls([one for one in each if isinstance(one, ExternalResult)], said)

    def within(self, file: str) -> ExternalResults:
        """The same, with the file that they are from among their places."""
        results = [replace(result, place=f"{file}: {result.place}") for result in self.results]
        return replace(self, results=results)


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Errors about a result name the place where it was given."""
    try:
        yield
    except (ParamsError, TrialError) as error:
        raise type(error)(f"{place}: {error}") from None


def of_lists(params: object, value: object, std: object) -> ExternalResults:
    """One result, or lists of them."""
    if isinstance(params, Mapping):
        return ExternalResults([ExternalResult("result 0", params, value, std)])
    if isinstance(params, str | bytes) or not isinstance(params, Sequence):
        raise ParamsError(
            "expected a dict of parameters, a list of them, a list of trials, a data frame or the "
            f"Path of a CSV file, got {params!r}"
        )
    if not params and value is None:
        return ExternalResults([])  # of a study without trials
    values = _as_many(value, "values", len(params))
    stds = [None] * len(params) if std is None else _as_many(std, "std", len(params))
    rows = enumerate(zip(params, values, stds, strict=True))
    return ExternalResults([ExternalResult(f"result {row}", *each) for row, each in rows])


def of_trials(trials: Iterable[Trial], space: Space) -> ExternalResults:
    """The outcomes of trials of another study, or of an earlier one.

    Trials that are set aside there are skipped unless they fit `space`.
    """
    trials = list(trials)
    for index, trial in enumerate(trials):
        if not isinstance(trial, Trial):
            raise ParamsError(f"result {index}: expected a trial as the others, got {trial!r}")
    return ExternalResults.of(
        Skipped("set aside") if trial.aside and not _fits(space, trial.params) else _of_trial(trial)
        for trial in trials
    )


def _fits(space: Space, params: Params) -> bool:
    try:
        space.validate(params)
    except ParamsError:
        return False
    return True


def _of_trial(trial: Trial) -> ExternalResult | Skipped:
    result = ExternalResult(f"trial {trial.number}", dict(trial.params), info=trial.info or None)
    match trial.state:
        case "finished":
            at, at_std = trial.at, trial.at_std
            return replace(result, value=trial.value, std=trial.std, at=at, at_std=at_std)
        case "failed":
            return replace(result, reason=trial.reason)
    return Skipped(trial.state)


def with_snapping(found: ExternalResults, space: Space) -> ExternalResults:
    """The results at the nearest legal configurations; what was given is kept in their `info`."""
    results, moved = [], 0
    for result in found.results:
        with naming(result.place):
            params = space.flatten(result.params) if isinstance(result.params, Mapping) else {}
        legal = {
            name: snapped(space.parameters[name], value, name)
            for name, value in params.items()
            if name in space.parameters
        }
        changed = {name: params[name] for name in legal if legal[name] is not params[name]}
        if changed:
            moved += 1
            info = {**(result.info or {}), "snapped": changed}
            result = replace(result, params={**params, **legal}, info=info)
        results.append(result)
    notes = [f"moved to the nearest legal configuration: {moved}"] if moved else []
    return ExternalResults(results, [*found.notes, *notes])


def _as_many(given: object, name: str, count: int) -> Sequence[object]:
    if isinstance(given, np.ndarray) and given.ndim == 1:
        given = list(given)
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise TrialError(
            f"expected a list of {name} beside a list of configurations, got {given!r}"
        )
    if len(given) != count:
        raise TrialError(f"expected as many {name} as configurations, {count}, got {len(given)}")
    return given
