"""Test problems: a space, a function on it, and its known minimum.

Shapes: `X` is `(n, d)` in native units, `U` the same points on the unit cube, values are `(n,)`.
"""

from __future__ import annotations

__all__ = ["Formula", "OnBox", "Problem", "box_problem"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from outcrop.errors import ParamsError, ShapeError
from outcrop.space import Float, Space
from outcrop.typing import Matrix, Params, Points, Vector


class Formula(Protocol):
    """A function of many points at once, `(n, d)` to `(n,)`."""

    def __call__(self, X: Matrix, /) -> Vector: ...


@dataclass(frozen=True, eq=False)
class Problem:
    """A function to minimise, with its space and its known minimum.

        problem = problems.get("branin")
        problem({"x1": 3.0, "x2": 2.0})                 # any problem: one value
        problem.evaluate(problem.from_unit(U))          # a box of floats: many at once

    A problem can be pickled, so that worker processes can evaluate it.
    """

    name: str
    space: Space
    function: Callable[[Params], float]
    minimum: float | None = None
    minimisers: tuple[Params, ...] = ()  # known ones, flat parameters
    tags: tuple[str, ...] = ()
    source: str = ""

    def __call__(self, params: Params) -> float:
        try:
            return float(self.function(params))
        except KeyError as error:
            raise ParamsError(
                f"{self.name} expects flat parameters of {list(self.space.parameters)}, "
                f"got {dict(params)}: {error} is missing"
            ) from error

    @property
    def dimension(self) -> int:
        """How many parameters the space declares, conditional ones included."""
        return len(self.space.parameters)

    @property
    def is_box(self) -> bool:
        """Whether the problem is a formula on a box, as the members below require."""
        return isinstance(self.function, OnBox)

    @property
    def formula(self) -> Formula:
        """The array function of a box problem."""
        return self._on_box.formula

    @property
    def bounds(self) -> Matrix:
        """Lower and upper bounds, `(d, 2)`."""
        return self._on_box.bounds.copy()

    def evaluate(self, X: Matrix) -> Vector:
        """Values at each row of `X`, which is in native units."""
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise ShapeError(f"{self.name} expects X (n, {self.dimension}), got {X.shape}")
        return self.formula(X)

    def from_unit(self, U: Points) -> Matrix:
        """Points of the unit cube in native units."""
        low, high = self._on_box.bounds.T
        return low + np.asarray(U, dtype=float) * (high - low)

    def to_unit(self, X: Matrix) -> Points:
        """Points in native units on the unit cube."""
        low, high = self._on_box.bounds.T
        return (np.asarray(X, dtype=float) - low) / (high - low)

    @property
    def minimiser_points(self) -> Matrix:
        """The known minimisers of a box problem as rows in native units."""
        names = self._on_box.names
        return np.array([[x[name] for name in names] for x in self.minimisers]).reshape(
            len(self.minimisers), len(names)
        )

    @property
    def _on_box(self) -> OnBox:
        if not isinstance(self.function, OnBox):
            raise ParamsError(
                f"{self.name} is not a box of floats; call it with parameters of its space"
            )
        return self.function


@dataclass(frozen=True, eq=False)
class OnBox:
    """A formula called with the parameters x1, x2, … of a box."""

    formula: Formula
    bounds: Matrix

    @property
    def names(self) -> list[str]:
        return [f"x{i}" for i in range(1, len(self.bounds) + 1)]

    def __call__(self, params: Params) -> float:
        return float(self.formula(np.array([[params[name] for name in self.names]]))[0])


def box_problem(
    name: str,
    formula: Formula,
    bounds: Sequence[tuple[float, float]] | Matrix,
    minimum: float | None = None,
    minimisers: Sequence[Sequence[float]] | Matrix = (),
    tags: tuple[str, ...] = (),
    source: str = "",
) -> Problem:
    """A problem on a box with parameters x1, …, xd; `minimisers` are rows in native units."""
    function = OnBox(formula, np.array(bounds, dtype=float))
    return Problem(
        name=name,
        space=Space(
            {
                label: Float(float(low), float(high))
                for label, (low, high) in zip(function.names, function.bounds, strict=True)
            }
        ),
        function=function,
        minimum=minimum,
        minimisers=tuple(
            dict(zip(function.names, map(float, point), strict=True)) for point in minimisers
        ),
        tags=tags,
        source=source,
    )
