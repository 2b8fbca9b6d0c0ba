"""A search without gradients: boxes that shrink around the best points of a cover.

After de Freitas, Smola & Zoghi 2012, who cover the whole region that may contain the maximum with
an ever finer lattice. Bodin et al. 2020 name their δ-cover sampling without details; to cover only
boxes around the best points, and how many, is a choice made here.
"""

from __future__ import annotations

__all__ = ["DeltaCover"]

from dataclasses import dataclass
from math import ceil

import numpy as np

from outcrop.maximise.base import Function, Scored
from outcrop.maximise.candidates import distinct, filled
from outcrop.maximise.lattice import lattice
from outcrop.maximise.maximiser import Maximiser
from outcrop.space import Space
from outcrop.typing import Points, Rng, Vector

WIDEST = 0.1  # half the width of the first boxes


@dataclass(frozen=True)
class DeltaCover(Maximiser):
    """Finds the best legal point by covers of ever smaller boxes, without ascents.

        oc.Method(surrogate=oc.surrogates.Latent(), maximiser=oc.baselines.DeltaCover())

    `spread` and `boxed` are numbers of points per column of the space. Each time the boxes are half
    as wide, half as many are covered, the best of them and at least `fewest`. It scores many times
    more points than `Maximiser`, and ignores its options for incumbents, ascents and sweeps.
    """

    spread: int = 2000  # points of the first cover, per column
    boxes: int = 10  # around the best of them
    boxed: int = 50  # points in each box, per column
    halvings: int = 6  # of the boxes
    fewest: int = 3  # boxes to the end

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None) -> Points:
        if not space.columns:
            return np.zeros((1, 0))
        count = self.spread * len(space.columns)
        return distinct(space.admissible(lattice(rng, count, len(space.columns)), rng))

    def _search(
        self, function: Function, space: Space, rng: Rng, candidates: Points, scales: Vector
    ) -> Scored:
        scored = Scored.by(function, candidates)
        best = scored.top(self.boxes)
        for halving in range(self.halvings + 1):
            left = max(ceil(self.boxes / 2**halving), self.fewest)
            best = best if len(best) <= left else best.top(left)
            reach = WIDEST / 2**halving
            boxes = [self._box(space, point, reach, rng) for point in best.X]
            tried = Scored.by(function, np.vstack([*boxes, best.X]))
            owners = np.repeat(np.arange(len(best)), [len(box) for box in boxes])
            owners = np.concatenate([owners, np.arange(len(best))])
            winners = [
                rows[np.argmax(tried.values[rows])]
                for rows in (np.flatnonzero(owners == i) for i in range(len(best)))
            ]
            best, scored = tried.at(np.array(winners)), scored.join(tried)
        return scored

    def _box(self, space: Space, point: Vector, reach: float, rng: Rng) -> Points:
        """Legal points that differ from `point` by at most `reach` in each number."""
        numbers = np.array([not column.is_code for column in space.columns])
        steps = reach * (2 * lattice(rng, self.boxed * len(point), len(point)) - 1)
        X = filled(space, np.tile(point, (len(steps), 1)), rng)
        return distinct(space.snap(np.where(numbers, np.clip(X + steps, 0.0, 1.0), X)))
