"""Values as the texts of cells and back, as in a CSV file, and as a spreadsheet changes them.

A number is written with a decimal point or, in the whole of a table, with a decimal comma. A
category is written as its text; a string that could be taken for another category, or for an empty
cell, has quotes: `'1'` beside 1, `'True'` beside True, `''`.
"""

from __future__ import annotations

__all__ = [
    "decimal_mark",
    "escaped",
    "is_blank",
    "number_of_text",
    "text_of",
    "unescaped",
    "value_of_text",
]

import ast
import re
from collections.abc import Iterable
from typing import TypeVar

from outcrop.errors import ParamsError
from outcrop.space import Categorical, Choice, Fixed, Ordinal, Parameter
from outcrop.space.plain import Plain, mark

BLANK = frozenset({"", "nan", "na", "n/a", "#n/a", "null", "none", "<na>"})  # in lower case
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # beginnings of cells that a spreadsheet evaluates
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")

Cell = TypeVar("Cell")


def is_blank(text: str) -> bool:
    """Whether a cell for a number is empty, or says that there is none."""
    return text.strip().lower() in BLANK


# Numbers


def decimal_mark(texts: Iterable[str], *, semicolons: bool = False) -> str:
    """The decimal mark of all numbers of a table; `ParamsError` if it cannot be told.

    Where `semicolons` separate the cells, commas do not; elsewhere 1,234 may be a thousand.

    >>> decimal_mark(["0,5", "1,234"]), decimal_mark(["0.5", "12"])
    (',', '.')
    """
    texts = list(texts)
    comma = next((text for text in texts if "," in text), None)
    point = next((text for text in texts if "." in text), None)
    if comma is None:
        return "."
    if point is not None:
        raise ParamsError(
            f"numbers are written with a comma, {comma!r}, and with a point, {point!r}; write all "
            "with a decimal point and without separators of thousands"
        )
    if semicolons or not all(THOUSANDS.fullmatch(text.strip()) for text in texts if "," in text):
        return ","
    raise ParamsError(
        f"{comma!r} may have a decimal comma or a separator of thousands; write numbers with a "
        "decimal point and without separators"
    )


def number_of_text(text: str, decimal: str = ".") -> int | float | None:
    """The number that a text is, ±inf included; None if it is none."""
    plain = text.strip().replace(decimal, ".")
    if "_" in plain:
        return None
    for kind in (int, float):  # whole numbers of any size keep all their digits
        try:
            return kind(plain)
        except ValueError:
            continue
    return None


# Categories


def text_of(parameter: Parameter, value: Plain) -> Plain:
    """The cell for a value: for numbers themselves, for categories an unambiguous text."""
    texts = {mark(member): text for text, member in _labels(parameter).items()}
    return texts.get(mark(value), value)


def value_of_text(parameter: Parameter, text: str) -> object:
    """The category that a text stands for, as written by `text_of` or by a spreadsheet.

    A spreadsheet writes TRUE for True, 2 for 2.0, and maybe 0,5 for 0.5. None is the one of an
    empty cell; a text that stands for no category is returned as it is.
    """
    labels = _labels(parameter)
    for label in (text, text.strip(), unescaped(text)):
        if label in labels:
            return labels[label]
    if is_blank(text):
        return None
    if text.strip().lower() in ("true", "false"):
        return text.strip().lower() == "true"
    for decimal in (".", ","):
        if (number := number_of_text(text, decimal)) is not None:
            return number
    if text.strip().startswith("("):
        try:
            return ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
    return text


def _labels(parameter: Parameter) -> dict[str, Plain]:
    """The values of a parameter that lists them, by the texts for them."""
    match parameter:
        case Categorical(members) | Ordinal(members):
            pass
        case Fixed(value):
            members = (value,)
        case Choice():
            return {name: name for name in parameter.names}
        case _:
            return {}
    others = {repr(member) for member in members} | {""}
    return {
        member if isinstance(member, str) and member not in others else repr(member): member
        for member in members
        if member is not None  # it is an empty cell
    }


# Formulas


def escaped(cell: Cell) -> Cell | str:
    """A cell that a spreadsheet does not run: text that it would run has a leading apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def unescaped(text: str) -> str:
    """The text that `escaped` was given."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text
