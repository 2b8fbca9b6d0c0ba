"""A strategy that follows a design and learns nothing."""

from __future__ import annotations

__all__ = ["NAMED", "Sequence"]

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from outcrop.errors import NoBelief
from outcrop.maximise import Maximiser
from outcrop.space import Space
from outcrop.strategies.base import Belief, Suggestion, View
from outcrop.strategies.initial import Design, RandomDesign, Sobol
from outcrop.strategies.registry import Registered
from outcrop.strategies.why import Why
from outcrop.typing import Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class Sequence:
    """The points of a design one after the other; those already known are passed over."""

    space: Space
    design: Design = field(default_factory=Sobol)

    def propose(self, view: View, rng: Rng) -> Suggestion:
        position = len(view.y) + len(view.pending) + len(view.failed)
        # One sequence for the whole study: its generator belongs to the study, not to the trial.
        points = self.design.points(
            self.space, 2 * position + 8, np.random.default_rng([view.seed, SEQUENCE])
        )
        for first in range(position, len(points), LOOK):
            for i, key in enumerate(self.space.keys(points[first : first + LOOK])):
                if key not in view.known:
                    return self._suggestion(points[first + i])
        if view.is_noisy:
            return self._suggestion(points[position])
        # Chance found nothing new: let the maximiser look at whatever is left.
        found = Maximiser()(Indifferent(), self.space, rng, forbidden=view.known)
        return self._suggestion(found.point)

    def belief(self, view: View, rng: Rng) -> Belief:
        raise NoBelief(
            f"{type(self.design).__name__.lower()} search believes nothing; use method='gp' to "
            "have a belief, a recommendation by it, and explanations"
        )

    def _suggestion(self, point: Vector) -> Suggestion:
        why: Why = {"source": "initial", "design": type(self.design).__name__}
        return Suggestion(self.space.decode(point[None, :])[0], why)


NAMED = (
    Registered("random", "independent uniform points", partial(Sequence, design=RandomDesign())),
    Registered("sobol", "a scrambled Sobol sequence", partial(Sequence, design=Sobol())),
)

LOOK = 32  # points looked at together: most often the first is new
SEQUENCE = 7  # keeps the design's stream apart from every trial's


@dataclass(frozen=True)
class Indifferent:
    """A function without preferences."""

    def __call__(self, X: Points) -> Vector:
        return np.zeros(len(X))

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        return np.zeros(len(X)), np.zeros_like(X)
