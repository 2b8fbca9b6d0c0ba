"""Regression trees that are cut as in CART, halfway between two observations.

The document on treed BO puts a threshold at an observation instead, which then belongs to both
sides, so that no gap between the leaves is left to processes that extrapolate [Assael et al. 2014,
section 3.1 and Figure 2]. The tree here is what it compares that with.
"""

from __future__ import annotations

__all__ = ["MidpointTreedGP", "best_midpoint", "midpoint_partition"]

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outcrop.data import Observations
from outcrop.linalg import Indices
from outcrop.surrogates.partition import LEAF, Partition, Split
from outcrop.surrogates.treed import TreedGP
from outcrop.typing import Points, Vector

ROUNDING = 1e-12  # smaller reductions, as a share of the node's uncertainty, count as none


@dataclass(frozen=True, eq=False)
class MidpointTreedGP(TreedGP):
    """`TreedGP` with thresholds halfway between observations, which belong to one leaf each.

    Leaves have at least `smallest` observations; any reduction of uncertainty is enough.
    """

    smallest: int = 5
    beyond: int | None = 0

    def partition(self, data: Observations) -> Partition:
        return midpoint_partition(data.X, data.y, self.columns, self.smallest)


def midpoint_partition(X: Points, y: Vector, columns: Sequence[int], smallest: int) -> Partition:
    """Split greedily until no split is admissible or none reduces uncertainty."""
    rows: list[Indices] = [np.arange(len(y))]
    cuts: list[int] = []
    thresholds: list[float] = []
    children: list[list[int]] = []
    for node, own in enumerate(rows):  # the list grows during the loop
        split = best_midpoint(X[own], y[own], columns, smallest)
        cuts.append(split.column if split else LEAF)
        thresholds.append(split.threshold if split else 0.0)
        children.append([len(rows), len(rows) + 1] if split else [node, node])
        if split:
            is_left = X[own, split.column] <= split.threshold
            rows += [own[is_left], own[~is_left]]
    return Partition(np.array(cuts), np.array(thresholds), np.array(children), tuple(rows))


def best_midpoint(X: Points, y: Vector, columns: Sequence[int], smallest: int) -> Split | None:
    """The split that reduces uncertainty most [ibid., eq. 5], by sides that share no observation.

    Both sides must hold at least `smallest` observations; None if no split is admissible.
    """
    n, best = len(y), None
    centred = y - y.mean()
    uncertainty = float(np.mean(centred**2))
    left = np.arange(smallest, n - smallest + 1)  # how many observations are on that side
    if not len(left):
        return None
    for column in columns:
        order = np.argsort(X[:, column], kind="stable")
        values, sums = X[order, column], np.cumsum(centred[order])[left - 1]
        thresholds = (values[left - 1] + values[left]) / 2
        is_between = (values[left - 1] < thresholds) & (thresholds < values[left])
        # With a mean of zero, each side reduces the squared error by (sum of the side)² / size.
        reductions = np.where(is_between, sums**2 * (1 / left + 1 / (n - left)) / n, 0.0)
        i = int(reductions.argmax())
        least = best.reduction if best else ROUNDING * uncertainty
        if reductions[i] > least:
            best = Split(column, float(thresholds[i]), float(reductions[i]))
    return best
