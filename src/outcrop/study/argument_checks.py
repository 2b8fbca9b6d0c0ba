"""Checks of the arguments that callers pass to a study; each returns the checked value."""

from __future__ import annotations

__all__ = [
    "ASK_SECONDS",
    "checked_ask_seconds",
    "checked_count",
    "checked_direction",
    "checked_info",
    "checked_noise",
    "checked_places",
    "checked_region",
    "checked_robust",
    "checked_seconds",
    "checked_seed",
    "checked_std",
    "checked_value",
]

from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np

from outcrop.errors import MethodError, ParamsError, TrialError
from outcrop.records import read, write
from outcrop.space import Float, Int, Space
from outcrop.space.noise import checked_number
from outcrop.space.parameters import within
from outcrop.space.plain import exact_float, exact_int, listed, nearest
from outcrop.study.importance import REGIONS
from outcrop.typing import JsonObject, Params

DIRECTIONS = ("minimize", "maximize")
ASK_SECONDS = 5.0  # for one suggestion, unless the user says otherwise


def checked_value(value: object) -> float:
    """A number as a float, NaN and ±inf included; `TrialError` for anything else.

    >>> checked_value(2), checked_value(float("inf"))
    (2.0, inf)
    """
    given = value
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a scalar or an array without dimensions, of NumPy or another library
    if isinstance(value, bool):
        raise TrialError(
            f"a value must be a number, got {given!r}; write float(…) to use it as one"
        )
    if isinstance(value, Real):
        try:
            return float(value)
        except OverflowError:
            raise TrialError("a value must fit a float, got a number beyond 1.8e308") from None
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
        raise TrialError(
            f"a value must be one number, got {given!r}; several objectives are not supported"
        )
    raise TrialError(
        f"a value must be a number, got {given!r}; record a failed evaluation with fail(trial, …)"
    )


def checked_std(std: object) -> float | None:
    """A standard deviation, or None if none is given."""
    if std is None:
        return None
    number = exact_float(std)
    if number is None or number < 0:
        raise TrialError(f"std must be a finite number of at least 0, or None, got {std!r}")
    return number


def checked_info(info: object) -> JsonObject:
    """A copy of the caller's `info`, restricted to what JSON can hold."""
    if info is None:
        return {}
    if not isinstance(info, Mapping):
        raise TrialError(f"info must be a dict, got {info!r}; write {{'note': …}}")
    try:
        copy: JsonObject = read(write(info, "info"))
    except TypeError as error:
        raise TrialError(f"{error}; info is stored as JSON: numbers, text, lists, dicts") from None
    except RecursionError:
        raise TrialError("info contains itself; info is stored as JSON") from None
    return copy


def checked_direction(direction: object) -> str:
    """`"minimize"` or `"maximize"`."""
    if isinstance(direction, list | tuple):
        raise MethodError(
            f"direction {direction!r}: several objectives are not supported; "
            "expected 'minimize' or 'maximize'"
        )
    if direction not in DIRECTIONS:
        raise MethodError(
            f"direction {direction!r} does not exist: expected 'minimize' or 'maximize'"
        )
    return str(direction)


def checked_noise(noise: object) -> bool | float | None:
    """None, a boolean, or a known standard deviation."""
    if isinstance(noise, np.bool_):
        noise = bool(noise)
    if noise is None or isinstance(noise, bool):
        return noise
    number = exact_float(noise)
    if number is None or number < 0:
        raise MethodError(
            "noise must be None (estimated), False (none), True (some) or a standard deviation "
            f"of at least 0, got {noise!r}"
        )
    return number


def checked_robust(robust: object, space: Space) -> bool:
    """Whether to search for the best average over input noise, which the space must declare."""
    if not isinstance(robust, bool | np.bool_):
        raise MethodError(f"robust must be True or False, got {robust!r}")
    if robust and not space.has_input_noise:
        raise MethodError(
            "robust=True averages over input noise, but the space has none: declare it, as in "
            "Float(0, 300, input_std=2.0) or Space(…, input_covariance={('x', 'y'): …})"
        )
    return bool(robust)


