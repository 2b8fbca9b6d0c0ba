"""The space that `[parameters]` and `[[input_covariance]]` of a spec declare.

    [parameters.nu]                          type = "float" or "int": low, high, log, step,
                                             input_std
    [parameters.stencil]                     type = "categorical": choices
    [parameters.size]                        type = "ordinal": values
    [parameters.alpha]                       type = "fixed": value
    [parameters.model]                       type = "choice": options
    [parameters.model.options.linear]        an option without parameters
    [parameters.model.options.mlp.layers]    a parameter of option "mlp", {model.mlp.layers}

A list among `choices` is a tuple in the space. Numbers whose input noise is correlated have a
covariance instead of an `input_std`, in the same units:

    [[input_covariance]]
    names = ["north", "east"]
    matrix = [[4.0, 1.5], [1.5, 9.0]]
"""

from __future__ import annotations

__all__ = ["read_space"]

from collections.abc import Callable

from outcrop.cli.placeholders import OFFERED
from outcrop.cli.toml import Table, shown
from outcrop.errors import SpaceError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Parameter, Space
from outcrop.space.plain import listed, nearest

NUMBER = {
    "low": "a number",
    "high": "a number",
    "log": "true or false",
    "step": "a number",
    "input_std": "a number",
}
# Of each type, its class, and its keys with the kinds of their values: the arguments of the class.
TYPES: dict[str, tuple[Callable[..., Parameter], dict[str, str]]] = {
    "float": (Float, NUMBER),
    "int": (Int, NUMBER),
    "categorical": (Categorical, {"choices": "a list"}),
    "ordinal": (Ordinal, {"values": "a list"}),
    "fixed": (Fixed, {"value": "a value"}),
    "choice": (Choice, {"options": "a table"}),
}
OPTIONAL = ("log", "step", "input_std")
EXAMPLES = {
    "low": "low = 0.001",
    "high": "high = 1.0",
    "log": "log = true",
    "step": "step = 0.5",
    "input_std": "input_std = 2.0",
    "choices": 'choices = ["a", "b"]',
    "values": 'values = ["small", "large"]',
    "value": "value = 1.0",
    "names": 'names = ["north", "east"]',
    "constraints": 'constraints = ["x1 + x2 <= 1"]',
    "matrix": "matrix = [[4.0, 1.5], [1.5, 9.0]], a row for each name",
    "options": "a table for each option, such as [parameters.model.options.mlp.layers], "
    'or take type = "categorical" where no option has parameters',
}


def read_space(top: Table) -> Space:
    """The space that `[parameters]`, `[[input_covariance]]` and `constraints` declare."""
    table = top.table("parameters")
    if not table.items:
        raise table.error(
            'is missing or empty; declare a parameter, as in [parameters.nu] type = "float"'
        )
    for name in table.items:
        if name in OFFERED:
            raise table.error(f"is reserved for {{{name}}}, {OFFERED[name]}; rename it", name)
    group, blocks, constraints = _read_group(table), _read_blocks(top), _read_constraints(top)
    try:
        return Space(group, input_covariance=blocks, constraints=constraints)
    except SpaceError as error:
        raise table.error(f"cannot be used: {error}") from None


def _read_constraints(top: Table) -> list[str]:
    constraints: list[str] = top.get("constraints", "a list", EXAMPLES["constraints"], [])
    for index, text in enumerate(constraints):
        top.check(text, "a string", shown(str(text)), "constraints", index)
    return constraints


def _read_blocks(top: Table) -> dict[tuple[str, ...], object]:
    """Covariances by the names of their numbers."""
    blocks: dict[tuple[str, ...], object] = {}
    for table in top.tables("input_covariance"):
        table.only(["names", "matrix"], "input_covariance")
        names = tuple(table.need("names", "a list", EXAMPLES["names"]))
        for index, name in enumerate(names):
            table.check(name, "a string", shown(str(name)), "names", index)
        if names in blocks:
            raise table.error(f"is {shown(names)} for the second time; keep one of them", "names")
        blocks[names] = table.need("matrix", "a list", EXAMPLES["matrix"])
    return blocks


def _read_group(table: Table) -> dict[str, Parameter]:
    for name, item in table.items.items():
        if not isinstance(item, dict):
            constant = f'for a constant write {{type = "fixed", value = {shown(item)}}}'
            raise table.error(
                f"is {shown(item)}, expected a table that declares a parameter"
                f"{table.misplaced(name) or f'; {constant}'}",
                name,
            )
    return {name: _read_parameter(table.table(name)) for name in table.items}


def _read_parameter(table: Table) -> Parameter:
    kind = table.need("type", "a string", 'type = "float", or another type')
    if kind not in TYPES:
        raise table.error(
            f"is {shown(kind)}, expected one of {listed([*TYPES])}{nearest(kind, TYPES)}", "type"
        )
    made, keys = TYPES[kind]
    table.only(["type", *keys], f"type {shown(kind)}")
    given = {
        key: _read_value(table, key, wanted)
        for key, wanted in keys.items()
        if key in table.items or key not in OPTIONAL
    }
    try:
        return made(**given)
    except SpaceError as error:
        raise table.error(f"cannot be used: {error}") from None


def _read_value(table: Table, key: str, kind: str) -> object:
    value = table.need(key, kind, EXAMPLES[key])
    return _read_options(table.table(key)) if key == "options" else _as_tuples(value)


def _read_options(table: Table) -> dict[str, dict[str, Parameter]]:
    for option, item in table.items.items():
        table.check(item, "a table", "{} if it has no parameters", option)
    return {option: _read_group(table.table(option)) for option in table.items}


def _as_tuples(value: object) -> object:
    """A category with its lists converted to tuples, as a space needs them."""
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list) else value
