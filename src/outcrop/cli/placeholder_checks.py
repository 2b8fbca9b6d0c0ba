"""Checks that a spec's placeholders are known, and that every parameter is used."""

from __future__ import annotations

__all__ = ["TomlKeys", "check_placeholders", "check_use"]

import re
from collections.abc import Mapping
from typing import TypeAlias

from outcrop.cli.placeholders import OFFERED, BadBrace, names
from outcrop.cli.toml import Table, shown
from outcrop.space import Choice, Parameter, Space
from outcrop.space.plain import listed, nearest

TomlKeys: TypeAlias = tuple[str | int, ...]  # keys and indices from the top of a file

CWD = ("folder", "here")  # placeholders that cwd may have: its folder must exist at the start


def check_placeholders(texts: Mapping[TomlKeys, str], space: Space, top: Table) -> None:
    """Refuse unknown placeholders, and conditional ones where a value is always needed."""
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


def check_use(texts: Mapping[TomlKeys, str], space: Space, top: Table) -> None:
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
