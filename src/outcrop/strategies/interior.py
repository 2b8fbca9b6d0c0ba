"""A preference for points that speak for more of the space.

Where a model knows nothing, all points promise the same, but the corners of the cube are farthest
from any data and win by a hair; in six dimensions there are 64 of them. Yet an evaluation tells
about the space within a lengthscale around it, and in a corner nearly all of that lies outside. So
the log acquisition is lowered by the logarithm of the share that lies inside,

    Σᵢ ln[Φ((1 − xᵢ)/w) − Φ(−xᵢ/w)] + constant,

at most ln 2 for each number at a bound: too little to hold back a search that found its optimum
there, enough to look at the middle first.
"""

from __future__ import annotations

__all__ = ["Interior"]

from dataclasses import dataclass

import numpy as np

from outcrop.maximise import Function
from outcrop.space import Space
from outcrop.special import ndtr
from outcrop.typing import Points, Vector

WIDTH = 0.2  # w: about the lengthscale of a function that is hard to search
FEW_LEVELS = 16  # up to here a discrete column's ends are choices like others


@dataclass(frozen=True, eq=False)
class Interior:
    """A log acquisition, less what a point near the border cannot tell."""

    function: Function
    columns: tuple[int, ...]

    @classmethod
    def of(cls, function: Function, space: Space) -> Interior:
        return cls(
            function,
            tuple(
                c.index
                for c in space.columns
                if not c.is_code and (c.levels is None or c.levels > FEW_LEVELS)
            ),
        )

    def __call__(self, X: Points) -> Vector:
        return self.function(X) + np.log(self._shares(X)).sum(1)

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        value, gradient = self.function.with_gradient(X)
        shares, x = self._shares(X), X[:, self.columns]
        density = np.exp(-0.5 * (x / WIDTH) ** 2) - np.exp(-0.5 * ((1 - x) / WIDTH) ** 2)
        gradient = gradient.copy()
        gradient[:, self.columns] += density / (np.sqrt(2 * np.pi) * WIDTH * shares)
        return value + np.log(shares).sum(1), gradient

    def _shares(self, X: Points) -> Points:
        x = X[:, self.columns]
        return ndtr((1 - x) / WIDTH) - ndtr(-x / WIDTH)
