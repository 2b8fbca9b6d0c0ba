"""Lipschitz constants of a belief: for the whole space, and around given points.

A Lipschitz constant is the largest norm of the gradient of a component's mean, or of draws from it.
It is searched over the whole space and, for the constant around a point, within a lengthscale of it
in every number [Alvi 2019, section 4.4.2]. Beyond that box it says nothing: its *reach* is the root
mean square of these lengthscales. Gradients are those in the numbers that are active; categories do
not change.

`k` components, `p` points `busy`, `s` climbs, `D` columns. All climbs of a component go in lockstep
from the best points of one pool. For u = ∇f/‖∇f‖ the norm rises along H u, which is the change of
the gradient over a small step along u.
"""

from __future__ import annotations

__all__ = ["Constants", "Gradient", "estimated", "mean_gradient"]

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from outcrop.errors import MethodError
from outcrop.maximise.lattice import lattice
from outcrop.space import Space
from outcrop.surrogates import MarginalPosterior, Mixture, Posterior
from outcrop.surrogates.base import DrawsFunctions
from outcrop.typing import Mask, Points, Rng, Vector

Gradient: TypeAlias = Callable[[Points], Points]

SPREAD = 192  # points of the pool, spread over the space
NEAR = 6  # and as many around each busy point
CLIMBS, EACH = 4, 2  # for the constant everywhere, and for each around a point
STEPS = 6
LENGTHS = np.array([0.5, 0.12, 0.03])  # of steps, in lengthscales, tried in one call
LONGER, SHORTER = 2.0, 0.06  # factors of them if the longest was best, and if none was better
TOLERANCE = 3e-3  # relative gain below which a climb has ended
DIFFERENCE = 1e-4  # step over which the change of a gradient is seen
SHORTEST = 1e-3  # lengthscale
FLAT, STEEP = 1e-7, 10.0  # a constant below the first is not reliable; the second replaces it
ROUNDING = 1e-9  # relative difference of means that may be a rounding error
DRAWS, FEATURES = 4, 128  # draws from a component, and random features of each


class Constants(NamedTuple):
    """Of every component: the constant everywhere `(k,)`, and around each busy point `(k, p)`.

    `reach` is how far from its busy point a constant holds, `(k, p)`: ∞ for the one everywhere.
    """

    whole: Vector
    around: Points
    reach: Points


def estimated(
    posterior: Mixture, space: Space, busy: Points, rng: Rng, by: str, local: bool, who: str
) -> Constants:
    """Constants of the "mean" of each component, or of "draws" from it.

    Without `local` all constants around points are the one of the whole space. None exceeds that
    one, whose search includes theirs. `who` is the policy that errors name.
    """
    is_number = np.array([not column.is_code for column in space.columns], dtype=np.bool_)
    pool = space.from_uniform(lattice(rng, SPREAD, len(space.columns)))
    offsets = lattice(rng, NEAR if local else 1, len(space.columns))
    free = space.active(np.vstack([pool, busy])) & is_number
    whole, around = np.zeros(len(posterior)), np.zeros((len(posterior), len(busy)))
    reach = np.full(around.shape, np.inf)
    for i, part in enumerate(posterior.components if free[SPREAD:].any() else ()):
        search = _SlopeSearch.around(busy, pool, free, offsets, _scales(part, len(is_number)))
        gradients = _gradients(part, rng, by, who)
        norms = np.array([search.norms(gradient) for gradient in gradients])
        if not norms.any():
            _refuse_steps(part, search.pool, is_number, who)
        steepest = gradients[int(norms.max(1).argmax())]  # the others are not climbed
        whole[i], around[i] = search.steepest(steepest, norms.max(0), local)
        reach[i] = search.reach(free[SPREAD:])
    whole = np.where(whole < FLAT, STEEP, whole)[:, None]
    is_whole = (around < FLAT) | (not local)
    around, reach = np.where(is_whole, whole, around), np.where(is_whole, np.inf, reach)
    return Constants(whole[:, 0], around, reach)


def mean_gradient(part: Posterior) -> Gradient:
    """The gradient of a posterior's mean, `(m, D)` at points `(m, D)`."""
    if isinstance(part, MarginalPosterior):
        return mean_gradient(part.centre)  # they have the same mean
    own: Gradient | None = getattr(part, "mean_gradient", None)

    def pulled(X: Points) -> Points:
        _, _, pull = part.predict_with_pullback(X)
        return pull(np.ones(len(X)), np.zeros(len(X)))

    return pulled if own is None else own


