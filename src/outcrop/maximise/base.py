"""Functions to maximise, maximisers, scored points, and results.

Points `X` are encoded, `(n, D)`, as `Space.encode` gives them.
"""

from __future__ import annotations

__all__ = ["Function", "Maximises", "Maximum", "OfImages", "Scored", "clean"]

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from outcrop.space import Space
from outcrop.typing import Indices, Points, Rng, Vector


class Function(Protocol):
    """A function to be maximised."""

    def __call__(self, X: Points, /) -> Vector:
        """The value at each row of `X`."""
        ...

    def with_gradient(self, X: Points, /) -> tuple[Vector, Points]:
        """Values, and gradients `(n, D)`; their entries in columns of codes are ignored."""
        ...


@dataclass(frozen=True, eq=False)
class OfImages:
    """A function of the images of points under a map."""

    function: Function
    image: Callable[[Points], Points]
    pull: Callable[[Points], Points]  # gradients at the images to gradients at the points

    def __call__(self, X: Points) -> Vector:
        return self.function(self.image(X))

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        values, image_bar = self.function.with_gradient(self.image(X))
        return values, self.pull(image_bar)


@dataclass(frozen=True, eq=False)
class Maximum:
    """The best legal point found, and all legal points that were scored."""

    point: Vector  # (D,)
    value: float  # −inf if the function was finite nowhere
    candidates: Points
    values: Vector
    evaluations: int  # rows given to the function, those off the grid of a relaxation included


class Maximises(Protocol):
    """The interface of maximisers; see `Maximiser` for the arguments."""

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None, /) -> Points: ...

    def __call__(
        self,
        function: Function,
        space: Space,
        rng: Rng,
        /,
        *,
        forbidden: Collection[str] = frozenset(),
        scales: Vector | None = None,
        candidates: Points | None = None,
    ) -> Maximum: ...


@dataclass(frozen=True, eq=False)
class Scored:
    """Points and the values of the function there, −inf where not finite."""

    X: Points
    values: Vector

    @classmethod
    def by(cls, function: Function, X: Points) -> Scored:
        return cls(X, clean(function(X)) if len(X) else np.zeros(0))

    def __len__(self) -> int:
        return len(self.values)

    def join(self, other: Scored) -> Scored:
        return Scored(np.vstack([self.X, other.X]), np.concatenate([self.values, other.values]))

    def at(self, rows: Indices) -> Scored:
        return Scored(self.X[rows], self.values[rows])

    def top(self, n: int) -> Scored:
        """The `n` best, best first."""
        return self.at(np.argsort(-self.values, kind="stable")[:n])


def clean(values: Vector) -> Vector:
    """−inf instead of every value that is not finite."""
    return np.where(np.isfinite(values), values, -np.inf)
