"""Arguments and options that several commands have, and values by name among them."""

from __future__ import annotations

__all__ = ["NeededStudy", "StorageUrl", "StudyName", "numbers_by_name", "say", "texts_by_name"]

from collections.abc import Sequence
from typing import Annotated

import typer

from outcrop.cli.terminal_text import printable
from outcrop.space.plain import exact_float

StudyName = Annotated[
    str | None,
    typer.Argument(
        metavar="[STUDY]", help="Name of a study, or its spec file.", show_default=False
    ),
]
NeededStudy = Annotated[
    str, typer.Argument(metavar="STUDY", help="Name of a study, or its spec file.")
]
StorageUrl = Annotated[
    str | None,
    typer.Option(
        "--storage", "-s", metavar="URL", help="The store: sqlite:///FILE.db, or the file."
    ),
]


def say(line: str) -> None:
    """Print a line, without what a terminal would obey."""
    print(printable(line), flush=True)


def texts_by_name(given: Sequence[str], option: str) -> dict[str, str]:
    """Texts such as `x=0.5` by the names before the equals signs.

    >>> texts_by_name(["x=0.5", "mode=a=b"], "--at")
    {'x': '0.5', 'mode': 'a=b'}
    """
    pairs = [each.partition("=") for each in given]
    for each, (name, equals, _) in zip(given, pairs, strict=True):
        if not name or not equals:
            raise typer.BadParameter(f"{option} {each}: expected {option} NAME=VALUE")
    return {name: text for name, _, text in pairs}


def numbers_by_name(given: Sequence[str], option: str) -> dict[str, float] | None:
    """Numbers such as `x=0.5` by name; None if none is given."""
    numbers = {}
    for name, text in texts_by_name(given, option).items():
        try:
            number = exact_float(float(text))
        except ValueError:
            number = None
        if number is None:
            raise typer.BadParameter(f"{option} {name}={text}: expected a finite number")
        numbers[name] = number
    return numbers or None
