"""Descriptions of methods: recorded by a study, compared, and worded as code.

A description is the name of a method, or the JSON of an object made of Outcrop's own parts. Of
other objects only the name is recorded, `{"custom": "MyKernel"}`.
"""

from __future__ import annotations

__all__ = ["Description", "described", "difference", "restored", "worded"]

import sys
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from outcrop import records
from outcrop.errors import MethodError
from outcrop.strategies import method_json
from outcrop.strategies.registry import registered

Description: TypeAlias = str | Mapping[str, Any]

SHOWN_WHOLE = {"array", "class", "custom"}  # keys of values that are not compared item by item


def described(method: object) -> Description:
    """The description that is recorded of a method.

    >>> from outcrop.strategies import Method
    >>> described("gp"), described(Method())["class"]
    ('gp', 'strategies.Method')
    """
    return str(method) if isinstance(method, str) else method_json.to_json(method)


def restored(description: Description) -> Any:
    """The method that a description describes.

    `MethodError` if it has custom objects in it, or comes from a newer release.
    """
    if not isinstance(description, str):
        return method_json.from_json(description)
    if description not in registered():
        raise MethodError(f"the stored method {description!r} is not known; {method_json.NEWER}")
    return description


def difference(stored: Description, given: Description) -> list[str]:
    """One line for each place in which two methods differ; empty if they are the same.

    A field that one of them does not mention, since it is newer, has its default value. A former
    name of a class is the same as its name now.

    >>> from outcrop.acquisition import EI, LogEI
    >>> from outcrop.strategies import Method
    >>> difference(*(described(Method(acquisition=a)) for a in (EI(), LogEI())))
    ['acquisition: EI() stored, LogEI() given']
    """
    return [line.removeprefix("method.") for line in _lines(stored, given, "method")]


def worded(description: Any) -> str:
    """A description, or a part of one, as the code that makes the method.

    >>> from outcrop.strategies import Method
    >>> from outcrop.strategies.initial import Sobol
    >>> worded(described(Method(initial=Sobol(size=5))))
    'Method(initial=Sobol(size=5))'
    """
    with np.printoptions(precision=17, linewidth=sys.maxsize):  # no two floats look alike
        return repr(records.read(description, _code))


class _Code(str):
    """Text whose `repr` has no quotes."""

    __repr__ = str.__str__


def _code(data: Mapping[str, Any]) -> _Code:
    """A part as a call of its class, without arguments that have their default value."""
    if "custom" in data:
        return _Code(data["custom"])
    data = method_json.renamed(data)
    name = str(data["class"]).rpartition(".")[2]
    if "member" in data:
        return _Code(f"{name}.{data['member']}")
    default = method_json.defaults(data["class"])
    arguments = [
        f"{key}={worded(value)}"
        for key, value in data.items()
        if key not in ("class", "version") and not (key in default and default[key] == value)
    ]
    return _Code(f"{name}({', '.join(arguments)})")


def _lines(stored: Any, given: Any, place: str) -> list[str]:
    """The differences of two values, at the innermost places where they differ."""
    stored, given = _renamed(stored), _renamed(given)
    if stored == given:
        return []
    inner = _inside(stored, given)
    if inner is None:
        return [f"{place}: {worded(stored)} stored, {worded(given)} given"]
    return [line for name, one, two in inner for line in _lines(one, two, f"{place}{name}")]


def _renamed(value: Any) -> Any:
    return method_json.renamed(value) if isinstance(value, Mapping) else value


def _inside(stored: Any, given: Any) -> list[tuple[str, Any, Any]] | None:
    """Pairs of items of two values of the same structure; None to compare them as wholes."""
    if isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given):
        pairs = zip(stored, given, strict=True)
        return [(f"[{index}]", one, two) for index, (one, two) in enumerate(pairs)]
    if not isinstance(stored, Mapping) or not isinstance(given, Mapping):
        return None
    if "class" in stored and stored["class"] == given.get("class"):
        default = method_json.defaults(stored["class"])
        left, right = {**default, **stored}, {**default, **given}
        return [(f".{name}", left.get(name), right.get(name)) for name in {**left, **right}]
    if stored.keys() != given.keys() or stored.keys() & SHOWN_WHOLE:
        return None
    if len(stored) == 1 and stored.keys() <= records.KINDS:
        return _inside(*stored.values(), *given.values())
    return [(f"[{name!r}]", stored[name], given[name]) for name in stored]
