"""Strange values: of objectives, of arguments, of JSON."""

from __future__ import annotations

__all__ = ["JSON", "STRANGE", "VALUES", "finite"]

from datetime import date
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

STRANGE: list[Any] = [  # anything that a caller might pass by mistake
    float("nan"),
    float("inf"),
    float("-inf"),
    1e300,
    -1e308,
    5e-324,
    -0.0,
    10**400,
    1j,
    True,
    None,
    "",
    "1.0",
    "nan",
    "\0",
    b"1",
    [],
    [1.0],
    [1.0, 2.0],
    (),
    {},
    {"x": 1.0},
    {"x": float("nan")},
    {"x": "1"},
    {1: 2},
    {"a": object()},
    np.float32(1.5),
    np.float64("nan"),
    np.array(2.0),
    np.array([1.0]),
    np.array([[1.0, 2.0]]),
    np.bool_(True),
    np.int64(3),
    Decimal("1.5"),
    Decimal("NaN"),
    Fraction(1, 3),
    date(2000, 1, 1),
    object(),
    int,
    len,
]

VALUES: list[list[float]] = [  # of an objective
    [0.0],
    [1.0, 2.0, 3.0],
    [1e300, -1e300],
    [1e308, -1e308, 0.0],
    [5e-324, 0.0, 1e-310],
    [1e-300, 1e300],
    [1.0, 1.0 + 1e-15],
    [0.0, 1e-12, 1e12],
]

JSON: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**63,
    10**400,
    1.5,
    -1e308,
    5e-324,
    "",
    "nan",
    "x",
    "\0",
    "\ud800",
    "é" * 300,
    "__import__('os')",
    [],
    [[]],
    {},
    [None],
    {"class": "strategies.Method"},
    {"class": "os.system", "command": "true"},
    {"float": "nan"},
    {"array": [1, "x"]},
    {"tuple": 3},
    {"custom": "Mine"},
]


def finite(values: list[float], chance: Random) -> float:
    """A number that is exactly one of `values`, or varies a little around the larger ones."""
    value = chance.choice(values)
    return value * chance.uniform(0.9, 1.0) if chance.random() < 0.7 else value
