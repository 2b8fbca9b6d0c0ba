"""A search among the configurations whose categories, or other columns, have given values.

The columns that are left to choose form a space of their own, which any maximiser can search. `Z`
are points of that space, `X` those of the whole one.
"""

from __future__ import annotations

__all__ = ["FixedColumns", "FreeColumnMaximiser"]

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from outcrop.maximise import Function, Maximises, Maximum
from outcrop.maximise.base import OfImages
from outcrop.space import Fixed, Space
from outcrop.space.derived_constraints import OfImage
from outcrop.typing import Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class FixedColumns:
    """The configurations of a space that have given values in some columns."""

    whole: Space
    point: Vector  # (D,) with the fixed values, and 0 elsewhere
    free: tuple[int, ...]  # the columns that are left to choose
    space: Space  # of the free columns; without any it holds one configuration

    @classmethod
    def with_categories(cls, whole: Space, codes: Mapping[str, int]) -> FixedColumns:
        """By the codes of all categories, those of inactive ones included; numbers are free."""
        point = np.zeros((1, len(whole.columns)))
        for column in whole.columns:
            if column.is_code:
                point[:, column.index] = codes[column.name]
        point = np.where(whole.active(point), point, 0.0)
        if whole.constraints:
            return _limited(whole, tuple(point[0].tolist()))
        return cls._at_codes(whole, point)

    @classmethod
    def _at_codes(cls, whole: Space, point: Points) -> FixedColumns:
        active = whole.active(point)[0]
        free = [c for c in whole.columns if active[c.index] and not c.is_code]
        space = Space({str(c.index): c.parameter for c in free} or {"nothing": Fixed(None)})
        return cls(whole, point[0], tuple(c.index for c in free), space)

    def seeded(self, seeds: Points | None = None) -> FixedColumns:
        """The same with the constraints of the whole space; `seeds` may satisfy them."""
        found = self._pooled if seeds is None else lambda: seeds
        limits = [OfImage(self.whole, found, self.completed)]
        blocks = self.space.input_covariance
        limited = Space(self.space.declared, input_covariance=blocks, constraints=limits)
        return replace(self, space=limited)

    def _pooled(self) -> Points:
        """The free columns of points that satisfy the constraints and have the fixed values."""
        X = self.whole.region.points_of_pool
        Z = self.free_values(X)
        return Z[(self.completed(Z) == X).all(1)]

    def completed(self, Z: Points) -> Points:
        """Points of the whole space, from the values of their free columns."""
        X = np.tile(self.point, (len(Z), 1))
        X[:, self.free] = Z
        return X

    def free_values(self, X: Points) -> Points:
        """The free columns of any points, whatever their other columns are."""
        return np.ascontiguousarray(X[:, self.free])

    def keys(self, X: Points) -> frozenset[str]:
        """The keys, in the space of the free columns, of the rows of `X` with these categories."""
        codes = [column.index for column in self.whole.columns if column.is_code]
        has_all = (X[:, codes] == self.point[codes]).all(1)
        if self.whole.constraints:
            X, has_all = X[has_all], self.whole.admits(X[has_all])
        return frozenset(self.space.keys(self.free_values(X[has_all])))

    def has_more_than(self, X: Points) -> bool:
        """Whether it holds a configuration that is not among the rows of `X`."""
        if self.space.constraints and self.space.region.is_empty:
            return False
        return self.space.size is None or len(self.keys(X)) < self.space.size


@lru_cache(maxsize=64)  # points that satisfy constraints take time to find
def _limited(whole: Space, point: tuple[float, ...]) -> FixedColumns:
    return FixedColumns._at_codes(whole, np.array([point])).seeded()


@dataclass(frozen=True, eq=False)
class FreeColumnMaximiser:
    """A maximiser that varies the free columns only, and avoids the points of `taken`."""

    maximiser: Maximises
    fixed: FixedColumns
    taken: frozenset[str]  # keys in the space of the free columns

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None) -> Points:
        near = None if incumbents is None else self.fixed.free_values(incumbents)
        return self.fixed.completed(self.maximiser.candidates(self.fixed.space, rng, near))

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
        """As any maximiser, but `forbidden` only says whether points of `taken` are avoided."""
        found = self.maximiser(
            OfImages(function, self.fixed.completed, self.fixed.free_values),
            self.fixed.space,
            rng,
            candidates=None if candidates is None else self.fixed.free_values(candidates),
            scales=None if scales is None else scales[list(self.fixed.free)],
            forbidden=frozenset() if forbidden is None else self.taken,
        )
        return replace(
            found,
            point=self.fixed.completed(found.point[None])[0],
            candidates=self.fixed.completed(found.candidates),
        )
