"""The search within the constraints of a space.

An ascent that steps over a border is brought back to it, and goes on along it. A border of an
expression has a margin, positive inside, whose gradient A is found by differences. A trial t₀
outside is replaced by the best point inside under the ascent's own quadratic model B,

    t = t₀ + M Aᵀ λ,    λ ≥ 0,    A (t − t₁) + margin(t₁) ≥ 0,    M = B⁻¹,

where the bounds of the cube are among the borders, and these are linearised at the previous t as
t₁, a few times, since they are curved on log scales. So optima on borders are found as accurately
as those inside. What is still outside is drawn back towards where the step began. Functions of a
configuration have no margins; there only the latter is done, and the best ends are improved by
random steps of all sizes.

Shapes: s starts, k trials of each, d coordinates, m margins; n points that are corrected, each with
c = m + d borders.
"""

from __future__ import annotations

__all__ = ["Admissible", "Borders", "drawn_back", "polished"]

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from outcrop.maximise.base import Function, Scored
from outcrop.space import Space
from outcrop.typing import Mask, Matrix, Points, Rng, Vector

DIFFERENCE = 1e-6  # of coordinates, for gradients of margins
INSIDE = 1e-9  # of the cube: how far inside a border a corrected point is to be
CORRECTIONS = 4  # linearisations of the borders
TIGHT_SETS = 12  # sets of borders that are tried for one of them
RIDGE = 1e-12  # relative, for borders that coincide
HALVINGS = 4  # of the way back to where a step began
NEARER = 5  # halvings of a random step until it is given up
POLISHED, COARSEST = 48, 0.1  # steps around each of the best points, and their first size
ROUNDS, FINER = 6, 0.2  # rounds of such steps, and the factor of their size after each


@dataclass(frozen=True, eq=False)
class Admissible:
    """A function that is −∞ at points which violate a constraint, and not evaluated there."""

    function: Function
    space: Space

    @classmethod
    def part(cls, function: Function, space: Space) -> Function:
        """`function` within the constraints of the space, if it has any."""
        return cls(function, space) if space.constraints else function

    def __call__(self, X: Points) -> Vector:
        inside, values = self.space.admits(X), np.full(len(X), -np.inf)
        if inside.any():
            values[inside] = self.function(X[inside])
        return values

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        """Those of the function itself: ascents see to it that they stay inside."""
        return self.function.with_gradient(X)


@dataclass(frozen=True, eq=False)
class Borders:
    """The borders of a space's constraints, for ascents from points inside."""

    space: Space

    def brought_inside(self, X: Points, trials: Points, B: Matrix, free: Mask) -> Points:
        """`trials` `(s, k, d)`, each inside: as it is, on a border, or towards its start.

        `X` `(s, d)` are the starts, `B` `(s, d, d)` the models, and `free` what may move. Trials
        may be beyond the cube.
        """
        s, k, d = trials.shape
        given, starts = trials.reshape(-1, d), np.repeat(X, k, axis=0)
        move = np.repeat(free, k, axis=0)
        T = np.where(move, np.clip(given, 0.0, 1.0), starts)
        outside = np.flatnonzero(~self._inside(T))
        if len(outside) and self._has_margins:
            M = np.repeat(_inverse(B, free), k, axis=0)
            T[outside] = self._corrected(given[outside], T[outside], M[outside], move[outside])
            outside = outside[~self._inside(T[outside])]
        if len(outside):
            T[outside] = self._back(starts[outside], T[outside])
        return T.reshape(s, k, d)

    def _inside(self, X: Points) -> Mask:
        """Which points, maybe between levels, satisfy all constraints."""
        inside: Mask = np.all(self.space.margins(X) >= 0.0, axis=1)
        if inside.any() and self._is_costly:
            inside[inside] = self.space.admits(self.space.snap(X[inside]))
        return inside

    def _corrected(self, given: Points, T: Points, M: Matrix, free: Mask) -> Points:
        """The points inside that are best under the models, in place of the given ones."""
        upper = np.where(given > 0.5, -1.0, 1.0)  # which bound of the cube is the nearer one
        beyond = np.where(upper > 0, -given, given - 1.0)
        bounds = upper[:, :, None] * np.eye(T.shape[1])
        left = np.arange(len(T))
        for _ in range(CORRECTIONS):
            margins, A = self._with_gradients(T[left], free[left])
            lack = INSIDE * np.sqrt(np.square(A).sum(2)) - margins
            lack -= (A @ (given - T)[left, :, None])[:, :, 0]
            rows = np.concatenate([A, bounds[left]], axis=1)
            RM = rows @ M[left]
            weights = _multipliers(RM @ rows.transpose(0, 2, 1), np.hstack([lack, beyond[left]]))
            moved = given[left] + (RM.transpose(0, 2, 1) @ weights[:, :, None])[:, :, 0]
            moved = np.clip(np.nan_to_num(moved, nan=0.5), 0.0, 1.0)
            T[left] = np.where(free[left], moved, T[left])
            left = left[(self.space.margins(T[left]) < 0.0).any(1)]
            if not len(left):
                break
        return T

    def _with_gradients(self, X: Points, free: Mask) -> tuple[Points, Matrix]:
        """Margins `(n, m)` and their gradients `(n, m, d)` in the coordinates that may move."""
        moving = np.flatnonzero(free.any(0))
        # A step towards the middle stays in the cube.
        steps = np.where(X > 0.5, -DIFFERENCE, DIFFERENCE)
        blocks = [X]
        for j in moving:
            beside = X.copy()
            beside[:, j] += steps[:, j]
            blocks.append(beside)
        margins = self.space.margins(np.vstack(blocks)).reshape(len(blocks), len(X), -1)
        A = np.zeros((*margins.shape[1:], X.shape[1]))
        with np.errstate(invalid="ignore"):
            for block, j in zip(margins[1:], moving, strict=True):
                A[:, :, j] = (block - margins[0]) / steps[:, j, None]
        return margins[0], np.where(np.isfinite(A) & free[:, None], A, 0.0)

    def _back(self, starts: Points, X: Points) -> Points:
        """The last points inside on the ways from `starts` to `X`, by bisection."""
        low, high = np.zeros(len(X)), np.ones(len(X))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            inside = self._inside(starts + middle[:, None] * (X - starts))
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return starts + low[:, None] * (X - starts)

    @cached_property
    def _has_margins(self) -> bool:
        return self.space.margins(np.zeros((1, len(self.space.columns)))).shape[1] > 0

    @cached_property
    def _is_costly(self) -> bool:
        return any(each.is_costly for each in self.space.constraints)


