"""Regression trees, grown all at once.

Trees of a forest are independent, so all of them grow in step: at every level each open node of
each tree is cut in two by the same few array operations. `T` trees, `n` observations in `d`
columns; `N` entries, each an observation that some tree is grown on; `K` open nodes, numbered from
0 at every level. Nodes are numbered across all trees, and those from 0 to T - 1 are the roots.
"""

from __future__ import annotations

__all__ = ["Trees", "grow", "sums"]

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from outcrop.typing import Mask, Matrix, Points, Rng, Vector

Whole: TypeAlias = NDArray[np.int64]

NONE = -1  # the column of a leaf, and the set of levels of a cut in a number
PURE = 1e-20  # mean squared error, in units of the mean square of all values, that is rounding


def sums(at: Whole, values: Vector, size: int = 0) -> Vector:
    """The sum of the values at each index in `at`, `(size,)` or up to the largest index."""
    return np.bincount(at, values, size).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Trees:
    """The cuts of all nodes, and their children; the children of a leaf are the leaf itself."""

    roots: int
    depth: int
    column: Whole
    threshold: Vector  # values up to it go left
    levels: Whole  # the row of `lefts` that goes with a cut in a category, else NONE
    lefts: Mask  # (cuts in categories, most levels): which levels go left
    left: Whole
    right: Whole

    def leaf_of(self, X: Points) -> Whole:
        """The leaf of every tree that each row of `X` falls into, `(T, m)`."""
        node = np.repeat(np.arange(self.roots)[:, None], len(X), axis=1)
        rows = np.arange(len(X))
        for _ in range(self.depth):
            x = X[rows, self.column[node]]
            goes_left = x <= self.threshold[node]
            if len(self.lefts):
                row = self.levels[node]
                goes_left = np.where(
                    row == NONE, goes_left, self.lefts[row, np.rint(x).astype(np.int64)]
                )
            node = np.where(goes_left, self.left[node], self.right[node])
        return node


def grow(
    X: Points,
    y: Vector,
    weights: Matrix,
    categories: Mapping[int, int],
    smallest: int,
    share: float,
    rng: Rng,
) -> Trees:
    """Trees, each grown on the observations of positive weight in its row of `weights`, `(T, n)`.

    `categories` maps columns of codes to their numbers of levels. A node is cut where that reduces
    the squared error most, among a `share` of the columns that is drawn for each node and such that
    `smallest` observations stay on either side. A category is cut between its levels in the order
    of their means, which no other division of them beats [Breiman et al. 1984, theorem 4.5]; levels
    without observations in a node go left or right at random. A threshold is drawn between the
    values on either side, so that trees differ between observations [Hutter et al. 2014].
    """
    tree, row = np.nonzero(weights)
    seen = _Entries(row, weights[tree, row], y[row], tree)
    tiny = PURE * float((y**2).mean())
    is_code = np.isin(np.arange(X.shape[1]), list(categories))
    room = len(weights) + 2 * len(row)  # each cut parts entries, and makes two nodes
    column, levels, left = np.full(room, NONE), np.full(room, NONE), np.arange(room)
    threshold, right = np.zeros(room), np.arange(room)
    lefts = np.zeros((0, max(categories.values(), default=0)), dtype=np.bool_)
    used, depth = len(weights), 0
    while X.shape[1] and len(seen.row):
        front = _Front.of(seen)
        grows = (front.sizes >= 2 * smallest) & (front.errors > tiny * front.weights)
        if not grows.all():
            seen = seen.where(grows[front.at])
            continue
        x = X[seen.row].T.copy()
        for j, most in categories.items():
            x[j] = _level_means(front.at * most + x[j].astype(np.int64), seen)
        drawn = _some(share, len(x), len(front.names), rng)
        cuts = front.best_cuts(x, seen.w, smallest, drawn)
        goes_left = x[cuts.column[front.at], np.arange(len(seen.row))] <= cuts.low[front.at]

        of_codes = np.flatnonzero(cuts.found & is_code[cuts.column])
        levels[front.names[of_codes]] = len(lefts) + np.arange(len(of_codes))
        mine = np.flatnonzero(levels[seen.node] != NONE)
        codes = X[seen.row[mine], cuts.column[front.at[mine]]].astype(np.int64)
        lefts = np.vstack([lefts, rng.random((len(of_codes), lefts.shape[1])) < 0.5])
        lefts[levels[seen.node[mine]], codes] = goes_left[mine]

        names = front.names[cuts.found]
        column[names], threshold[names] = cuts.column[cuts.found], cuts.threshold(rng)[cuts.found]
        left[names] = used + 2 * np.arange(len(names))
        right[names] = left[names] + 1
        used, depth = used + 2 * len(names), depth + 1
        below = np.where(goes_left, left[seen.node], right[seen.node])
        seen = seen._replace(node=below).where(cuts.found[front.at])
    kept = slice(used)
    return Trees(
        len(weights),
        depth,
        column[kept],
        threshold[kept],
        levels[kept],
        lefts,
        left[kept],
        right[kept],
    )


