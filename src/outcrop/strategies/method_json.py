"""Methods and their parts as JSON and back, without loss.

A part is an instance of a dataclass, or a member of an enumeration, that one of `PACKAGES` lists in
its `__all__`. It is written as its class and its fields; no field is called "class":

    {"class": "initial.Sobol", "size": 5}

Other values are written by `outcrop.records`. Of anything else only the name is written,
`{"custom": "MyKernel"}`. Reading imports nothing and makes instances of parts only.
"""

from __future__ import annotations

__all__ = ["NEWER", "defaults", "from_json", "renamed", "to_json"]

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType, NoneType
from typing import Any

import numpy as np

from outcrop import (
    acquisition,
    baselines,
    inference,
    kernels,
    maximise,
    params,
    priors,
    records,
    strategies,
    surrogates,
)
from outcrop.effort import UNSTORED
from outcrop.errors import MethodError
from outcrop.former_names import current, current_field, current_value
from outcrop.strategies import initial, pending

VERSION = 1  # of what is written; a reader refuses what is newer

PACKAGES = (
    acquisition,
    baselines,
    inference,
    initial,
    kernels,
    maximise,
    params,
    pending,
    priors,
    strategies,
    surrogates,
)

PLAIN = (NoneType, bool, int, float, str, list, tuple)
NEWER = "a newer release may have stored it: use that release, or pass method= again"
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def to_json(value: object) -> dict[str, Any]:
    """A part as a JSON object; `from_json` reads it back unless it has custom objects in it.

    >>> to_json(initial.Sobol(size=5))
    {'version': 1, 'class': 'initial.Sobol', 'size': 5}
    """
    return {"version": VERSION, **(_written(value) or {"custom": _qualified_name(value)})}


def from_json(data: Mapping[str, Any] | str) -> Any:
    """The part that `to_json` wrote, from the object or its text; `MethodError` if unreadable."""
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise MethodError(f"a stored method is not JSON: {error}") from None
    if not isinstance(data, Mapping) or "version" not in data:
        raise MethodError(f"a stored method: expected an object with its version, got {data!r}")
    stored = dict(data)
    version = stored.pop("version")
    if type(version) is not int or version > VERSION:
        raise MethodError(
            f"a stored method has version {version!r}, this release reads up to {VERSION}; {NEWER}"
        )
    try:
        return _restored(stored)
    except MethodError:
        raise
    except UNREADABLE as error:
        raise MethodError(
            f"a stored method cannot be read: {error!r}; pass method= again"
        ) from None


def defaults(name: object) -> dict[str, Any]:
    """The default values of the fields of the part called `name`, as JSON.

    >>> defaults("acquisition.UCB")
    {'kappa': 2.0}
    """
    kind = _class_called(name)
    if kind is None or issubclass(kind, Enum):
        return {}
    left_out = {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in _arguments(kind)
    }
    return {field: _write(value) for field, value in left_out.items() if value is not MISSING}


def renamed(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A written part, with names of earlier versions replaced by those of today.

    >>> renamed({"class": "initial.OnePerPath", "size": 5})
    {'class': 'initial.OnePerBranch', 'size': 5}
    """
    name = data.get("class")
    if not isinstance(name, str):
        return data
    name = current(name)
    own = {
        current_field(name, field): current_value(name, field, value)
        for field, value in data.items()
    }
    return {**own, "class": name}


@cache
def _classes() -> dict[str, type]:
    """Every class a part may have, by the name it is stored under."""
    public = {
        f"{package.__name__.rpartition('.')[2]}.{name}": getattr(package, name)
        for package in PACKAGES
        for name in package.__all__
    }
    return {name: kind for name, kind in public.items() if _makes_parts(kind)}


def _class_called(name: object) -> type | None:
    return _classes().get(name) if isinstance(name, str) else None


@cache
def _names() -> dict[type, str]:
    """The name of every class; of two names, the one that the class itself has."""
    names: dict[type, str] = {}
    for name, kind in _classes().items():
        if kind not in names or name.endswith(f".{kind.__name__}"):
            names[kind] = name
    return names


def _makes_parts(kind: object) -> bool:
    """Whether instances of `kind` can be parts; strategies cannot, being made for one space."""
    if not isinstance(kind, type) or hasattr(kind, "propose"):
        return False
    return is_dataclass(kind) or issubclass(kind, Enum)


def _arguments(kind: type) -> list[Field[Any]]:
    """The fields that are arguments of `__init__` and stored; others follow from them."""
    return [field for field in fields(kind) if field.init and field.metadata != UNSTORED]


def _written(value: object) -> dict[str, Any] | None:
    """A part or a custom object as JSON; None for values that `records` writes itself."""
    name = _names().get(type(value))
    if name is None:
        return None if _is_plain(value) else {"custom": _qualified_name(value)}
    if isinstance(value, Enum):
        return {"class": name, "member": value.name}
    arguments = _arguments(type(value))
    own = {field.name: getattr(value, field.name) for field in arguments}
    return {"class": name, **{key: _write(argument) for key, argument in own.items()}}


def _write(value: object) -> Any:
    return records.write(value, part=_written)


def _is_plain(value: object) -> bool:
    """Whether `records` restores `value` with the same type."""
    if isinstance(value, np.generic) or type(value) is np.ndarray:
        return value.dtype.kind in "biuf" and value.dtype.itemsize <= 8
    if type(value) is dict or isinstance(value, MappingProxyType):
        return all(type(key) is str for key in value)
    return type(value) in PLAIN


def _qualified_name(value: object) -> str:
    """Without the module, whose name differs between running and importing a script."""
    name = getattr(value, "__qualname__", None)
    return name if isinstance(name, str) else type(value).__qualname__


def _restored(data: Mapping[str, Any]) -> Any:
    """The part that `_written` wrote."""
    if "custom" in data:
        raise MethodError(
            f"the stored method is or holds {data['custom']}, of which only the name was stored; "
            "pass method= again"
        )
    stored = dict(renamed(data))
    name = stored.pop("class")
    kind = _class_called(name)
    if kind is None:
        raise MethodError(f"a stored method has a part of the unknown class {name!r}; {NEWER}")
    if issubclass(kind, Enum):
        if stored.keys() != {"member"} or stored["member"] not in kind.__members__:
            raise MethodError(f"{name} of a stored method has no member {stored}; {NEWER}")
        return kind[stored["member"]]
    unknown = sorted(stored.keys() - {field.name for field in _arguments(kind)})
    if unknown:
        raise MethodError(f"{name} of a stored method has the unknown fields {unknown}; {NEWER}")
    values = {field: records.read(inner, _restored) for field, inner in stored.items()}
    try:
        return kind(**values)
    except UNREADABLE as error:
        raise MethodError(
            f"{name} of a stored method cannot be made of {values}: {error}; pass method= again"
        ) from None
