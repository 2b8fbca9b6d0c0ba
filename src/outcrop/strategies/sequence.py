"""A strategy that takes the points of a design in order, without a model."""

from __future__ import annotations

__all__ = ["NAMED", "Sequence"]

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from outcrop.errors import NoBelief
from outcrop.maximise import Maximiser
from outcrop.space import Space
from outcrop.strategies.base import Belief, Suggestion, View, Why
from outcrop.strategies.initial import Design, RandomDesign, Sobol
from outcrop.strategies.registry import Registered
from outcrop.typing import Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class Sequence:
    """The points of a design one after the other; those already known are passed over."""

    space: Space
    design: Design = field(default_factory=Sobol)

    def propose(self, view: View, rng: Rng) -> Suggestion:
        position = view.started
        # One sequence for the whole study, so its generator depends on the study's seed alone.
        points = self.design.points(
            self.space, 2 * position + 8, np.random.default_rng([view.seed, SEQUENCE])
        )
        for first in range(position, len(points), LOOK):
            for i, key in enumerate(self.space.keys(points[first : first + LOOK])):
                if key not in view.known:
                    return self._suggestion(points[first + i])
        if view.is_noisy:
            return self._suggestion(points[position])
        # None of these points is new: search the remaining configurations.
        found = Maximiser()(Indifferent(), self.space, rng, forbidden=view.known)
        return self._suggestion(found.point)

    def belief(self, view: View, rng: Rng) -> Belief:
        raise NoBelief(
            f"a search by {type(self.design).__name__} has no model, so no belief; use method='gp' "
            "for beliefs and recommendations"
        )

    def _suggestion(self, point: Vector) -> Suggestion:
        why: Why = {"source": "initial", "design": type(self.design).__name__}
        return Suggestion(self.space.decode(point[None, :])[0], why)


NAMED = (
    Registered("random", "independent uniform points", partial(Sequence, design=RandomDesign())),
    Registered("sobol", "a scrambled Sobol sequence", partial(Sequence, design=Sobol())),
)

LOOK = 32  # points compared with known ones at a time: most often the first is new
SEQUENCE = 7  # separates the random stream of the design from those of trials


@dataclass(frozen=True)
class Indifferent:
    """The constant function 0."""

    def __call__(self, X: Points) -> Vector:
        return np.zeros(len(X))

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        return np.zeros(len(X)), np.zeros_like(X)
