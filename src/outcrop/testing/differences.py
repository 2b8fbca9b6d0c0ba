"""Finite differences, and the numbers inside a frozen value that can be varied."""

from __future__ import annotations

__all__ = ["central_differences", "numbers", "with_number"]

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from outcrop.params import shaped
from outcrop.typing import Vector

Steps = tuple[str | int, ...]


def central_differences(
    function: Callable[[Vector], float], x: Vector | float, step: float = 1e-6
) -> Vector:
    """The gradient of `function` at `x`, of any shape, by (f(x + h) − f(x − h)) / 2h.

    >>> central_differences(lambda x: float(x @ x), np.array([1.0, 2.0])).round(6)
    array([2., 4.])
    """
    x = np.asarray(x, dtype=float)
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[index] += step
        behind[index] -= step
        gradient[index] = (function(ahead) - function(behind)) / (2 * step)
    return gradient


def numbers(value: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Vector]]:
    """Every float and float array inside a tree of dataclasses and tuples, with the steps to it."""
    if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype == float):
        yield steps, np.asarray(value)
    elif isinstance(value, tuple):
        for i, child in enumerate(value):
            yield from numbers(child, (*steps, i))
    elif is_dataclass(value):
        for field in fields(value):
            yield from numbers(getattr(value, field.name), (*steps, field.name))


def with_number(value: Any, steps: Steps, number: Vector) -> Any:
    """The same tree with one of its numbers replaced."""
    if not steps:
        return float(number) if isinstance(value, float) else number
    head, rest = steps[0], steps[1:]
    if isinstance(value, tuple):
        return tuple(with_number(c, rest, number) if i == head else c for i, c in enumerate(value))
    own = {field.name: getattr(value, field.name) for field in fields(value)}
    return shaped(value, **{**own, str(head): with_number(own[str(head)], rest, number)})
