"""Parameters in the form of a space, also those that were asked for in an earlier one.

A trial keeps the parameters with which it was asked for or added. After the space has changed it is
shown with those that it has in the new space: `defaults` holds the values of parameters in trials
that do not have them, and parameters that no longer exist are left out. A trial that does not fit
is set aside.
"""

from __future__ import annotations

__all__ = ["EncodedParams", "encoded", "fitted", "lacking", "legal", "refitted", "translated"]

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from outcrop.errors import ParamsError
from outcrop.space import Fixed, Space
from outcrop.space.plain import mark
from outcrop.study.argument_checks import checked_places
from outcrop.study.trial import LegalParams, ReadOnly, Trial
from outcrop.study.trial_records import Record
from outcrop.typing import Params, Vector

NOWHERE = np.empty(0)  # the point of a trial that is set aside
NOWHERE.flags.writeable = False


class EncodedParams(NamedTuple):
    """Legal parameters, their point in the encoded space, and its key."""

    params: LegalParams
    x: Vector
    key: str


def encoded(space: Space, params: Sequence[Params]) -> list[EncodedParams]:
    """Parameters of events with their points; together, which is much faster."""
    each = [legal(space, some) for some in params]
    X = space.encode_legal(each).X
    return list(map(EncodedParams, each, X, space.keys(X)))


def legal(space: Space, params: Params) -> LegalParams:
    """Parameters of an event: those of a command are checked already, those of a log are not."""
    return params if isinstance(params, LegalParams) else LegalParams(space.validate(params))


def translated(params: Params, space: Space, defaults: Params) -> LegalParams:
    """Parameters of an earlier space in the form of `space`, or `ParamsError` if they do not fit.

    >>> from outcrop.space import Float
    >>> space = Space({"x": Float(0, 1), "y": Float(0, 1)})
    >>> dict(translated({"x": 0.5, "old": 1}, space, {"y": 0}))
    {'x': 0.5, 'y': 0.0}
    """
    params = dict(params)  # flat names only
    given = dict(_given(params, space, defaults))
    for name in params.keys() - given.keys():
        if name in defaults and not _equal(params[name], defaults[name]):
            raise ParamsError(
                f"{name!r} is {defaults[name]!r} if it is left out: it was {params[name]!r}"
            )
    return LegalParams(space.validate(given))


def refitted(params: Params, space: Space, defaults: Params) -> LegalParams | None:
    """`translated`, or None if the parameters do not fit."""
    try:
        return translated(params, space, defaults)
    except ParamsError:
        return None


def lacking(params: Params, space: Space, defaults: Params) -> list[str]:
    """Names of the parameters without which `params` do not fit; empty if they never do."""
    given = dict(_given(dict(params), space, defaults))
    try:
        for name, value in given.items():
            space.parameters[name].check(value, name)
    except ParamsError:
        return []
    return [
        name
        for name, parameter in space.parameters.items()
        if name not in given and _is_active(name, given) and not isinstance(parameter, Fixed)
    ]


def fitted(records: Sequence[Record], space: Space, defaults: Params) -> list[Record]:
    """Records of an earlier space in the form of `space`, or set aside."""
    trials = [_fitted(record.asked, space, defaults) for record in records]
    points = iter(encoded(space, [trial.params for trial in trials if not trial.aside]))
    found = []
    for record, trial in zip(records, trials, strict=True):
        x, key = (NOWHERE, "") if trial.aside else next(points)[1:]
        found.append(replace(record, original=record.asked, trial=trial, x=x, key=key))
    return found


def _fitted(trial: Trial, space: Space, defaults: Params) -> Trial:
    """A trial in the form of `space`; the `trial` itself with a reason if it does not fit."""
    try:
        params = translated(trial.params, space, defaults)
        places = [
            None if some is None else {name: some[name] for name in some.keys() & params.keys()}
            for some in (trial.at, trial.at_std)
        ]
        at, at_std = checked_places(space, params, *places)
    except ParamsError as error:
        return replace(trial, aside=str(error))
    return replace(
        trial,
        params=params,
        nested=ReadOnly.deep(params.nested),
        at=None if at is None else ReadOnly(at),
        at_std=None if at_std is None else ReadOnly(at_std),
        original=None if dict(params) == dict(trial.params) else trial.params,
    )


def _given(params: Params, space: Space, defaults: Params) -> Iterator[tuple[str, object]]:
    """The values of the parameters of `space` that are active, from `params` or `defaults`."""
    found: dict[str, object] = {}
    for name in space.parameters:
        if not _is_active(name, found):
            continue
        for source in (params, defaults):
            if name in source:
                found[name] = source[name]
                yield name, source[name]
                break


def _is_active(name: str, given: Mapping[str, object]) -> bool:
    """Whether the option that opens a parameter is chosen; outer names come first in a space."""
    choice, _, option = name.rpartition(".")[0].rpartition(".")
    return not choice or given.get(choice) == option


def _equal(one: object, other: object) -> bool:
    """Whether two values of a parameter are the same, apart from rounding."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return mark(one) == mark(other)
