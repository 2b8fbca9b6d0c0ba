"""One Gaussian process on many observations, by processes of its own kernel in boxes.

A factorisation of all `n` observations takes a time in n³. Nearby observations determine a
prediction almost alone, so the cube is cut into boxes of at most `OWN` observations, and the
process in each box is conditioned on those and on the `BEYOND` nearest ones outside. All boxes have
the same hyperparameters; their borders depend on the data, not on the hyperparameters of one chain.
"""

from __future__ import annotations

__all__ = ["EXACT_ROWS", "Boxes"]

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

import numpy as np

from outcrop.data import Observations
from outcrop.surrogates.gp import GP
from outcrop.surrogates.leafwise import LeafwisePosterior
from outcrop.surrogates.partition import Partition
from outcrop.typing import Vector

EXACT_ROWS = 500  # observations up to which one process is conditioned on all of them
OWN = 150  # most observations in a box
BEYOND = 250  # observations outside a box that its process sees as well


@dataclass(frozen=True, eq=False)
class Boxes:
    """Observations in boxes, each with its neighbours."""

    partition: Partition
    seen: tuple[Observations, ...]  # that the process in each box is conditioned on

    @classmethod
    def of(cls, data: Observations, columns: Sequence[int], lengths: Vector) -> Self:
        """Boxes cut across `columns`; `lengths` are typical lengthscales, `(d,)`."""
        partition = Partition.halved(data.X, columns, lengths, OWN)
        near = partition.neighbours(data.X, BEYOND, lengths)
        pairs = zip(partition.leaf_rows, near, strict=True)
        return cls(partition, tuple(data.rows(np.union1d(own, others)) for own, others in pairs))

    @classmethod
    def shared(cls, data: Observations, columns: Sequence[int], lengths: Vector) -> Boxes:
        """Boxes that are made once for `data`: components with the same boxes predict at once."""
        if "boxes" not in data.last:
            data.last["boxes"] = cls.of(data, columns, lengths)
        return cast(Boxes, data.last["boxes"])

    def condition(self, model: GP) -> LeafwisePosterior:
        """The process `model` in every box."""
        return LeafwisePosterior(self.partition, tuple(map(model.condition, self.seen)))
