"""A function that costs nothing more once the effort of its maximisation is spent."""

from __future__ import annotations

__all__ = ["Limited"]

from functools import cached_property

import numpy as np

from outcrop.effort import Effort
from outcrop.maximise.base import Function
from outcrop.typing import Points, Vector


class Limited:
    """`function` until `effort` is spent; the first call is answered in any case.

    Afterwards a point that was evaluated before has its value, any other −inf, and gradients are 0.
    So every maximiser comes to its end soon, with the best point that was evaluated.
    """

    def __init__(self, function: Function, effort: Effort) -> None:
        self.function = function
        self.effort = effort
        self._seen: list[tuple[Points, Vector]] = []

    def __call__(self, X: Points) -> Vector:
        if self._is_over():
            return self._remembered(X)
        values = self.function(X)
        self._seen.append((X.copy(), values))  # the caller may change its points
        return values

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        if self._is_over():
            return self._remembered(X), np.zeros_like(X)
        values, gradients = self.function.with_gradient(X)
        self._seen.append((X.copy(), values))
        return values, gradients

    def _is_over(self) -> bool:
        return bool(self._seen) and self.effort.is_spent("evaluations of the acquisition")

    def _remembered(self, X: Points) -> Vector:
        return np.array([self._known.get(row.tobytes(), -np.inf) for row in X])

    @cached_property
    def _known(self) -> dict[bytes, float]:
        """The value at each row that was evaluated; complete, since no more are."""
        return {
            row.tobytes(): value
            for X, values in self._seen
            for row, value in zip(X, values.tolist(), strict=True)
        }
