"""Levels by their number, for peers that have no steps, no ordinals, or few kinds of levels."""

from __future__ import annotations

__all__ = ["coded", "decoded", "is_coded", "levels"]

from typing import Any

from outcrop.space import Choice, Float, Int, Ordinal


def is_coded(parameter: Any) -> bool:
    """Whether a peer has the number of a value: of all but floats and integers without steps."""
    match parameter:
        case Float():
            return parameter.step is not None
        case Int():
            return parameter.step > 1
    return True


def coded(parameter: Any, value: Any) -> Any:
    """What a peer has for a value."""
    return parameter.index(value) if is_coded(parameter) else value


def decoded(parameter: Any, code: Any) -> Any:
    """The value of what a peer has for it."""
    if not is_coded(parameter):
        return code
    is_number = isinstance(parameter, Float | Int)
    return parameter.at(int(code)) if is_number else levels(parameter)[int(code)]


def levels(parameter: Any) -> list[Any]:
    match parameter:
        case Choice():
            return list(parameter.names)
        case Ordinal():
            return list(parameter.values)
    return list(parameter.choices)
