"""Constraints of a space as constraints of another one, which searches a part of it.

`Z` are points of the other space, `X` those of the whole one.
"""

from __future__ import annotations

__all__ = ["OfImage", "OfProjection"]

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from outcrop.space.admissible_points import BRANCH_DRAWS
from outcrop.space.constraints import ConstrainedValues, Constraint
from outcrop.typing import Mask, Points, Vector

if TYPE_CHECKING:
    from outcrop.space.space import Space

TRIED_AT_ONCE = 8  # completions of a point


@dataclass(frozen=True, eq=False)
class _Derived(Constraint):
    """What derived constraints share."""

    whole: Space
    seeds: Callable[[], Points]  # points of the other space that may satisfy it

    most_draws = BRANCH_DRAWS
    is_declared = False

    @property
    def text(self) -> str:
        return f"those of the whole space, {[*self.whole.constraints]}"

    def known(self, space: Space) -> Points:
        return self.seeds()


@dataclass(frozen=True, eq=False)
class OfImage(_Derived):
    """The constraints of the whole space at the images of points."""

    image: Callable[[Points], Points]

    @property
    def is_costly(self) -> bool:  # type: ignore[override]
        return any(each.is_costly for each in self.whole.constraints)

    def admits(self, values: ConstrainedValues) -> Mask:
        return self.whole.admits(self.image(values.X))

    def margins(self, values: ConstrainedValues) -> list[Vector]:
        return [*self.whole.margins(self.image(values.X)).T]


@dataclass(frozen=True, eq=False)
class OfProjection(_Derived):
    """That a point can be completed to one which satisfies the constraints of the whole space."""

    completions: Callable[[Points], list[Points]]  # of `(n, ·)` points, each `(n, D)`

    is_costly = True

    def admits(self, values: ConstrainedValues) -> Mask:
        admitted = np.zeros(len(values.X), dtype=np.bool_)
        completed = self.completions(values.X)
        for start in range(0, len(completed), TRIED_AT_ONCE):
            left = np.flatnonzero(~admitted)
            some = [X[left] for X in completed[start : start + TRIED_AT_ONCE]]
            if len(left):
                tried = self.whole.admits(np.vstack(some)).reshape(len(some), len(left))
                admitted[left] = tried.any(0)
        return admitted