class _SlopeSearch(NamedTuple):
    """The points at which gradients of one component are evaluated, and the boxes of climbs."""

    pool: Points
    free: Mask  # which entries of the pool may change
    low: Points  # (p, D), corners of the boxes around busy points
    high: Points
    scales: Vector

    @classmethod
    def around(
        cls, busy: Points, pool: Points, free: Mask, offsets: Points, scales: Vector
    ) -> _SlopeSearch:
        """`free` belongs to the pool and busy points; `offsets` are relative points in a box."""
        own = free[len(pool) :]
        low = np.where(own, np.maximum(busy - scales, 0.0), busy)
        high = np.where(own, np.minimum(busy + scales, 1.0), busy)
        near = low[:, None] + offsets * (high - low)[:, None]
        pool = np.vstack([pool, busy, near.reshape(-1, busy.shape[1])])
        free = np.vstack([free, np.repeat(own, len(offsets), axis=0)])
        return cls(pool, free, low, high, scales)

    def reach(self, free: Mask) -> Vector:
        """The root mean square of the lengthscales of the numbers that are `free`, `(p,)`."""
        square = (free * self.scales**2).sum(1) / np.maximum(free.sum(1), 1)
        return np.sqrt(square)

    def norms(self, gradient: Gradient) -> Vector:
        return _norm(_masked(gradient, self.pool, self.free))

    def steepest(self, gradient: Gradient, norms: Vector, local: bool) -> tuple[float, Vector]:
        """The largest norm anywhere, and within each box if that is wanted, by climbs from `norms`.

        What is found by any climb counts for all boxes it ends in.
        """
        rows = np.argsort(-norms, kind="stable")[:CLIMBS]
        low = np.zeros((len(rows), self.pool.shape[1]))
        high = np.maximum(self.pool[rows], 1.0)  # a code may be above 1, and stays
        inside = self._holding(self.pool)
        if local:
            best = np.argsort(-np.where(inside, norms, -1.0), axis=1, kind="stable")[:, :EACH]
            rows = np.concatenate([rows, best.T.reshape(-1)])
            low = np.vstack([low, np.tile(self.low, (EACH, 1))])
            high = np.vstack([high, np.tile(self.high, (EACH, 1))])
        X, ends = _climbed(gradient, self.pool[rows], self.free[rows], low, high, self.scales)
        inside = np.hstack([inside, self._holding(X)])
        norms = np.concatenate([norms, ends])
        return float(norms.max()), np.where(inside, norms, 0.0).max(1)

    def _holding(self, X: Points) -> Mask:
        """Which rows of `X` are in which box, `(p, m)`."""
        inside = np.ones((len(self.low), len(X)), dtype=np.bool_)
        for x, low, high in zip(X.T, self.low.T, self.high.T, strict=True):
            inside &= (x >= low[:, None]) & (x <= high[:, None])
        return inside


def _climbed(
    gradient: Gradient, X: Points, free: Mask, low: Points, high: Points, scales: Vector
) -> tuple[Points, Vector]:
    """Where climbs from each row of `X` end, each within its box, and the norms there."""
    X, G = X.copy(), _masked(gradient, X, free)
    values, reach = _norm(G), np.ones(len(X))
    climbing = np.flatnonzero(values)
    for _ in range(STEPS):
        if not len(climbing):
            break
        x, g, own = X[climbing], G[climbing], free[climbing]
        bottom, top = low[climbing], high[climbing]
        ahead = x + DIFFERENCE * g / values[climbing, None]
        step = (_masked(gradient, ahead, own) - g) * scales**2
        step[((bottom >= x) & (step < 0)) | ((top <= x) & (step > 0))] = 0.0
        size = np.abs(step / scales).max(1)
        step /= np.where(size > 0, size, 1.0)[:, None]
        lengths = reach[climbing, None] * LENGTHS
        trials = x[:, None] + lengths[:, :, None] * step[:, None]
        trials = np.clip(trials, bottom[:, None], top[:, None])
        tried = _masked(gradient, trials.reshape(-1, X.shape[1]), np.repeat(own, len(LENGTHS), 0))
        norms = _norm(tried).reshape(lengths.shape)
        best = np.arange(len(climbing)), norms.argmax(1)
        gain = norms[best] / values[climbing] - 1
        better = gain > 0
        at = climbing[better]
        X[at], values[at] = trials[best][better], norms[best][better]
        G[at] = tried.reshape(trials.shape)[best][better]
        reach[climbing] *= np.where(better, np.where(best[1] == 0, LONGER, 1.0), SHORTER)
        climbing = climbing[(gain > TOLERANCE) | ~better & (reach[climbing] > SHORTER**2)]
    return X, values


def _masked(gradient: Gradient, X: Points, free: Mask) -> Points:
    return np.where(free, np.nan_to_num(gradient(X), posinf=0.0, neginf=0.0), 0.0)


def _norm(G: Points) -> Vector:
    return np.sqrt(np.einsum("ij,ij->i", G, G))


def _scales(part: Posterior, dimension: int) -> Vector:
    """The size of a neighbourhood in every column: lengthscales if known, else the whole cube."""
    if isinstance(part, MarginalPosterior):
        return _scales(part.centre, dimension)
    own: Callable[[], Vector] | None = getattr(part, "scales", None)
    return np.ones(dimension) if own is None else np.clip(own(), SHORTEST, 1.0)


def _gradients(part: Posterior, rng: Rng, by: str, who: str) -> Sequence[Gradient]:
    if by == "mean":
        return (mean_gradient(part),)
    if not isinstance(part, DrawsFunctions):
        raise MethodError(
            f'{who}: functions cannot be drawn from {type(part).__name__}; use constants="mean"'
        )
    return tuple(part.draw(rng, FEATURES).gradient for _ in range(DRAWS))


def _refuse_steps(part: Posterior, pool: Points, is_number: Mask, who: str) -> None:
    """Raise if the mean varies with the numbers though its gradients are 0, as that of a forest."""
    mean, var = part.predict(pool)
    _, group = np.unique(pool[:, ~is_number], axis=0, return_inverse=True)
    group = group.reshape(-1)
    highest = np.full(group.max() + 1, -np.inf)
    np.maximum.at(highest, group, mean)
    if (highest[group] - mean > ROUNDING * (np.abs(mean) + np.sqrt(var))).any():
        raise MethodError(
            f"{who}: the mean of {type(part).__name__} has no gradients to penalise by; use "
            "pending=Believer() or Liar(), or a Gaussian process"
        )
