"""A space as JSON and back.

Parameters are listed, not keyed, since not every store keeps the order of keys. Tuples are written
as `{"tuple": […]}`; all other plain values are themselves.
"""

from __future__ import annotations

__all__ = ["VERSION", "read_group", "read_space", "write_group"]

import json
from collections.abc import Mapping
from typing import Any

from outcrop.errors import SpaceError
from outcrop.space.discrete import Categorical, Choice, Fixed, Group, Ordinal
from outcrop.space.parameters import Float, Int, Parameter
from outcrop.space.plain import Plain, listed

VERSION = 1

KEYS = {
    "float": ("low", "high", "log", "step"),
    "int": ("low", "high", "log", "step"),
    "categorical": ("choices",),
    "ordinal": ("values",),
    "fixed": ("value",),
    "choice": ("options",),
}


def write_group(group: Group) -> list[dict[str, Any]]:
    """A list with one JSON object for each parameter."""
    return [{"name": name, **_write(parameter)} for name, parameter in group.items()]


def read_space(data: object) -> Group:
    """The parameters of what `Space.to_json` wrote, as an object or as text."""
    if isinstance(data, str | bytes):
        try:
            data = json.loads(data)
        except ValueError as error:
            raise SpaceError(
                f"a stored space is not JSON: {error}; pass what to_json returned"
            ) from None
    stored = _object(data, ("version", "parameters"), "a stored space")
    if type(stored["version"]) is not int or stored["version"] != VERSION:
        raise SpaceError(
            f"a stored space has version {stored['version']!r}, this release reads version "
            f"{VERSION}; use the release that wrote it, or a newer one"
        )
    return read_group(stored["parameters"])


def read_group(data: object) -> Group:
    """Parameters from the list that `write_group` made."""
    if not isinstance(data, list):
        raise SpaceError(f"a stored space: expected a list of parameters, got {data!r}")
    group: dict[str, Parameter] = {}
    for item in data:
        kind = item.get("type") if isinstance(item, Mapping) else None
        if not isinstance(kind, str) or kind not in KEYS:
            raise SpaceError(
                f"a stored parameter: expected a type of {listed([*KEYS])}, got {item!r}"
            )
        fields = _object(item, ("name", "type", *KEYS[kind]), f"a stored {kind}")
        group[_new(fields["name"], group)] = _read(kind, fields)
    return group


def _write(parameter: Parameter) -> dict[str, Any]:
    match parameter:
        case Float(low, high, log=log, step=step):
            return {"type": "float", "low": low, "high": high, "log": log, "step": step}
        case Int(low, high, log=log, step=step):
            return {"type": "int", "low": low, "high": high, "log": log, "step": step}
        case Categorical(choices):
            return {"type": "categorical", "choices": [_write_plain(value) for value in choices]}
        case Ordinal(values):
            return {"type": "ordinal", "values": list(values)}
        case Fixed(value):
            return {"type": "fixed", "value": _write_plain(value)}
        case Choice(options):
            opened = [{"name": name, "parameters": write_group(g)} for name, g in options.items()]
            return {"type": "choice", "options": opened}
    raise TypeError(f"{parameter!r} cannot be stored")


def _read(kind: str, fields: Mapping[str, Any]) -> Parameter:
    match kind:
        case "float":
            return Float(fields["low"], fields["high"], log=fields["log"], step=fields["step"])
        case "int":
            return Int(fields["low"], fields["high"], log=fields["log"], step=fields["step"])
        case "categorical":
            return Categorical([_read_plain(value) for value in _list(fields["choices"])])
        case "ordinal":
            return Ordinal(fields["values"])
        case "fixed":
            return Fixed(_read_plain(fields["value"]))
    options: dict[str, Group] = {}
    for item in _list(fields["options"]):
        option = _object(item, ("name", "parameters"), "a stored option")
        options[_new(option["name"], options)] = read_group(option["parameters"])
    return Choice(options)


def _write_plain(value: Plain) -> Any:
    return {"tuple": [_write_plain(item) for item in value]} if isinstance(value, tuple) else value


def _read_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(
            _read_plain(item) for item in _list(_object(value, ("tuple",), "a value")["tuple"])
        )
    return value


def _new(name: object, known: Mapping[str, object]) -> str:
    """A stored name that is not there yet."""
    if not isinstance(name, str) or name in known:
        raise SpaceError(f"a stored space: expected a string that is not there twice, got {name!r}")
    return name


def _list(data: object) -> list[Any]:
    if not isinstance(data, list):
        raise SpaceError(f"a stored space: expected a list, got {data!r}")
    return data


def _object(data: object, keys: tuple[str, ...], what: str) -> Mapping[str, Any]:
    """A JSON object with exactly these keys."""
    if not isinstance(data, Mapping):
        raise SpaceError(f"{what}: expected an object with {listed(keys)}, got {data!r}")
    for key in (*data, *keys):
        if key not in keys:
            raise SpaceError(f"{what}: unknown key {key!r}; expected {listed(keys)}")
        if key not in data:
            raise SpaceError(f"{what}: key {key!r} is missing; expected {listed(keys)}")
    return data
