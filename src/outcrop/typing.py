"""Types that signatures of all packages use.

`Points` are `(n, d)` on the unit cube, `Vector` is `(n,)` or `(d,)`, `Matrix` is `(n, m)`; all are
float64. `Params` maps a flat parameter name to a plain Python value. A `JsonObject` has values that
`outcrop.records` can write as JSON.
"""

from __future__ import annotations

__all__ = ["JsonObject", "Mask", "Matrix", "Params", "Points", "Rng", "Vector"]

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Points: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Rng: TypeAlias = np.random.Generator
Params: TypeAlias = Mapping[str, Any]
JsonObject: TypeAlias = Mapping[str, object]