class _Entries(NamedTuple):
    """Observations that trees are grown on, with their present nodes."""

    row: Whole
    w: Vector
    y: Vector
    node: Whole

    def where(self, mask: Mask) -> _Entries:
        return _Entries(self.row[mask], self.w[mask], self.y[mask], self.node[mask])


class _Cuts(NamedTuple):
    """The best cut of every open node."""

    found: Mask
    column: Whole
    low: Vector  # the largest value that goes left
    high: Vector  # the smallest that does not

    def threshold(self, rng: Rng) -> Vector:
        drawn = self.low + rng.random(len(self.low)) * (self.high - self.low)
        return np.where(drawn < self.high, drawn, self.low)


class _Front(NamedTuple):
    """The open nodes, and the residuals of entries from the mean of their node."""

    names: Whole  # (K,)
    at: Whole  # (N,) the open node of each entry
    sizes: Whole  # (K,) entries
    weights: Vector  # (K,)
    residuals: Vector  # (N,)
    errors: Vector  # (K,) sums of their squares

    @classmethod
    def of(cls, seen: _Entries) -> _Front:
        names, at, sizes = np.unique(seen.node, return_inverse=True, return_counts=True)
        weights = sums(at, seen.w)
        residuals = seen.y - (sums(at, seen.w * seen.y) / weights)[at]
        return cls(names, at, sizes, weights, residuals, sums(at, seen.w * residuals**2))

    def best_cuts(self, x: Matrix, w: Vector, smallest: int, drawn: Mask) -> _Cuts:
        """Cuts by values `x`, `(d, N)`; if no `drawn` column, `(d, K)`, has one, by any column."""
        # Sorting by node and value in a single key is five times as fast as by both; values that
        # differ by a rounding error of the key are ties, and a cut between them is as good as one
        # beside them.
        low, high = x.min(1, keepdims=True), x.max(1, keepdims=True)
        order = np.argsort(
            self.at + (x - low) / (2 * np.where(high > low, high - low, 1.0)), axis=1
        )
        x, w = np.take_along_axis(x, order, axis=1), w[order]
        at = np.repeat(np.arange(len(self.names)), self.sizes)
        starts = np.cumsum(self.sizes) - self.sizes
        weight = np.cumsum(w, axis=1)
        weight -= (weight - w)[:, starts][:, at]
        other = self.weights[at] - weight
        # Residuals of a node sum to 0, so the sums on both sides of a cut differ in sign only.
        excess = np.cumsum(w * self.residuals[order], axis=1)
        rank = np.arange(1, len(at) + 1) - starts[at]
        has_room = (rank >= smallest) & (self.sizes[at] - rank >= smallest)
        allowed = has_room & (np.diff(x, axis=1, append=np.inf) > 0)
        gain = np.full(x.shape, -np.inf)
        np.divide(excess**2 * self.weights[at], weight * other, out=gain, where=allowed)

        best = np.maximum.reduceat(gain, starts, axis=1)
        score = np.where(drawn, best, -np.inf)
        score = np.where(np.isneginf(score.max(0)), best, score)
        column, top = score.argmax(0), score.max(0)
        found = ~np.isneginf(top)
        hits = np.flatnonzero(gain[column[at], np.arange(len(at))] == top[at])[::-1]
        place = np.zeros(len(found), dtype=np.int64)
        place[at[hits]] = hits  # the first of equal ones, because it is written last
        after = np.minimum(place + 1, len(at) - 1)
        return _Cuts(found, column, x[column, place], x[column, after])


def _level_means(group: Whole, seen: _Entries) -> Vector:
    """For each entry the mean of the entries of its node and level, which `group` numbers."""
    _, group = np.unique(group, return_inverse=True)
    return (sums(group, seen.w * seen.y) / sums(group, seen.w))[group]


def _some(share: float, d: int, nodes: int, rng: Rng) -> Mask:
    """A random `share` of `d` columns for each node, at least one, `(d, nodes)`."""
    lots = rng.random((d, nodes))
    last = max(int(np.ceil(share * d)), 1) - 1
    return np.asarray(lots <= np.partition(lots, last, axis=0)[last])
