"""`outcrop migrate`: give a study the space of its changed spec file."""

from __future__ import annotations

__all__ = ["migrate"]

import json
from pathlib import Path
from typing import Annotated

import typer

from outcrop.cli.arguments import StorageUrl, say, texts_by_name
from outcrop.errors import ParamsError, StudyError
from outcrop.space import Space
from outcrop.space.plain import Plain


def migrate(
    spec: Annotated[
        Path, typer.Argument(metavar="SPEC", help="The spec file, with the new parameters.")
    ],
    default: Annotated[
        list[str] | None,
        typer.Option(
            "--default",
            metavar="NAME=VALUE",
            help="The value of a parameter in trials that do not have it.",
        ),
    ] = None,
    storage: StorageUrl = None,
) -> None:
    """Change the space of a study to that of its spec file.

    \b
    Example:
      outcrop migrate spec.toml --default dropout=0
      outcrop run spec.toml --resume

    All trials are kept. Those that fit the new space are used by the model: new parameters have
    their defaults, and parameters that were removed are left out. The others are set aside, and a
    later change that they fit brings them back.
    """
    from outcrop.cli.spec import read_spec
    from outcrop.cli.study_lookup import study_of

    if spec.suffix != ".toml":
        raise StudyError(
            f"expected a spec file with the new parameters, NAME.toml, got {str(spec)!r}; "
            "a study that has none is changed by Study.change_space"
        )
    space, study = read_spec(spec).space, study_of(str(spec), storage)
    texts = texts_by_name(default or [], "--default")
    defaults = {name: _read(text, name, [space, study.space]) for name, text in texts.items()}
    for line in str(study.change_space(space, defaults=defaults)).splitlines():
        say(line)
    say(f"continue with: outcrop run {spec} --resume")


def _read(text: str, name: str, spaces: list[Space]) -> Plain:
    """The value that a text stands for: a number, true, false or null, or else the text itself.

    Text is preferred if the parameter has no such number, as a category "10" of text.
    """
    try:
        value: Plain = json.loads(text)
    except ValueError:
        return text
    having = [space for space in spaces if name in space.parameters][:1]
    prefers_text = any(
        not _takes(each, name, value) and _takes(each, name, text) for each in having
    )
    return text if prefers_text else value


def _takes(space: Space, name: str, value: Plain) -> bool:
    try:
        space.parameters[name].check(value, name)
    except ParamsError:
        return False
    return True
