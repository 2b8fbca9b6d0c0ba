"""Placeholders: `{nu}` in an argument, a variable or a path is replaced by the trial's `nu`.

Names are flat, such as `{model.mlp.layers}`, or those of `OFFERED`. A value is inserted literally,
without a shell: text unchanged, floats with all their digits, other values as JSON (`true`,
`[1, 2]`). There are no formats. `{{` and `}}` stand for braces.

>>> fill("--nu={nu} {{x}}", {"nu": written(0.1)})
'--nu=0.1 {x}'
"""

from __future__ import annotations

__all__ = [
    "OFFERED",
    "BadBrace",
    "TomlKeys",
    "check_placeholders",
    "fill",
    "names",
    "written",
]

import json
import re
from collections.abc import Mapping
from typing import TypeAlias

from outcrop.cli.toml import Table, shown
from outcrop.space import Choice, Parameter, Space
from outcrop.space.plain import listed, nearest

TomlKeys: TypeAlias = tuple[str | int, ...]  # keys and indices from the top of a file

OFFERED = {
    "params": "path of a JSON file with the trial's parameters under their flat names",
    "trial": "number of the trial",
    "folder": "folder of the trial's output",
    "here": "folder of the spec file",
    "python": "the Python that runs outcrop",
}

CWD = ("folder", "here")  # placeholders that cwd may have: its folder must exist at the start
PATTERN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class BadBrace(ValueError):
    """A brace that is neither part of a placeholder nor doubled."""


def names(text: str) -> list[str]:
    """The placeholders of a text, in order.

    >>> names("{a}x{model.mlp.layers}{{b}}")
    ['a', 'model.mlp.layers']
    """
    found = []
    for match in PATTERN.finditer(text):
        if match[1] is not None:
            found.append(match[1])
        elif len(match[0]) == 1:
            raise BadBrace(f"has a single {match[0]}; write {match[0] * 2} for a brace")
    return found


def fill(text: str, values: Mapping[str, str]) -> str | None:
    """The text with its placeholders replaced; None if one of them has no value."""
    if not all(name in values for name in names(text)):
        return None
    return PATTERN.sub(lambda m: m[0][0] if m[1] is None else values[m[1]], text)


def written(value: object) -> str:
    """A parameter's value as it is passed to a program."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def check_placeholders(texts: Mapping[TomlKeys, str], space: Space, top: Table) -> None:
    """Refuse unknown or wrongly placed placeholders, and parameters that are not used."""
    known = [*space.parameters, *OFFERED]
    for place, text in texts.items():
        try:
            found = names(text)
        except BadBrace as error:
            raise top.error(f"is {shown(text)}, which {error}", *place) from None
        for name in found:
            if name not in known:
                raise top.error(f"is {shown(text)}: {_unknown(name, known)}", *place)
            if place == ("cwd",) and name not in CWD:
                raise top.error(f"is {shown(text)}; only {{folder}} or {{here}} can be used", "cwd")
            needed = place[:2] == ("command", 0) or place == ("objective", "path")
            if needed and "." in name:  # the flat name of a conditional parameter
                raise top.error(
                    f"is {shown(text)}, but {{{name}}} is not active in every trial; remove it",
                    *place,
                )
    _check_use(texts, space, top)


def _check_use(texts: Mapping[TomlKeys, str], space: Space, top: Table) -> None:
    """Refuse parameters that are not passed to the program, and an unreachable result file."""
    used = {name for text in texts.values() for name in names(text)}
    path = ("objective", "path")
    if path in texts and not {"folder", "params"} & used:
        raise top.error(
            f"is {shown(texts[path])} in the trial's folder, which is not passed to the program; "
            'put {folder} into command, or write cwd = "{folder}"',
            *path,
        )
    if "params" in used:
        return
    for name, parameter in space.parameters.items():
        if name not in used and not _tells(parameter):
            raise top.error(
                f"is not used; put {{{name}}} into command or env, pass all parameters in the file "
                "{params}, or delete it",
                *_declared(name),
            )


def _unknown(name: str, known: list[str]) -> str:
    """Why a placeholder is refused."""
    bare = re.split("[:!]", name)[0]
    if bare != name and bare in known:
        return f"formats are not supported, values have all their digits; write {{{bare}}}"
    near = nearest(name, known) or f"; expected one of {listed(known)}"
    return f"{{{name}}} is not a parameter{near}; for literal braces write {{{{ and }}}}"


def _tells(parameter: Parameter) -> bool:
    """Whether the active parameters of a choice determine its option."""
    return isinstance(parameter, Choice) and sum(not g for g in parameter.options.values()) <= 1


def _declared(name: str) -> list[str]:
    """Where a flat name is declared: `model.mlp.layers` is parameters.model.options.mlp.layers."""
    place = ["parameters"]
    for index, part in enumerate(name.split(".")):
        place += ["options", part] if index % 2 else [part]
    return place
