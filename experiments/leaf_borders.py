"""What a search does at the borders between leaves of a regression tree.

The process of a leaf knows little beyond its own observations, so that it may be uncertain at the
borders of the leaf, and suggestions may pile up there.
"""

from __future__ import annotations

__all__ = ["FIRST", "NEAR", "Recorded", "border_deviation", "border_share", "is_at_a_border"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.surrogates import LeafwisePosterior, Mixture, Surrogate
from outcrop.surrogates.partition import Partition
from outcrop.typing import Points, Rng, Vector

FIRST = 21  # trial from which suggestions at borders are counted
NEAR = 1e-3  # of the cube
POINTS = 1000  # at which deviations are averaged
INSIDE = 1e-9  # from a border, so that a point belongs to its own leaf
CUBE = np.array([[0.0], [1.0]])  # lower and upper bound of every number


@dataclass(eq=False)
class Recorded:
    """A surrogate that records which of its trees' suggestions lie at a border between leaves."""

    surrogate: Surrogate
    at_border: list[bool] = field(default_factory=list)
    belief: Mixture | None = None  # the last one

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        if self.belief is not None:
            latest = observations.X[-1]
            self.at_border.append(is_at_a_border(partition_of(self.belief), latest))
        self.belief = self.surrogate.fit(observations, rng, previous)
        return self.belief


def partition_of(belief: Mixture) -> Partition:
    """The tree that all components of a treed belief share."""
    first = belief.components[0]
    assert isinstance(first, LeafwisePosterior)
    assert isinstance(first.division, Partition)
    return first.division


def is_at_a_border(partition: Partition, point: Vector) -> bool:
    """Whether a border between leaves is within a thousandth of the cube."""
    boxes = partition.boxes(len(point))
    faces = (np.abs(boxes - point) <= NEAR) & (boxes != CUBE)
    inside = (boxes[:, 0] - NEAR <= point) & (point <= boxes[:, 1] + NEAR)
    return bool((faces.any((1, 2)) & inside.all(1)).any())


def border_share(at_border: Sequence[int], initial: int, trials: int) -> float:
    """The share of suggestions from trial `FIRST` to the last but one that lie at a border.

    `at_border` has the numbers of those that do, counted from 0 after the initial points. No tree
    is grown after the last trial, so that nothing is known about it.
    """
    return sum(initial + number + 1 >= FIRST for number in at_border) / (trials - FIRST)


def border_deviation(belief: Mixture, dimension: int) -> float | None:
    """The standard deviation at borders between leaves, in units of that in the whole cube.

    Both are means over the components and over random points, of which each is moved to the nearest
    border of its leaf for the first one. None if there is one leaf only.
    """
    partition = partition_of(belief)
    if len(partition) == 1:
        return None
    X = np.random.default_rng(0).random((POINTS, dimension))
    at_borders = moved_to_borders(partition, X)
    deviations = [np.sqrt(belief.predict_each(points)[1]).mean() for points in (at_borders, X)]
    return float(deviations[0] / deviations[1])


def moved_to_borders(partition: Partition, X: Points) -> Points:
    """Each row of `X` at the nearest border of its leaf with another, just inside its own."""
    each, (n, d) = np.arange(len(X)), X.shape
    boxes = partition.boxes(d)[partition.leaf_of(X)]
    distances = np.where(boxes == CUBE, np.inf, np.abs(boxes - X[:, None]))
    side, column = np.divmod(distances.reshape(n, 2 * d).argmin(1), d)
    moved = X.copy()
    moved[each, column] = boxes[each, side, column] + np.where(side == 0, INSIDE, -INSIDE)
    return moved