def checked_region(region: object) -> str:
    """A region of `StudyReader.importance`."""
    if not isinstance(region, str) or region not in REGIONS:
        raise MethodError(
            f"region={region!r} is unknown; write 'all' for the whole space, or 'best' for the "
            "best quarter of it"
        )
    return region


def checked_places(
    space: Space, params: Params, at: object, at_std: object
) -> tuple[dict[str, float] | None, dict[str, float] | None]:
    """The numbers in `at` and `at_std`, by flat names, for a trial that has `params`.

    Other parameters may be given too, if they equal those of `params`; they are left out.
    """
    stds = None if at_std is None else _checked_stds(space, params, at_std)
    if at is None:
        return None, stds
    places: dict[str, float] = {}
    noise = np.sqrt(space.unit_covariance.diagonal())
    where = {column.name: column.index for column in space.columns}
    for name, value in _by_name(space, params, at, "at").items():
        parameter = space.parameters[name]
        if isinstance(parameter, Float | Int):
            share = float(noise[where[name]])
            own = share * parameter.length if share else 0.0  # the length may be infinite
            places[name] = checked_number(parameter, value, name, (stds or {}).get(name, own))
        elif parameter.check(value, name) != params[name]:
            raise ParamsError(
                f"at: {name!r} is {value!r}, but {params[name]!r} was asked for: only numeric "
                "parameters may differ from what was asked; use add(params, value) for results of "
                "other configurations"
            )
    return places, stds


def _checked_stds(space: Space, params: Params, given: object) -> dict[str, float]:
    stds: dict[str, float] = {}
    for name, value in _by_name(space, params, given, "at_std").items():
        parameter = space.parameters[name]
        if not isinstance(parameter, Float | Int):
            raise ParamsError(
                f"at_std: {name!r} is {parameter!r}, but only Float and Int can be uncertain"
            )
        std = exact_float(value)
        if std is None or std < 0:
            raise ParamsError(
                f"at_std: {name!r} is {value!r}, expected a finite number of at least 0"
            )
        if std > parameter.length:
            raise ParamsError(f"at_std: {name!r} is {std!r}, {within(parameter)}")
        stds[name] = std
    return stds


def _by_name(space: Space, params: Params, given: object, what: str) -> dict[str, object]:
    """The given values by the flat names of active parameters."""
    if not isinstance(given, Mapping):
        raise ParamsError(f"{what} must be a dict such as {{'x': 1.5}}, got {given!r}")
    flat, active = space.flatten(given), set(params)
    for name in flat:
        if name not in active:
            known = "inactive" if name in space.parameters else "unknown"
            raise ParamsError(
                f"{what}: {name!r} is {known} in this trial, which has {listed([*params])}"
                f"{nearest(name, params)}"
            )
    return flat


def checked_seed(seed: object) -> int:
    """A whole number; a fresh one for None."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    number = exact_int(seed)
    if number is None or number < 0:
        raise MethodError(f"seed must be a whole number of at least 0, or None, got {seed!r}")
    return number


def checked_count(count: object, name: str) -> int:
    """A whole number above 0."""
    number = exact_int(count)
    if number is None or number < 1:
        raise MethodError(f"{name} must be a whole number of at least 1, got {count!r}")
    return number


def checked_remaining(remaining: object, asked: int) -> int | None:
    """How many trials can still be asked for, at least the `asked` ones; None if unknown."""
    if remaining is None:
        return None
    number = checked_count(remaining, "remaining")
    if number < asked:
        raise MethodError(
            f"remaining={number} is less than the {asked} trials asked for: it includes these"
        )
    return number


def checked_ask_seconds(seconds: object) -> float | None:
    """The time for one suggestion; None is no limit."""
    return None if seconds is None else checked_seconds(seconds, "ask_seconds")


def checked_seconds(seconds: object, name: str) -> float:
    """A positive number of seconds."""
    number = exact_float(seconds)
    if number is None or number <= 0:
        raise MethodError(f"{name} must be a number of seconds above 0, got {seconds!r}")
    return number
