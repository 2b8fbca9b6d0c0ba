"""A search among the configurations that have given categories.

What is left to choose are numbers, all of them active: a space of its own, which any maximiser can
search. `Z` are points of that space, `X` those of the whole one.
"""

from __future__ import annotations

__all__ = ["Held", "Part"]

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from outcrop.maximise import Function, Maximises, Maximum
from outcrop.space import Fixed, Space
from outcrop.typing import Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class Part:
    """The configurations of a space that have given categories."""

    whole: Space
    point: Vector  # (D,) with the codes of active categories, and 0 elsewhere

    @classmethod
    def of(cls, whole: Space, codes: Mapping[str, int]) -> Part:
        """By the codes of all categories, those of inactive ones included."""
        point = np.zeros((1, len(whole.columns)))
        for column in whole.columns:
            if column.is_code:
                point[:, column.index] = codes[column.name]
        return cls(whole, np.where(whole.active(point), point, 0.0)[0])

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The columns that are left to choose."""
        active = self.whole.active(self.point[None])[0]
        return tuple(c.index for c in self.whole.columns if active[c.index] and not c.is_code)

    @cached_property
    def space(self) -> Space:
        """The numbers alone; without any it holds one configuration."""
        own = {str(index): self.whole.columns[index].parameter for index in self.numbers}
        return Space(own or {"nothing": Fixed(None)})

    def raised(self, Z: Points) -> Points:
        X = np.tile(self.point, (len(Z), 1))
        X[:, self.numbers] = Z
        return X

    def lowered(self, X: Points) -> Points:
        """The numbers of any points, whatever their categories."""
        return np.ascontiguousarray(X[:, self.numbers])

    def keys(self, X: Points) -> frozenset[str]:
        """The keys, in the space of the numbers, of those rows of `X` that have the categories."""
        codes = [column.index for column in self.whole.columns if column.is_code]
        has_all = (X[:, codes] == self.point[codes]).all(1)
        return frozenset(self.space.keys(self.lowered(X[has_all])))

    def has_more_than(self, X: Points) -> bool:
        """Whether it holds a configuration that is not among the rows of `X`."""
        return self.space.size is None or len(self.keys(X)) < self.space.size


@dataclass(frozen=True, eq=False)
class Held:
    """A maximiser that searches a part only, for a point that is not among `taken`."""

    maximiser: Maximises
    part: Part
    taken: frozenset[str]  # keys in the part's own space

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None) -> Points:
        near = None if incumbents is None else self.part.lowered(incumbents)
        return self.part.raised(self.maximiser.candidates(self.part.space, rng, near))

    def __call__(
        self,
        function: Function,
        space: Space,
        rng: Rng,
        *,
        forbidden: Collection[str] | None = None,
        scales: Vector | None = None,
        candidates: Points | None = None,
    ) -> Maximum:
        """As any maximiser; if nothing is said to be `forbidden`, what is taken may be found."""
        found = self.maximiser(
            _Lowered(function, self.part),
            self.part.space,
            rng,
            candidates=None if candidates is None else self.part.lowered(candidates),
            scales=None if scales is None else scales[list(self.part.numbers)],
            forbidden=frozenset() if forbidden is None else self.taken,
        )
        return Maximum(
            self.part.raised(found.point[None])[0],
            found.value,
            self.part.raised(found.candidates),
            found.values,
            found.evaluations,
        )


@dataclass(frozen=True, eq=False)
class _Lowered:
    """A function of whole points as one of their numbers."""

    function: Function
    part: Part

    def __call__(self, Z: Points) -> Vector:
        return self.function(self.part.raised(Z))

    def with_gradient(self, Z: Points) -> tuple[Vector, Points]:
        values, gradients = self.function.with_gradient(self.part.raised(Z))
        return values, self.part.lowered(gradients)