def _multipliers(Q: Matrix, lack: Points) -> Points:
    """λ ≥ 0 with Q λ ≥ `lack`, 0 where that is not tight: `(n, c)`, by sets of tight borders."""
    scale = np.einsum("njj->nj", Q)
    usable = (scale > 0.0) & np.isfinite(lack)
    lack = np.where(usable, lack, 0.0)
    tight, own = usable & (lack > 0.0), np.eye(Q.shape[1])
    weights = np.zeros_like(lack)
    for _ in range(TIGHT_SETS):
        both = tight[:, :, None] & tight[:, None, :]
        ridge = np.where(tight, RIDGE * scale, 1.0)[:, :, None] * own
        wanted = np.where(tight, lack, 0.0)[:, :, None]
        weights = np.asarray(np.linalg.solve(np.where(both, Q, 0.0) + ridge, wanted)[:, :, 0])
        loose = tight & (weights < 0.0)
        left = lack - (Q @ weights[:, :, None])[:, :, 0]
        short = usable & ~tight & (left > RIDGE * np.abs(lack))
        short &= ~loose.any(1)[:, None]  # one thing at a time
        if not (loose.any() or short.any()):
            break
        tight = (tight & ~loose) | short
    return np.maximum(weights, 0.0)


def drawn_back(space: Space, starts: Points, X: Points) -> Points:
    """Admissible points on the ways from `starts` to `X`, which are legal; some may be missing.

    Numbers are drawn back by halves; codes stay as they are in `X`.
    """
    numbers = np.array([not column.is_code for column in space.columns], dtype=np.bool_)
    X = X.copy()
    outside = np.flatnonzero(~space.admits(X))
    for _ in range(NEARER):
        if not len(outside):
            return X
        nearer = np.where(numbers, (starts[outside] + X[outside]) / 2, X[outside])
        X[outside] = space.snap(nearer)
        outside = outside[~space.admits(X[outside])]
    return np.delete(X, outside, axis=0)


def polished(function: Function, space: Space, points: Scored, rng: Rng) -> Scored:
    """Admissible points around the given ones, by random steps in their numbers, ever smaller."""
    numbers = np.array([not column.is_code for column in space.columns], dtype=np.bool_)
    met, best = points.top(0), points
    for scale in COARSEST * FINER ** np.arange(ROUNDS):
        X = np.repeat(best.X, POLISHED, axis=0)
        steps = scale * rng.standard_normal(X.shape) * (rng.random(X.shape) < 0.7)
        moved = space.snap(np.where(numbers & space.active(X), np.clip(X + steps, 0.0, 1.0), X))
        tried = Scored.by(function, moved)
        values = np.hstack([best.values[:, None], tried.values.reshape(len(best), -1)])
        places = np.hstack([best.X[:, None], moved.reshape(len(best), -1, X.shape[1])])
        each = np.arange(len(best)), values.argmax(1)
        met, best = met.join(tried), Scored(places[each], values[each])
    return met


def _inverse(B: Matrix, free: Mask) -> Matrix:
    """The inverse of each model in the coordinates that may move, 0 in the others."""
    coupled = free[:, :, None] & free[:, None, :]
    whole = np.where(coupled, B, np.eye(B.shape[1]))
    return np.where(coupled, np.linalg.inv(whole), 0.0)
