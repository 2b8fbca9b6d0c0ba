"""The search for the best legal point: candidates, then ascents, then sweeps."""

from __future__ import annotations

__all__ = ["Maximiser"]

from collections.abc import Collection
from dataclasses import astuple, dataclass

import numpy as np

from outcrop.errors import MethodError, ShapeError
from outcrop.maximise.ascent import ascend
from outcrop.maximise.base import Function, Maximum, Scored
from outcrop.maximise.candidates import distinct, enumerated, perturbed, resampled
from outcrop.maximise.forbidden import best_allowed, fresh
from outcrop.maximise.lattice import lattice
from outcrop.maximise.mixed import climbable, has_levels, rounded, swept
from outcrop.space import Space
from outcrop.typing import Points, Rng, Vector

RESAMPLED = 5  # best candidates of which single coordinates are drawn anew
SWEPT = 3  # best ends of ascents whose discrete columns try their levels
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

    spread: int = 1024  # candidates spread evenly over the space
    perturbations: int = 512  # of the incumbents
    resamples: int = 200  # of single coordinates of the best candidates
    starts: int = 6  # of ascents
    steps: int = 50  # of an ascent, each one call of the function
    rounds: int = 4  # of sweeps over discrete columns, each followed by a short ascent
    enumerate_up_to: int = 5000  # configurations that are scored one and all

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
    ) -> Maximum:
        """The best legal point whose `Space.key` is not `forbidden`.

        `incumbents` `(k, D)` are the best points so far, best first; `scales` `(D,)` are lengths
        over which the function changes, such as lengthscales. Raises `SpaceExhausted` if every
        configuration is forbidden.
        """
        counted = _Counted(function)
        scales = _checked_scales(scales, len(space.columns))
        if space.size is not None and space.size <= self.enumerate_up_to:
            scored = _scored_all(counted, space)
        else:
            scored = self._search(counted, space, rng, incumbents, scales)
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
        """Different legal points: spread over the space, and near the incumbents."""
        X = space.from_uniform(lattice(rng, self.spread, len(space.columns)))
        if incumbents is not None and len(incumbents):
            near = perturbed(space, space.snap(incumbents), self.perturbations, rng)
            X = np.vstack([X, near])
        return distinct(X)

    def _search(
        self, function: Function, space: Space, rng: Rng, incumbents: Points | None, scales: Vector
    ) -> Scored:
        """Everything legal that was scored on the way up."""
        scored = Scored.by(function, self.candidates(space, rng, incumbents))
        again = resampled(space, scored.top(RESAMPLED).X, self.resamples, rng)
        scored = scored.join(Scored.by(function, again))
        points = self._starts(scored, space, rng)
        if not len(points):
            return scored
        points, tried = _climbed(function, space, points, scales, self.steps)
        scored, points = scored.join(tried), points.top(SWEPT)
        for _ in range(self.rounds if has_levels(space) else 0):
            changed, tried = swept(function, space, points, scored, rng)
            scored = scored.join(tried)
            better = changed.values > points.values
            if not better.any():
                break
            points = Scored(changed.X[better], changed.values[better])
            points, tried = _climbed(function, space, points, scales, self.steps // 5)
            scored = scored.join(tried)
        return scored

    def _starts(self, scored: Scored, space: Space, rng: Rng) -> Scored:
        """The best two, others with odds 1/rank, and the best of other combinations of codes.

        Only points with a finite value.
        """
        ranked = scored.top(int(np.isfinite(scored.values).sum()))
        odds = -np.log(np.arange(1, len(ranked) + 1)) + rng.gumbel(size=len(ranked))
        odds[:2] = np.inf
        picked = np.argsort(-odds, kind="stable")[: self.starts]
        codes = ranked.X[:, [column.index for column in space.columns if column.is_code]]
        if codes.size:
            _, first = np.unique(codes, axis=0, return_index=True)
            picked = np.union1d(picked, np.sort(first)[: self.starts])
        return Scored(ranked.X[picked], ranked.values[picked])


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


def _climbed(
    function: Function, space: Space, points: Scored, scales: Vector, steps: int
) -> tuple[Scored, Scored]:
    """The best legal point around the end of each climb, and all that was scored there."""
    free = climbable(space, points.X)
    if not free.any():
        return points, points.top(0)
    end = ascend(function, points.X, free, scales, steps)
    around = rounded(space, end.X)
    n, m, dimension = around.shape
    if m == 1 and np.array_equal(around[:, 0], end.X):
        tried = Scored(end.X, end.values)
    else:
        tried = Scored.by(function, around.reshape(-1, dimension))
    best = np.arange(n) * m + tried.values.reshape(n, m).argmax(1)
    better = tried.values[best] > points.values
    X = np.where(better[:, None], tried.X[best], points.X)
    return Scored(X, np.where(better, tried.values[best], points.values)), tried


def _scored_all(function: Function, space: Space) -> Scored:
    X = enumerated(space)
    if not space.columns:  # nothing to choose, so nothing that a function could compare
        return Scored(X, np.full(1, -np.inf))
    return Scored.by(function, X)


def _checked_scales(scales: Vector | None, dimension: int) -> Vector:
    if scales is None:
        return np.ones(dimension)
    scales = np.asarray(scales, dtype=float)
    if scales.shape != (dimension,):
        raise ShapeError(f"expected one scale per column ({dimension},), got {scales.shape}")
    # beyond the width of the cube a scale has no meaning, and below the shortest no use
    return np.clip(np.nan_to_num(scales, nan=1.0), SHORTEST_SCALE, 1.0)
