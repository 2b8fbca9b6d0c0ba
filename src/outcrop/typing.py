"""Type aliases for the signatures of Outcrop.

`Points` are `(n, d)` on the unit cube, `Vector` is `(n,)` or `(d,)`, `Matrix` is `(n, m)`; all are
float64. `Params` maps a flat parameter name to a plain Python value. A `JsonObject` has values that
`outcrop.records` can write as JSON.
"""

from __future__ import annotations

__all__ = [
    "Conditions",
    "Configuration",
    "Draw",
    "Indices",
    "JsonDict",
    "JsonObject",
    "Mask",
    "Matrix",
    "Params",
    "Points",
    "PredictionPull",
    "Rng",
    "Vector",
]

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Points: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.intp]
Rng: TypeAlias = np.random.Generator
Params: TypeAlias = Mapping[str, Any]
Configuration: TypeAlias = dict[str, Any]  # parameters by name, with nested ones as dicts
JsonDict: TypeAlias = dict[str, Any]  # an object as the json module reads and writes it
JsonObject: TypeAlias = Mapping[str, object]

# Pairs (column of a choice, code of an option); a point is inside where all of them hold.
Conditions: TypeAlias = tuple[tuple[int, int], ...]

# The gradient in the points from those in means and variances: (mean_bar, var_bar) -> X_bar.
PredictionPull: TypeAlias = Callable[[Vector, Vector], Points]


class Draw(Protocol):
    """One function drawn from a posterior."""

    def __call__(self, X: Points) -> Vector:
        """Its value at each row of `X`, `(m,)`."""
        ...

    def gradient(self, X: Points) -> Points:
        """Its gradient at each row of `X`, `(m, d)`."""
        ...
