"""A penalty on points near the border of the unit cube.

Far from all data the acquisition is nearly constant, but slightly larger in the corners of the
cube, which are farthest from any data; in six dimensions there are 64 of them. Yet an evaluation is
informative within about a lengthscale, and around a corner most of that region lies outside the
cube. So the share of it that lies inside is added to the log acquisition as a logarithm,

    Σᵢ ln[Φ((1 − xᵢ)/w) − Φ(−xᵢ/w)] + constant,

which lowers it by at most ln 2 for each number at a bound, enough to search the middle first. A
bound counts as open, with nothing lost beyond it, once the best observation lies near it: a search
that has found its way to a corner is not kept from it.
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
    """A log acquisition with a penalty near the border."""

    function: Function
    columns: tuple[int, ...]
    below: Vector  # of each column, 1 if its lower bound is penalised, 0 if it is open
    above: Vector  # and its upper bound

    @classmethod
    def of(cls, function: Function, space: Space, best: Vector) -> Interior:
        """`best` is the point with the lowest observation."""
        columns = tuple(
            c.index
            for c in space.columns
            if not c.is_code and (c.levels is None or c.levels > FEW_LEVELS)
        )
        x = best[list(columns)]
        return cls(function, columns, (x >= WIDTH).astype(float), (x <= 1 - WIDTH).astype(float))

    def __call__(self, X: Points) -> Vector:
        return self.function(X) + np.log(self._shares(X)).sum(1)

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        value, gradient = self.function.with_gradient(X)
        shares, x = self._shares(X), X[:, self.columns]
        density = self.below * np.exp(-0.5 * (x / WIDTH) ** 2)
        density -= self.above * np.exp(-0.5 * ((1 - x) / WIDTH) ** 2)
        gradient = gradient.copy()
        gradient[:, self.columns] += density / (np.sqrt(2 * np.pi) * WIDTH * shares)
        return value + np.log(shares).sum(1), gradient

    def _shares(self, X: Points) -> Points:
        x = X[:, self.columns]
        return 1 - self.above * ndtr((x - 1) / WIDTH) - self.below * ndtr(-x / WIDTH)
