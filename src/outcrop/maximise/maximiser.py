"""The search for the best legal point: candidates, then ascents, then sweeps."""

from __future__ import annotations

__all__ = ["Maximiser"]

from collections.abc import Collection
from dataclasses import astuple, dataclass
from math import prod

import numpy as np

from outcrop.errors import MethodError, ShapeError
from outcrop.maximise.base import Function, Maximum, Scored
from outcrop.maximise.candidates import enumerated, resampled, with_neighbours
from outcrop.maximise.constrained import Admissible, polished
from outcrop.maximise.forbidden import best_allowed, fresh
from outcrop.maximise.lattice import lattice
from outcrop.maximise.mixed import climbed
from outcrop.maximise.sweeps import improved
from outcrop.space import Space
from outcrop.typing import Indices, Points, Rng, Vector

RESAMPLED = 5  # best candidates with single coordinates resampled
PEAKS = 256  # best candidates from which distant starts are selected
SWEPT = 3  # best ends of ascents whose discrete columns are swept
SHORTEST_SCALE = 1e-3


@dataclass(frozen=True)
class Maximiser:
    """Finds the best legal point of a space.

    >>> from outcrop.space import Float
    >>> class Hill:
    ...     def __call__(self, X):
    ...         return -((X[:, 0] - 0.3) ** 2)
    ...     def with_gradient(self, X):
    ...         return self(X), -2 * (X - 0.3)
    >>> maximise = Maximiser()
    >>> maximise(Hill(), Space({"x": Float(0, 1)}), np.random.default_rng(0)).point.round(6)
    array([0.3])
    """

    spread: int = 768  # candidates spread evenly over the space
    perturbations: int = 384  # of the incumbents
    resamples: int = 128  # of single coordinates of the best candidates
    starts: int = 4  # of ascents; up to twice as many where there are categories
    steps: int = 50  # of an ascent, each one call of the function
    rounds: int = 4  # of sweeps over discrete columns, each followed by a short ascent
    enumerate_up_to: int = 5000  # configurations up to which all are scored

    def __post_init__(self) -> None:
        if self.spread < 1 or min(astuple(self)) < 0:
            raise MethodError(f"{self}: expected spread of at least 1, and no number below 0")

    def __call__(
        self,
        function: Function,
        space: Space,
        rng: Rng,
        *,
        incumbents: Points | None = None,
        forbidden: Collection[str] = frozenset(),
        scales: Vector | None = None,
        candidates: Points | None = None,
    ) -> Maximum:
        """The best legal point whose `Space.key` is not `forbidden`.

        `incumbents` `(k, D)` are the best points so far, best first; `scales` `(D,)` are lengths
        over which the function changes, such as lengthscales; `candidates` are legal points to
        begin with, made here if not given. Raises `SpaceExhausted` if every configuration is
        forbidden.
        """
        counted = _Counted(function)
        admissible = Admissible.part(counted, space)
        scales = checked_scales(scales, len(space.columns))
        if space.size is not None and space.size <= max(self.enumerate_up_to, 1):
            X = enumerated(space)
            # a single configuration needs no function
            scored = Scored.by(counted, X) if space.columns else Scored(X, np.full(1, -np.inf))
        else:
            if candidates is None:
                candidates = self.candidates(space, rng, incumbents)
            scored = self._search(admissible, space, rng, candidates, scales)
            if space.constraints:
                scored = scored.at(np.flatnonzero(space.admits(scored.X)))
        known = frozenset(forbidden)
        point = best_allowed(scored, space, known, rng)
        if point is None:
            scored = Scored.by(counted, fresh(space, known, rng, self.spread))
            point = best_allowed(scored, space, known, rng)
            assert point is not None  # fresh points are allowed
        return Maximum(
            scored.X[point], float(scored.values[point]), scored.X, scored.values, counted.rows
        )

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None) -> Points:
        """Distinct legal points: spread over the space, and near the incumbents."""
        if not space.columns:
            return np.zeros((1, 0))
        X = space.admissible(lattice(rng, self.spread, len(space.columns)), rng)
        return with_neighbours(space, X, incumbents, self.perturbations, rng)

    def _search(
        self, function: Function, space: Space, rng: Rng, candidates: Points, scales: Vector
    ) -> Scored:
        """All legal points that were scored."""
        scored = Scored.by(function, candidates)
        again = resampled(space, scored.top(RESAMPLED).X, self.resamples, rng)
        scored = scored.join(Scored.by(function, again))
        points = self._starts(scored, space, rng)
        if not len(points):
            return scored
        points, tried = climbed(function, space, points, scales, self.steps, relax=True)
        scored, points = scored.join(tried), points.top(SWEPT)
        if any(constraint.is_costly for constraint in space.constraints):
            scored = scored.join(polished(function, space, points, rng))
        has_levels = any(column.levels is not None for column in space.columns)
        for _ in range(self.rounds if has_levels else 0):
            if len(points):
                points, tried = improved(
                    function, space, points, scored, scales, self.steps // 5, rng
                )
                scored = scored.join(tried)
        return scored

    def _starts(self, scored: Scored, space: Space, rng: Rng) -> Scored:
        """The best points that lie apart, and others with odds 1/rank; all of finite value.

        The former lead to different peaks, the latter up a peak that many candidates share.
        """
        ranked = scored.top(int(np.isfinite(scored.values).sum()))
        half = (self.starts + 1) // 2
        has_codes = any(column.is_code for column in space.columns)
        apart = _apart(ranked.X[:PEAKS], space, self.spread, 2 * self.starts if has_codes else half)
        odds = rng.gumbel(size=len(ranked)) - np.log(np.arange(1, len(ranked) + 1))
        odds[apart] = -np.inf
        drawn = np.argsort(-odds, kind="stable")[: self.starts - half]
        return ranked.at(np.union1d(apart, drawn))


class _Counted:
    """A function that counts the rows it is given."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.rows = 0

    def __call__(self, X: Points) -> Vector:
        self.rows += len(X)
        return self.function(X)

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        self.rows += len(X)
        return self.function.with_gradient(X)


def _apart(X: Points, space: Space, spread: int, most: int) -> Indices:
    """Rows of `X`, in order, that lie farther apart than candidates do or differ in codes."""
    codes = np.array([column.is_code for column in space.columns], dtype=np.bool_)
    combinations = prod(column.levels or 1 for column in space.columns if column.is_code)
    each = max(spread / combinations, 1.0)
    reach = each ** (-1.0 / max(len(codes) - int(codes.sum()), 1))
    chosen: list[int] = []
    left = np.arange(len(X))
    while len(left) and len(chosen) < most:
        chosen.append(int(left[0]))
        away = X[left] - X[left[0]]
        near = np.square(away[:, ~codes]).sum(1) <= reach**2
        left = left[~near | away[:, codes].any(1)]
    return np.array(chosen, dtype=np.int64)


def checked_scales(scales: Vector | None, dimension: int) -> Vector:
    """The `scales` of a search within their bounds; 1 for all columns if not given."""
    if scales is None:
        return np.ones(dimension)
    scales = np.asarray(scales, dtype=float)
    if scales.shape != (dimension,):
        raise ShapeError(f"expected one scale per column ({dimension},), got {scales.shape}")
    # scales above the width of the cube or below the shortest are useless
    return np.clip(np.nan_to_num(scales, nan=1.0), SHORTEST_SCALE, 1.0)
