"""Values that are bent from below the median, if they are more probable so.

The library bends values above the median (decision 6). Here the lower quartile, the lower eighth
and so on compete with the median: one of them takes its place if that makes the values clearly more
probable under a Gaussian process. The process is a coarse one, which is enough to compare maps: an
isotropic Matérn-5/2 kernel, the likeliest mean and amplitude, the best of a few lengthscales and
noises.
"""

from __future__ import annotations

__all__ = ["BentLower", "log_evidences", "lower_outcome"]

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

import outcrop as oc
from outcrop.linalg import cholesky, solve_lower
from outcrop.strategies.base import Belief, Strategy, Suggestion, View
from outcrop.strategies.registry import strategy_for
from outcrop.surrogates import Standardised
from outcrop.surrogates.outcome import spread_out
from outcrop.typing import Matrix, Points, Rng, Vector

FEWEST = 2  # values that are not bent
COMPARED = 100  # points by which starts of the bend are compared
LENGTHSCALES = (0.1, 0.2, 0.4, 0.8, 1.6)  # of root mean square differences per column
NOISES = (1e-6, 1e-2)  # in units of the amplitude


@dataclass(frozen=True)
class BentLower:
    """`method` on values that are bent from lower down if that is better by `clear` nats."""

    method: Any
    clear: float

    def strategy(self, space: oc.Space) -> Strategy:
        return _BentLowerStrategy(strategy_for(self.method, space), self.clear)


@dataclass(frozen=True)
class _BentLowerStrategy:
    strategy: Strategy
    clear: float

    def propose(self, view: View, rng: Rng) -> Suggestion:
        return self.strategy.propose(self._seen(view), rng)

    def belief(self, view: View, rng: Rng) -> Belief:
        return self.strategy.belief(self._seen(view), rng)

    def _seen(self, view: View) -> View:
        same = {part.name: getattr(view, part.name) for part in fields(View)}
        return _BentLowerView(**same, clear=self.clear)


@dataclass(frozen=True, eq=False)
class _BentLowerView(View):
    clear: float = 0.0

    @cached_property
    def outcome(self) -> Standardised:
        return lower_outcome(self.y, self.X, self.clear)


def lower_outcome(y: Vector, X: Points, clear: float) -> Standardised:
    """The usual map, or one that bends from a lower quantile and is better by `clear` nats."""
    usual, apart = Standardised.of(y, X), np.flatnonzero(spread_out(X))
    lower = [] if usual.tail == 1.0 else list(_from_lower_down(y, y[apart]))
    if not lower:
        return usual
    maps, compared = [usual, *lower], apart[:COMPARED]
    mapped = np.stack([each.apply(y[compared]) for each in maps])
    slopes = np.stack([each.apply_std(np.ones(len(compared)), y[compared]) for each in maps])
    evidence = log_evidences(X[compared], mapped, np.log(slopes).sum(1))
    best = int(evidence.argmax())
    return maps[best] if evidence[best] > evidence[0] + clear else usual


def _from_lower_down(y: Vector, apart: Vector) -> Iterator[Standardised]:
    """Maps that bend from the lower quartile, the lower eighth and so on of the values `apart`."""
    share = 0.25
    while share * len(apart) >= FEWEST:
        start = np.quantile(apart, share)
        bent = Standardised.of(np.array([y.min(), start, y.max()]))  # bends from their median
        if bent.tail == 1.0:
            return
        bent = replace(bent, centre=0.0, spread=1.0)
        z = bent.apply(y)
        yield replace(bent, centre=float(z.mean()), spread=float(z.std()))
        share /= 2


def log_evidences(X: Points, mapped: Matrix, log_slopes: Vector) -> Vector:
    """The log density of values at `X` under each of several maps, `(maps,)`, up to a constant.

    `mapped` is `(maps, n)`; `log_slopes` are sums over the values of the logarithm of the slope of
    each map. Codes of categories that differ have the distance of opposite bounds.
    """
    n, d = X.shape
    square = sum(np.minimum(np.abs(x[:, None] - x), 1.0) ** 2 for x in X.T) / d
    right_sides = np.asfortranarray(np.vstack([np.ones(n), mapped]).T)
    best = np.full(len(mapped), -np.inf)
    for lengthscale in LENGTHSCALES:
        s = np.sqrt(5 * square) / lengthscale
        K = (1 + s + s**2 / 3) * np.exp(-s)
        for noise in NOISES:
            chol, _ = cholesky(K + noise * np.eye(n))
            white = solve_lower(chol, right_sides)
            one, values = white[:, 0], white[:, 1:]
            values = values - np.outer(one, one @ values / (one @ one))  # of the likeliest mean
            amplitudes = (values**2).mean(0)
            log_root = float(np.log(np.diagonal(chol)).sum())
            best = np.maximum(best, -0.5 * n * np.log(amplitudes) - log_root)
    return best + log_slopes
