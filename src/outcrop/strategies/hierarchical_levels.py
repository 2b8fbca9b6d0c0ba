"""A space split into an outer and an inner level, and the view of each level.

The outer level holds the numbers that are active in every configuration, the inner one all other
parameters: categories, options, and the numbers that belong to an option. So every configuration
has a point in either level, whatever is active, and trials at one outer point are those with the
same numbers. `Z` are points of the outer level, `W` of the inner one, `X` of the whole space.
"""

from __future__ import annotations

__all__ = ["SpaceLevels", "Visit"]

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from outcrop.kernels.uncertain import part_of
from outcrop.space import Space
from outcrop.space.constraints import Constraint
from outcrop.space.derived_constraints import OfProjection
from outcrop.space.discrete import Group
from outcrop.space.noise import restricted
from outcrop.strategies.base import View
from outcrop.strategies.fixed_columns import FixedColumns
from outcrop.typing import Params, Points, Vector

COMPLETIONS = 64  # inner points of which one must fit to an outer one, if there are constraints


@dataclass(frozen=True, eq=False)
class Visit:
    """The trials at one outer point, as rows of the view."""

    point: Vector
    told: list[int] = field(default_factory=list)
    running: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)

    @property
    def started(self) -> int:
        return len(self.told) + len(self.running) + len(self.failed)

    @property
    def has_value(self) -> bool:
        """Whether its best value counts as that of the point: at least half of its trials ended."""
        return len(self.told) > 0 and len(self.told) + len(self.failed) >= len(self.running)


