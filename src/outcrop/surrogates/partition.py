"""A partition of the unit cube by a regression tree whose thresholds are observations.

A split is placed *at* an observation, which then belongs to both children: processes fitted to
either side meet there, without a gap between two observations [Assael et al. 2014]. Nodes are
numbered so that a parent comes before its children; node 0 is the root. `rows` are indices of
observations, in rising order.
"""

from __future__ import annotations

__all__ = ["Partition", "Split", "best_split"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outcrop.linalg import Indices
from outcrop.surrogates.division import Division
from outcrop.typing import Matrix, Points, Vector

LEAF = -1  # in place of the column that a node is split in
EPSILON = 8 * float(np.finfo(float).eps)  # relative rounding error of a mean
ROUNDING = 1e-12  # smaller reductions, as a share of the node's uncertainty, count as none


class Split(NamedTuple):
    """Where a node is cut in two, and by how much that reduces the mean squared error."""

    column: int
    threshold: float
    reduction: float


def best_split(X: Points, y: Vector, columns: Sequence[int], smallest: int) -> Split | None:
    """The split that reduces uncertainty most [ibid., eq. 5]; None if none is admissible.

    Observations at the threshold, one unless there are ties, count on both sides. Both sides must
    hold at least `smallest` observations and fewer than all. Of equal reductions the first column
    wins, then the lowest threshold.
    """
    n = len(y)
    if n <= smallest or not len(columns):
        return None
    order = np.argsort(X[:, columns], axis=0, kind="stable")
    values = np.take_along_axis(X[:, columns], order, axis=0)
    first, last = _ties(values)
    sums, squares = _running(y - y.mean(), order)
    left, right = last + 1, n - first  # observations on either side
    error = (
        np.take_along_axis(squares, left, axis=0)
        - np.take_along_axis(sums, left, axis=0) ** 2 / left
        + (squares[-1] - np.take_along_axis(squares, first, axis=0))
        - (sums[-1] - np.take_along_axis(sums, first, axis=0)) ** 2 / right
    )
    total = squares[-1, 0]
    allowed = (left >= smallest) & (right >= smallest) & (left < n) & (right < n)
    reduction = np.where(allowed, total - error, -np.inf) / n
    column, row = divmod(int(np.argmax(reduction.T)), n)
    best = float(reduction[row, column])
    if not best > ROUNDING * total / n + (EPSILON * np.abs(y).max()) ** 2:
        return None
    return Split(int(columns[column]), float(values[row, column]), best)


def _ties(values: Points) -> tuple[Indices, Indices]:
    """For each entry of sorted columns, where its run of equal entries begins and where it ends."""
    numbers = np.arange(len(values))[:, None]
    begins = np.ones(values.shape, dtype=np.bool_)
    begins[1:] = values[1:] != values[:-1]
    ends = np.ones(values.shape, dtype=np.bool_)
    ends[:-1] = begins[1:]
    first = np.maximum.accumulate(np.where(begins, numbers, 0), axis=0)
    last = np.minimum.accumulate(np.where(ends, numbers, len(values))[::-1], axis=0)[::-1]
    return first, last


def _running(y: Vector, order: Indices) -> tuple[Points, Points]:
    """Sums of the first 0, 1, …, n values, and of their squares, in each column's order."""
    sums, squares = np.zeros((2, len(y) + 1, order.shape[1]))
    np.cumsum(y[order], axis=0, out=sums[1:])
    np.cumsum(np.square(y)[order], axis=0, out=squares[1:])
    return sums, squares


class _Growth:
    """A tree that is grown node by node, in the order of `rows`."""

    def __init__(self, rows: list[Indices]) -> None:
        self.rows = rows  # of each node that was found so far
        self.columns: list[int] = []
        self.thresholds: list[float] = []
        self.children: list[list[int]] = []

    def add(self, X: Points, own: Indices, split: Split | None) -> None:
        """The next node, with the observations `own`: cut in two, or a leaf."""
        if split is None:
            self.columns.append(LEAF)
            self.thresholds.append(0.0)
            self.children.append([len(self.columns) - 1] * 2)
            return
        value = X[own, split.column]
        self.columns.append(split.column)
        self.thresholds.append(split.threshold)
        self.children.append([len(self.rows), len(self.rows) + 1])
        self.rows += [own[value <= split.threshold], own[value >= split.threshold]]

    def grown(self, kind: type[Partition]) -> Partition:
        return kind(
            np.array(self.columns),
            np.array(self.thresholds),
            np.array(self.children),
            tuple(self.rows),
        )


@dataclass(frozen=True, eq=False)
class Partition(Division):
    """A tree of boxes.

    >>> X = np.linspace(0.0, 1.0, 9)[:, None]
    >>> tree = Partition.of(X, (X[:, 0] > 0.5) * 1.0, columns=(0,), smallest=5)
    >>> float(tree.thresholds[0]), [len(rows) for rows in tree.leaf_rows]
    (0.5, [5, 5])
    >>> tree.leaf_of(np.array([[0.5], [0.6]]))
    array([0, 1])
    """

    columns: Indices  # (nodes,), the column a node is split in, or LEAF
    thresholds: Vector  # (nodes,), 0 at leaves
    children: NDArray[np.intp]  # (nodes, 2), left and right; a leaf's are itself
    rows: tuple[Indices, ...] = ()  # of each node, when made from observations

    @classmethod
    def of(
        cls,
        X: Points,
        y: Vector,
        columns: Sequence[int],
        smallest: int,
        least: float = 0.0,
        largest: float = inf,
    ) -> Partition:
        """Split greedily until no split is admissible or reduces uncertainty enough.

        Enough is more than the share `least` of the squared error of all observations around their
        mean: the complexity parameter of Breiman et al. 1984. In a node of more than `largest`
        observations any reduction is enough.
        """
        enough = least * float(np.square(y - y.mean()).sum()) if len(y) else 0.0
        tree = _Growth([np.arange(len(y))])
        for own in tree.rows:  # the list grows during the loop
            split = best_split(X[own], y[own], columns, smallest)
            needed = enough if len(own) <= largest else 0.0
            is_enough = split is not None and len(own) * split.reduction > needed
            tree.add(X, own, split if is_enough else None)
        return tree.grown(cls)

    @classmethod
    def halved(cls, X: Points, columns: Sequence[int], lengths: Vector, largest: int) -> Partition:
        """Cut at medians until no leaf has more than `largest` observations, if that is possible.

        A node is cut in the column of `columns` in which its observations are spread most, in units
        of `lengths`, `(d,)`.
        """
        among = np.array(columns, dtype=np.intp)
        tree = _Growth([np.arange(len(X))])
        for own in tree.rows:  # the list grows during the loop
            cut = None
            if len(own) > largest and len(among):
                spread = np.ptp(X[own][:, among], axis=0) / lengths[among]
                column = int(among[spread.argmax()])
                values = X[own, column]
                middle = float(np.quantile(values, 0.5, method="lower"))
                if values.min() < middle < values.max():
                    cut = Split(column, middle, 0.0)
            tree.add(X, own, cut)
        return tree.grown(cls)

    def __len__(self) -> int:
        """The number of leaves."""
        return len(self.leaves)

    @cached_property
    def leaves(self) -> Indices:
        """The nodes that are leaves."""
        return np.flatnonzero(self.columns == LEAF)

    @property
    def leaf_rows(self) -> tuple[Indices, ...]:
        """The observations in each leaf."""
        return tuple(self.rows[leaf] for leaf in self.leaves)

    def neighbours(
        self, X: Points, count: int, lengths: Vector | None = None
    ) -> tuple[Indices, ...]:
        """For each leaf the `count` observations outside it that lie nearest to its box.

        Distances are in units of `lengths`, `(d,)`.
        """
        cut = np.unique(self.columns[self.columns != LEAF])
        boxes = self.boxes(X.shape[1])[:, :, cut]
        found = []
        for (low, high), own in zip(boxes, self.leaf_rows, strict=True):
            away = np.maximum(np.maximum(low - X[:, cut], X[:, cut] - high), 0.0)
            distances = np.square(away if lengths is None else away / lengths[cut]).sum(1)
            distances[own] = inf
            order = np.argsort(distances, kind="stable")
            found.append(np.sort(order[: min(count, len(X) - len(own))]))
        return tuple(found)

    def ancestors(self, leaf: int) -> list[int]:
        """The nodes from the `leaf`-th leaf up to the root."""
        nodes = [int(self.leaves[leaf])]
        while nodes[-1] > 0:
            nodes.append(int(self._parents[nodes[-1]]))
        return nodes

    def factor_rows(self, leaf: int) -> list[Indices]:
        """The leaf's observations, then those that each node up to the root adds to its child's."""
        own = [self.rows[node] for node in self.ancestors(leaf)]
        added = [np.setdiff1d(above, below, assume_unique=True) for below, above in pairwise(own)]
        return [own[0], *added]

    def leaf_of(self, X: Points) -> Indices:
        """Which leaf each row of `X` falls into; a point on a threshold goes left."""
        node = np.zeros(len(X), dtype=np.intp)
        each = np.arange(len(X))
        for _ in range(self._depth):
            is_right = X[each, self.columns[node]] > self.thresholds[node]
            node = self.children[node, is_right.astype(np.intp)]
        return self._numbers[node]

    def shares(self, X: Points) -> list[Indices]:
        """Which rows of `X` belong to each leaf; a point on a threshold belongs to both sides."""
        own: list[Indices] = [np.arange(len(X))] * len(self.columns)
        for node in np.flatnonzero(self.columns != LEAF):
            value = X[own[node], self.columns[node]]
            left, right = self.children[node]
            own[left] = own[node][value <= self.thresholds[node]]
            own[right] = own[node][value >= self.thresholds[node]]
        return [own[leaf] for leaf in self.leaves]

    def boxes(self, dimension: int) -> Points:
        """Lower and upper corner of each leaf in the unit cube, `(leaves, 2, dimension)`."""
        corners = np.zeros((len(self.columns), 2, dimension))
        corners[:, 1] = 1.0
        for node in np.flatnonzero(self.columns != LEAF):
            left, right = self.children[node]
            corners[left] = corners[right] = corners[node]
            corners[left, 1, self.columns[node]] = self.thresholds[node]
            corners[right, 0, self.columns[node]] = self.thresholds[node]
        return corners[self.leaves]

    def same_as(self, other: Division) -> bool:
        """Whether both cut the cube into the same boxes in the same order."""
        return (
            isinstance(other, Partition)
            and np.array_equal(self.columns, other.columns)
            and np.array_equal(self.thresholds, other.thresholds)
            and np.array_equal(self.children, other.children)
        )

    def typical(self, scales: Matrix) -> Vector:
        """The median: every leaf's kernel has every column."""
        return np.median(scales, axis=0)

    def to_json(self) -> dict[str, Any]:
        """The tree without its observations, as plain data."""
        return {
            "columns": self.columns.tolist(),
            "thresholds": self.thresholds.tolist(),
            "children": self.children.tolist(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Partition:
        return cls(
            np.array(data["columns"], dtype=np.intp),
            np.array(data["thresholds"], dtype=float),
            np.array(data["children"], dtype=np.intp),
        )

    @cached_property
    def _numbers(self) -> Indices:
        """The number of the leaf that each node is; `LEAF` for other nodes."""
        numbers = np.full(len(self.columns), LEAF)
        numbers[self.leaves] = np.arange(len(self.leaves))
        return numbers

    @cached_property
    def _parents(self) -> Indices:
        parents = np.zeros(len(self.columns), dtype=np.intp)
        for node in np.flatnonzero(self.columns != LEAF):
            parents[self.children[node]] = node
        return parents

    @cached_property
    def _depth(self) -> int:
        depths = np.zeros(len(self.columns), dtype=np.intp)
        for node in np.flatnonzero(self.columns != LEAF):
            depths[self.children[node]] = depths[node] + 1
        return int(depths.max())
