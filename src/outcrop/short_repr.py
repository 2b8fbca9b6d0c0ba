"""The `repr` of values that hold arrays: one line, with the arrays' shapes in place of numbers."""

from __future__ import annotations

__all__ = ["short_repr"]

from collections.abc import Collection
from dataclasses import fields
from typing import Any

FEW = 4  # numbers or items that are written out
LONGEST = 400  # characters of a field


def short_repr(value: Any) -> str:
    """A dataclass by its fields, without the contents of arrays and of long collections.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Fit:
    ...     weights: tuple[float, ...]
    ...     noise: float
    ...     __repr__ = short_repr
    >>> Fit((0.1,) * 9, 0.5), Fit((0.1, 0.9), 0.5)
    (Fit(weights=<tuple of 9>, noise=0.5), Fit(weights=(0.1, 0.9), noise=0.5))
    """
    parts = [f"{item.name}={_short(getattr(value, item.name))}" for item in fields(value)]
    return f"{type(value).__name__}({', '.join(parts)})"


def _short(item: Any) -> str:
    kind, shape = type(item).__name__, getattr(item, "shape", ())
    if len(shape) > 1 or (shape and shape[0] > FEW):
        return f"<{kind} {' × '.join(map(str, shape))}>"
    if isinstance(item, Collection) and not isinstance(item, str) and len(item) > FEW:
        return f"<{kind} of {len(item)}>"
    text = " ".join(repr(item).split())  # arrays of a few numbers may be on several lines
    return text if len(text) <= LONGEST else f"<{kind}>"