@dataclass(frozen=True, eq=False)
class SpaceLevels:
    """The two levels of a space; one of them may have no columns."""

    whole: Space

    @cached_property
    def upper(self) -> tuple[int, ...]:
        """The columns of the outer level."""
        return tuple(c.index for c in self.whole.columns if not (c.is_code or c.conditions))

    @cached_property
    def lower(self) -> tuple[int, ...]:
        """The columns of the inner level."""
        return tuple(c.index for c in self.whole.columns if c.is_code or c.conditions)

    @cached_property
    def outer(self) -> Space:
        own = [self.whole.columns[index] for index in self.upper]
        declared = {column.name: column.parameter for column in own}
        if not self.whole.constraints:
            return self._part(declared)
        ours = [each for each in self.whole.constraints if each.names and each.names <= {*declared}]
        if len(ours) < len(self.whole.constraints):
            ours.append(OfProjection(self.whole, self._outer_seeds, self._completions))
        return self._part(declared, ours)

    @cached_property
    def inner(self) -> Space:
        declared = self.whole.declared
        return self._part(
            {name: declared[name] for name in declared if name not in self.outer.declared}
        )

    def inner_at(self, outer: Vector) -> Space:
        """The inner level at an outer point, where constraints depend on it."""
        return self.at(outer).space if self.whole.constraints else self.inner

    def _part(self, declared: Group, constraints: Sequence[Constraint] = ()) -> Space:
        """One level as a space, with the input noise of its parameters."""
        alone = Space(declared)
        blocks = restricted(self.whole.input_covariance, alone.parameters.keys())
        return Space(declared, input_covariance=blocks, constraints=constraints)

    def _outer_seeds(self) -> Points:
        return self.whole.region.points_of_pool[:, self.upper]

    @cached_property
    def inner_seeds(self) -> Points:
        """Inner points with which outer ones are completed."""
        W = np.unique(self.whole.region.points_of_pool[:, self.lower], axis=0)
        return np.random.default_rng(len(W)).permutation(W)[:COMPLETIONS]

    def _completions(self, Z: Points) -> list[Points]:
        X = np.zeros((len(self.inner_seeds), len(Z), len(self.whole.columns)))
        X[:, :, self.upper], X[:, :, self.lower] = Z, self.inner_seeds[:, None]
        return [*X]

    def at(self, outer: Vector) -> FixedColumns:
        """The configurations at one outer point, for a model of the whole space."""
        if self.whole.constraints:
            return _limited(self, tuple(outer.tolist()))
        return FixedColumns(self.whole, self.widened(outer), self.lower, self.inner)

    def widened(self, outer: Vector) -> Vector:
        """An outer point as one of the whole space, with 0 for all inner parameters."""
        point = np.zeros(len(self.whole.columns))
        point[list(self.upper)] = outer
        return point

    def joined(self, point: Vector, params: Params) -> Params:
        """The configuration of an outer point and inner parameters."""
        return self.whole.validate({**self.outer.decode(point[None])[0], **params})

    def rest(self, params: Params) -> Params:
        """The inner parameters of a configuration."""
        return {name: params[name] for name in params if name not in self.outer.declared}

    def visits(self, view: View) -> dict[str, Visit]:
        """By key of the outer point; points with values come first, then running, then failed."""
        found: dict[str, Visit] = {}
        for name, X in (("told", view.X), ("running", view.pending), ("failed", view.failed)):
            Z = X[:, self.upper]
            for row, key in enumerate(self.outer.keys(Z)):
                getattr(found.setdefault(key, Visit(Z[row])), name).append(row)
        return found

    def outer_view(self, view: View, visits: dict[str, Visit]) -> View:
        """Outer points, each with its best value, running, or failed."""
        told = [visit for visit in visits.values() if visit.has_value]
        running = [v for v in visits.values() if not v.has_value and (v.told or v.running)]
        failed = [v for v in visits.values() if not (v.told or v.running)]
        return replace(
            view,
            X=self._stacked(told),
            y=np.array([self._value(view, visit) for visit in told]),
            std=np.full(len(told), np.nan),
            at=None,  # points stand for several trials each
            input_cov=None,
            pending=self._stacked(running),
            failed=self._stacked(failed),
            known=frozenset(visits),
            # The best value of an inner search is not exact, even if single values are.
            noise=True if view.is_noisy else None,
            warm=view.warm.get("outer", {}),
        )

    def inner_view(self, view: View, visit: Visit, since: int) -> View:
        """The trials at an outer point; `since` gives every visit a seed of its own."""
        X, pending, cov = view.X[visit.told], view.pending[visit.running], view.input_cov
        rows = np.vstack([X, pending, view.failed[visit.failed]])[:, self.lower]
        return replace(
            view,
            X=X[:, self.lower],
            y=view.y[visit.told],
            std=view.std[visit.told],
            at=None if view.at is None else view.at[visit.told][:, self.lower],
            input_cov=None if cov is None else part_of(cov[visit.told], self.lower),
            pending=pending[:, self.lower],
            failed=view.failed[visit.failed][:, self.lower],
            known=frozenset(self.inner.keys(rows)),
            noise=True if view.is_noisy and not view.noise else view.noise,
            warm=view.warm.get("inner", {}),
            seed=int(np.random.default_rng([view.seed, since]).integers(2**31)),
        )

    def best_inner(self, view: View) -> Points:
        """The inner points of all values, best first."""
        return view.X[np.argsort(view.y, kind="stable")][:, self.lower]

    def _value(self, view: View, visit: Visit) -> float:
        """The lowest value at a point, where values of one configuration are averaged."""
        rows = np.array(visit.told)
        _, group = np.unique(view.X[rows], axis=0, return_inverse=True)
        group = group.reshape(-1)
        shares = view.y[rows] / np.bincount(group)[group]  # divided first: a sum might overflow
        return float(np.bincount(group, shares).min())

    def _stacked(self, visits: list[Visit]) -> Points:
        return np.array([v.point for v in visits]).reshape(len(visits), len(self.upper))


@lru_cache(maxsize=4)  # points that satisfy constraints take time to find
def _limited(levels: SpaceLevels, outer: tuple[float, ...]) -> FixedColumns:
    point = levels.widened(np.array(outer))
    part = FixedColumns(levels.whole, point, levels.lower, levels.inner)
    return part.seeded(levels.inner_seeds)
