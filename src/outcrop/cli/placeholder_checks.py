"""Whether a spec's placeholders stand for something, and whether every parameter is used."""

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

CWD = ("folder", "here")  # it must be there before the first trial, or be the trial's own


def check_placeholders(texts: Mapping[TomlKeys, str], space: Space, top: Table) -> None:
    """Refuse placeholders that name nothing, or that are not there when they must be."""
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
                    f"is {shown(text)}, but {{{name}}} is not there in every trial; use what is",
                    *place,
                )


def check_use(texts: Mapping[TomlKeys, str], space: Space, top: Table) -> None:
    """Refuse parameters that never reach the program, and a result file it cannot know of."""
    used = {name for text in texts.values() for name in names(text)}
    path = ("objective", "path")
    if path in texts and not {"folder", "params"} & used:
        raise top.error(
            f"is {shown(texts[path])} in the trial's folder, of which the program does not know; "
            'put {folder} into command, or write cwd = "{folder}"',
            *path,
        )
    if "params" in used:
        return
    for name, parameter in space.parameters.items():
        if name not in used and not _tells(parameter):
            raise top.error(
                f"is used nowhere; put {{{name}}} into command or env, hand over all parameters "
                "in the file {params}, or delete it",
                *_declared(name),
            )


def _unknown(name: str, known: list[str]) -> str:
    """Why a placeholder cannot be filled."""
    bare = re.split("[:!]", name)[0]
    if bare != name and bare in known:
        return f"there are no formats, values are written in full; write {{{bare}}}"
    near = nearest(name, known) or f"; known are {listed(known)}"
    return f"{{{name}}} names no parameter{near}; for braces as such write {{{{ and }}}}"


def _tells(parameter: Parameter) -> bool:
    """Whether a choice is known by which of its parameters come."""
    return isinstance(parameter, Choice) and sum(not g for g in parameter.options.values()) <= 1


def _declared(name: str) -> list[str]:
    """Where a flat name is declared: `model.mlp.layers` is parameters.model.options.mlp.layers."""
    place = ["parameters"]
    for index, part in enumerate(name.split(".")):
        place += ["options", part] if index % 2 else [part]
    return place
