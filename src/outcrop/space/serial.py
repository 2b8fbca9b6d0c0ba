"""A space as JSON and back.

Parameters are a list, since not every store keeps the order of keys. Tuples are written as
`{"tuple": […]}`; all other plain values as themselves. Input noise and constraints are written only
if there are some, so that the form of other spaces does not change. A space with constraints has a
version of its own: a release that does not know them must not search without them.
"""

from __future__ import annotations

__all__ = [
    "VERSION",
    "read_group",
    "read_space",
    "write_blocks",
    "write_constraints",
    "write_group",
]

import json
from collections.abc import Mapping, Sequence
from typing import Any

from outcrop import records
from outcrop.errors import SpaceError
from outcrop.space.constraints import Constraint, Expression, Predicate, referred
from outcrop.space.discrete import Categorical, Choice, Fixed, Group, Ordinal
from outcrop.space.noise import InputCovariances
from outcrop.space.parameters import Float, Int, Parameter
from outcrop.space.plain import listed
from outcrop.typing import JsonDict

VERSION, WITH_CONSTRAINTS = 1, 2

KEYS = {
    "float": ("low", "high", "log", "step"),
    "int": ("low", "high", "log", "step"),
    "categorical": ("choices",),
    "ordinal": ("values",),
    "fixed": ("value",),
    "choice": ("options",),
}

OPTIONAL = {"float": ("input_std",), "int": ("input_std",)}


def write_group(group: Group) -> list[JsonDict]:
    """A list with one JSON object for each parameter."""
    return [{"name": name, **_write(parameter)} for name, parameter in group.items()]


def write_blocks(blocks: InputCovariances) -> JsonDict:
    """Covariances of inputs under their key; empty if there are none."""
    if not blocks:
        return {}
    listed = [
        {"names": list(names), "matrix": [*map(list, rows)]} for names, rows in blocks.items()
    ]
    return {"input_covariance": listed}


def write_constraints(constraints: Sequence[Constraint], in_process: bool) -> JsonDict:
    """Constraints under their key, and the version that has them; empty if there are none.

    A Python function is refused, unless the JSON is read in this process only.
    """
    if not constraints:
        return {}
    written: list[object] = []
    for each in constraints:
        if isinstance(each, Expression):
            written.append(each.written)
        elif isinstance(each, Predicate) and in_process:
            written.append({"predicate": each.reference})
        else:
            raise SpaceError(
                f"the constraint {each.text} is a Python function, which cannot be stored; write "
                "it as an expression, such as 'x1 + x2 <= 1', or use an Optimizer or a Study "
                "without storage"
            )
    return {"version": WITH_CONSTRAINTS, "constraints": written}


def read_space(data: object) -> tuple[Group, dict[tuple[Any, ...], Any], list[Any]]:
    """Parameters, covariances and constraints from what `Space.to_json` wrote, or its text."""
    if isinstance(data, str | bytes):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise SpaceError(
                f"a stored space is not JSON: {error}; pass what to_json returned"
            ) from None
    optional = ("input_covariance", "constraints")
    version = data.get("version", VERSION) if isinstance(data, Mapping) else VERSION
    if type(version) is not int or version not in (VERSION, WITH_CONSTRAINTS):
        raise SpaceError(
            f"a stored space has version {version!r}, this release reads versions up to "
            f"{WITH_CONSTRAINTS}; use the release that wrote it, or a newer one"
        )
    stored = _object(data, ("version", "parameters"), "a stored space", optional)
    blocks = {}
    for item in _list(stored.get("input_covariance", [])):
        block = _object(item, ("names", "matrix"), "a stored input covariance")
        blocks[tuple(_list(block["names"]))] = block["matrix"]
    constraints = [_read_constraint(each) for each in _list(stored.get("constraints", []))]
    return read_group(stored["parameters"]), blocks, constraints


def _read_constraint(data: object) -> object:
    if isinstance(data, str):
        return data
    return referred(_object(data, ("predicate",), "a stored constraint")["predicate"])


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
        keys = ("name", "type", *KEYS[kind])
        fields = _object(item, keys, f"a stored {kind}", OPTIONAL.get(kind, ()))
        group[_new(fields["name"], group)] = _read(kind, fields)
    return group


def _write(parameter: Parameter) -> JsonDict:
    match parameter:
        case Float(low, high, log=log, step=step) | Int(low, high, log=log, step=step):
            kind = "float" if isinstance(parameter, Float) else "int"
            written = {"type": kind, "low": low, "high": high, "log": log, "step": step}
            noise = parameter.input_std
            return written if noise is None else {**written, "input_std": noise}
        case Categorical(choices):
            return {"type": "categorical", "choices": [records.write(value) for value in choices]}
        case Ordinal(values):
            return {"type": "ordinal", "values": list(values)}
        case Fixed(value):
            return {"type": "fixed", "value": records.write(value)}
        case Choice(options):
            opened = [{"name": name, "parameters": write_group(g)} for name, g in options.items()]
            return {"type": "choice", "options": opened}
    raise TypeError(f"{parameter!r} cannot be stored")


def _read(kind: str, fields: Mapping[str, Any]) -> Parameter:
    match kind:
        case "float" | "int":
            number = Float if kind == "float" else Int
            return number(**{key: fields[key] for key in fields if key not in ("name", "type")})
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


def _read_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(
            _read_plain(item) for item in _list(_object(value, ("tuple",), "a value")["tuple"])
        )
    return value


def _new(name: object, known: Mapping[str, object]) -> str:
    """A stored name, checked to be new."""
    if not isinstance(name, str) or name in known:
        raise SpaceError(f"a stored space: expected distinct strings as names, got {name!r}")
    return name


def _list(data: object) -> list[Any]:
    if not isinstance(data, list):
        raise SpaceError(f"a stored space: expected a list, got {data!r}")
    return data


def _object(
    data: object, keys: tuple[str, ...], what: str, optional: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """A JSON object, checked to have these keys; some are optional."""
    if not isinstance(data, Mapping):
        raise SpaceError(f"{what}: expected an object with {listed(keys)}, got {data!r}")
    for key in (*data, *keys):
        if key not in keys and key not in optional:
            raise SpaceError(f"{what}: unknown key {key!r}; expected {listed(keys)}")
        if key not in data:
            raise SpaceError(f"{what}: key {key!r} is missing; expected {listed(keys)}")
    return data
