"""Plain values: the values of parameters, and their equality.

A plain value is None, a boolean, an int, a finite float, a string, or a tuple of plain values.
In Python `1 == True == 1.0`; here they are three values with different marks, because a category
`True` and a category `1` mean different things to an objective.
"""

from __future__ import annotations

__all__ = [
    "Plain",
    "exact_float",
    "exact_int",
    "find",
    "listed",
    "mark",
    "nearest",
    "plain",
    "positions",
]

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

Plain: TypeAlias = bool | int | float | str | tuple["Plain", ...] | None
Mark: TypeAlias = tuple[str, object]

LISTED = 12  # longer lists of legal values are shortened in messages


def plain(value: object, *, lists: bool = False) -> Plain:
    """The plain value behind a NumPy scalar, an enumeration member or, with `lists`, a list."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            raise ValueError(f"{value!r} is not finite")
        return float(value) + 0.0  # -0.0 is 0.0
    if isinstance(value, tuple) or (lists and isinstance(value, list)):
        return tuple(plain(item, lists=lists) for item in value)
    raise ValueError(f"{value!r} is a {type(value).__name__}")


def mark(value: object) -> Mark:
    """A hashable key of `value` that includes its type."""
    if isinstance(value, tuple):
        return "tuple", tuple(mark(item) for item in value)
    return type(value).__name__, value


def positions(values: Iterable[Plain]) -> dict[Mark, int]:
    """The index of each value, by its mark; the first of equal values counts."""
    where: dict[Mark, int] = {}
    for index, value in enumerate(values):
        where.setdefault(mark(value), index)
    return where


def find(values: Sequence[Plain], where: Mapping[Mark, int], given: object) -> int | None:
    """The index of `given` among `values`, or None.

    Where no value has the type of `given`, a number matches the number equal to it (2.0
    for 2), and a list matches a tuple, as both may result from a JSON file.
    """
    if type(given) is str:
        return where.get(("str", given))  # fast for the usual case
    try:
        value = plain(given, lists=True)
    except ValueError:
        return None
    index = where.get(mark(value))
    if index is None and type(value) in (int, float):
        equal = [i for i, v in enumerate(values) if type(v) in (int, float) and v == value]
        index = equal[0] if len(equal) == 1 else None
    return index


def exact_float(value: object) -> float | None:
    """A number as a finite float, never -0.0; None for anything else, booleans included."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if math.isfinite(number) else None


def exact_int(value: object) -> int | None:
    """A whole number as an int; None for anything else, booleans and fractions included."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool):
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    number = exact_float(value)
    return int(number) if number is not None and number.is_integer() else None


def listed(values: Sequence[object]) -> str:
    """Values for a message, cut when there are many."""
    text = ", ".join(repr(value) for value in values[:LISTED])
    return text if len(values) <= LISTED else f"{text}, … ({len(values)} in all)"


def nearest(given: object, names: Iterable[str]) -> str:
    """A hint `; did you mean …?` for a misspelt name, or nothing."""
    from difflib import get_close_matches  # only needed for errors

    if not isinstance(given, str):
        return ""
    names = list(names)
    close = [name for name in names if name.endswith(f".{given}")]
    close = close or get_close_matches(given, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
