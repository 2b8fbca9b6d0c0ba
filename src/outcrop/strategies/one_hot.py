"""A search over the cube of one-hot codes, rounded to configurations.

`X` are points of the space, `W` those of its cube, see `baselines.one_hot`.
"""

from __future__ import annotations

__all__ = ["Rounded", "Rounding", "at_codes"]

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from outcrop.baselines.one_hot import Cube, OneHot, OneLengthscale
from outcrop.maximise import Function, Maximises, Maximum
from outcrop.maximise.base import OfImages, Scored
from outcrop.maximise.forbidden import best_allowed
from outcrop.space import Space
from outcrop.strategies.base import Belief, Strategy, Suggestion, View
from outcrop.strategies.initial import Design, RandomDesign
from outcrop.strategies.model_based import ModelBased
from outcrop.strategies.sequence import Sequence
from outcrop.surrogates import Situation
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class Rounded:
    """A model of the one-hot cube, whose suggestions are rounded to configurations."""

    cube: Cube
    model: ModelBased  # of the cube
    initial: Design  # of the space

    @classmethod
    def of(cls, strategy: ModelBased) -> Rounded:
        """The same strategy on the cube of its space."""
        cube, given = Cube(strategy.space), strategy.kind
        model = replace(
            strategy,
            space=cube.wide,
            kind=given.cube_kind if isinstance(given, OneHot) else OneLengthscale(),
            initial=RandomDesign(size=strategy.initial.size_for(cube.space)),
            avoids_bounds=False,  # levels lie there
            feasibility_kernel=lambda wide: OneLengthscale().kernel(Situation(wide)),
        )
        return cls(cube, model, strategy.initial)

    def propose(self, view: View, rng: Rng) -> Suggestion:
        design = Sequence(self.cube.space, self.initial)
        if not len(view.y) or view.started < self.initial.size_for(self.cube.space):
            return design.propose(view, rng)
        search = Rounding(self.model.maximiser_for(view), self.cube, self._names(view))
        model = replace(self.model, maximiser=search, watch=self._watch)
        found = model.propose(self._on_cube(view), rng)
        point = self.cube.rounded(self.cube.wide.encode([found.params]).X)
        if found.why["source"] == "fallback" and self.cube.space.keys(point)[0] in view.known:
            return replace(found, params=design.propose(view, rng).params)
        return replace(found, params=self.cube.space.decode(point)[0])

    def belief(self, view: View, rng: Rng) -> Belief:
        return _BeliefOnCube(self.model.belief(self._on_cube(view), rng), self.cube)

    def with_model(self, model: ModelBased) -> Strategy:
        return replace(self, model=model)

    def _watch(self, function: Function) -> None:
        self.model.watch(at_codes(function, self.cube))

    def _on_cube(self, view: View) -> View:
        """The view with all points encoded in the cube."""
        X, pending, failed = map(self.cube.encoded, (view.X, view.pending, view.failed))
        known = frozenset(self._names(view))
        at = None if view.at is None else self.cube.encoded(view.at)
        cov = None if view.input_cov is None else self.cube.widened(view.input_cov)
        return replace(view, X=X, pending=pending, failed=failed, known=known, at=at, input_cov=cov)

    def _names(self, view: View) -> dict[str, str]:
        """Keys in the cube of all known configurations, each with its key in the space."""
        X = np.vstack([view.X, view.pending, view.failed])
        return dict(
            zip(self.cube.wide.keys(self.cube.encoded(X)), self.cube.space.keys(X), strict=True)
        )


@dataclass(frozen=True, eq=False)
class _BeliefOnCube:
    """The belief of a model of the cube, at configurations of the space."""

    belief: Belief
    cube: Cube

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        return self.belief.predict(self.cube.encoded(X))

    def sample(self, X: Points, rng: Rng, n: int) -> Matrix:
        return self.belief.sample(self.cube.encoded(X), rng, n)


@dataclass(frozen=True, eq=False)
class Rounding:
    """A maximiser on the cube that returns the code of a configuration.

    The points of the search are rounded to configurations; the best point whose configuration is
    allowed is taken. If none is, the configurations themselves are searched.
    """

    maximiser: Maximises
    cube: Cube
    names: Mapping[str, str]  # of known configurations: key in the cube to key in the space

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None) -> Points:
        return self.maximiser.candidates(space, rng, incumbents)

    def __call__(
        self,
        function: Function,
        space: Space,
        rng: Rng,
        *,
        forbidden: Collection[str] = frozenset(),
        scales: Vector | None = None,
        candidates: Points | None = None,
    ) -> Maximum:
        relaxed = self.maximiser(function, space, rng, candidates=candidates, scales=scales)
        legal = self.cube.encoded(self.cube.rounded(relaxed.candidates))
        scored = Scored(legal, relaxed.values)
        known = frozenset(forbidden)
        point = best_allowed(scored, space, known, rng)
        if point is None:
            known = frozenset(self.names[key] for key in known)
            legal_function = at_codes(function, self.cube)
            found = self.maximiser(legal_function, self.cube.space, rng, forbidden=known)
            legal, point = self.cube.encoded(found.point[None]), 0
        value = float(function(legal[point : point + 1])[0])
        return replace(relaxed, point=legal[point], value=value, candidates=legal)


def at_codes(function: Function, cube: Cube) -> OfImages:
    """A function of points of the cube as one of configurations."""
    return OfImages(function, cube.encoded, cube.pulled)
