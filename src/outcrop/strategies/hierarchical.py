"""Hierarchical search: an outer search over the numbers, and at each of its points an inner one.

The value of an outer point is the best value that the inner search, over categories and options,
found there [Martinez-Cantin 2015, algorithm 4]. Each outer point is held for a number of trials,
then the outer search proposes the next. The paper evaluates the inner optimum a second time; that
adds no information and is left out.

The state in `Suggestion.warm` has the states of both searches and the outer point that is held.
Earlier trials are taken from the view, so results that were added count too. An outer point counts
as running until half of its trials have ended.
"""

from __future__ import annotations

__all__ = ["NAMED", "Hierarchical"]

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict

import numpy as np

from outcrop.errors import MethodError, SpaceExhausted
from outcrop.space import Space
from outcrop.strategies.base import Belief, Strategy, Suggestion, View, Why
from outcrop.strategies.fixed_columns import FreeColumnMaximiser
from outcrop.strategies.hierarchical_levels import SpaceLevels, Visit
from outcrop.strategies.initial import LatinHypercube
from outcrop.strategies.method import Method
from outcrop.strategies.model_based import ModelBased
from outcrop.strategies.registry import MethodLike, Registered, strategy_for
from outcrop.typing import Rng, Vector

GIVEN_UP = 3  # failures, and nothing else, after which an outer point is left

_HeldPoint = TypedDict(  # an outer point that gets several trials, as stored in the state
    "_HeldPoint",
    {
        "point": list[float],
        "since": int,  # number of the first trial of this visit
        "from": int,  # trials at the point before the visit
        "until": int,  # and after it
    },
)


@dataclass(frozen=True)
class Hierarchical:
    """A method that searches the numbers, and for each choice of them the categories.

    >>> import outcrop as oc
    >>> space = oc.Space({"x": oc.Float(0, 1), "kind": oc.Categorical(["a", "b", "c"])})
    >>> optimizer = oc.Optimizer(space, method=Hierarchical(trials=2), seed=0)
    >>> trials = optimizer.ask(4)
    >>> len({trial.params["x"] for trial in trials})  # two trials for each of two points
    2

    `outer` and `inner` are whatever `method=` takes; a forest suits the inner search:
    `inner=Method(surrogate=surrogates.Forest())`. Each outer point gets `trials` trials, or as many
    as there are inner configurations, so a budget of N trials allows N / `trials` outer points. The
    first `carried` of them repeat the best inner configurations of other outer points. The inner
    search learns from the trials at its outer point alone. If it is `pooled`, one model of the
    whole space learns from all trials and searches the inner parameters at the outer point.

    Numbers that belong to an option are part of the inner search. A space without categories is
    searched by `outer` alone, a space without other numbers by `inner` alone.
    """

    outer: MethodLike = field(default_factory=lambda: Method(initial=LatinHypercube(size=5)))
    inner: MethodLike = field(default_factory=lambda: Method(initial=LatinHypercube(size=3)))
    trials: int = 10
    carried: int = 1
    pooled: bool = False

    def __post_init__(self) -> None:
        if type(self.trials) is not int or self.trials < 1:
            raise MethodError(
                f"Hierarchical(trials={self.trials!r}): expected a whole number of at least 1, "
                "the trials at each outer point"
            )
        if type(self.carried) is not int or not 0 <= self.carried <= self.trials:
            raise MethodError(
                f"Hierarchical(carried={self.carried!r}): expected a whole number from 0 to "
                f"{self.trials}, the trials at each outer point"
            )
        if type(self.pooled) is not bool:
            raise MethodError(f"Hierarchical(pooled={self.pooled!r}): expected True or False")

    def strategy(self, space: Space) -> Strategy:
        levels = SpaceLevels(space)
        if not levels.upper or not levels.lower:
            return strategy_for(self.outer if levels.upper else self.inner, space)
        outer = strategy_for(self.outer, levels.outer)
        inner = strategy_for(self.inner, levels.inner)
        whole = strategy_for(self.inner if self.pooled else "gp", space)
        if self.pooled and not isinstance(whole, ModelBased):
            raise MethodError(
                f"Hierarchical(inner={self.inner!r}, pooled=True): expected a method with a model "
                "that searches the space itself, such as 'gp' or Method(surrogate=Forest())"
            )
        return _Nested(levels, outer, inner, whole, self)


NAMED = (
    Registered(
        "hierarchical",
        "numbers searched outside, and at each choice of them the categories inside",
        Hierarchical().strategy,
    ),
)


@dataclass(frozen=True, eq=False)
class _Nested:
    """Two searches, one inside the other."""

    levels: SpaceLevels
    outer: Strategy
    inner: Strategy
    whole: Strategy  # has the belief about the whole space; searches if pooled
    settings: Hierarchical

    def propose(self, view: View, rng: Rng) -> Suggestion:
        visits = self.levels.visits(view)
        held: _HeldPoint | None = view.warm.get("held")
        if held is not None:
            visit = self._visit(visits, np.array(held["point"]))
            if visit.started < held["until"] and not self._is_hopeless(visit):
                found = self._inside(view, visit, held, rng)
                if found is not None:
                    return found
        return self._next(view, visits, rng)

    def belief(self, view: View, rng: Rng) -> Belief:
        """Of the whole space: by the inner model if it is pooled, else by a plain process."""
        own = view.inside if self.settings.pooled else replace(view, warm={})
        return self.whole.belief(own, rng)

    @property
    def model(self) -> ModelBased | None:
        """The model of the whole space if it is pooled; else each level has a model of its own."""
        return self.whole if self.settings.pooled and isinstance(self.whole, ModelBased) else None

    def with_model(self, model: ModelBased) -> Strategy:
        return replace(self, whole=model) if self.settings.pooled else self

    def _visit(self, visits: Mapping[str, Visit], point: Vector) -> Visit:
        return visits.get(self.levels.outer.keys(point[None])[0], Visit(point))

    def _is_hopeless(self, visit: Visit) -> bool:
        return not visit.told and len(visit.failed) >= GIVEN_UP

    def _next(self, view: View, visits: dict[str, Visit], rng: Rng) -> Suggestion:
        """The first trial at the next outer point, or at an earlier one if there is no other."""
        outside, inside = view.effort.parts(1, 1)
        above = replace(self.levels.outer_view(view, visits), effort=outside)
        view = replace(view, effort=inside)
        try:
            found = self.outer.propose(above, rng)
        except SpaceExhausted:
            return self._again(view, visits, rng)
        warm = {**view.warm, "outer": found.warm or above.warm}
        point = self.levels.outer.encode([found.params]).X[0]
        visit = self._visit(visits, point)
        suggestion = self._held(replace(view, warm=warm), visit, rng)
        if suggestion is None:  # the outer point has no untried configurations
            return self._again(view, visits, rng)
        why: Why = {**suggestion.why, "outer": found.why}
        return replace(suggestion, why=why)

    def _again(self, view: View, visits: dict[str, Visit], rng: Rng) -> Suggestion:
        """A trial at the best of the outer points that have something left to try."""
        known = sorted(visits.values(), key=lambda v: min(view.y[v.told]) if v.told else np.inf)
        for visit in known:
            found = self._held(view, visit, rng)
            if found is not None:
                return found
        raise SpaceExhausted(
            f"all {self.levels.whole.size} configurations were tried; stop here, or widen the space"
        )

    def _held(self, view: View, visit: Visit, rng: Rng) -> Suggestion | None:
        """The first of several trials at an outer point."""
        size = self.levels.inner_at(visit.point).size
        trials = self.settings.trials if size is None else min(self.settings.trials, size)
        held: _HeldPoint = {
            "point": visit.point.tolist(),
            "since": view.number,
            "from": visit.started,
            "until": visit.started + trials,
        }
        return self._inside(view, visit, held, rng)

    def _inside(self, view: View, visit: Visit, held: _HeldPoint, rng: Rng) -> Suggestion | None:
        """The inner search's suggestion at an outer point; None if nothing is left there."""
        within = self.levels.inner_view(view, visit, held["since"])
        inner = self.levels.inner_at(visit.point)
        if not view.is_noisy and len(within.known) == inner.size:
            return None
        found = None
        if visit.started - held["from"] < self.settings.carried:
            found = self._carried(view, within, inner)
        if found is None:
            found = self._proposed(view, visit, within, inner, rng)
        warm = {
            "outer": view.warm.get("outer", {}),
            "inner": found.warm or within.warm,
            "held": dict(held),
        }
        why: Why = {**found.why, "held": held["since"]}
        return Suggestion(self.levels.joined(visit.point, found.params), why, warm)

    def _carried(self, view: View, within: View, inner: Space) -> Suggestion | None:
        """The best inner configuration of other outer points that is new here."""
        best = self.levels.best_inner(view)
        if inner.constraints:
            best = best[inner.admits(best)]
        for row, key in enumerate(self.levels.inner.keys(best)):
            if key not in within.known:
                params = self.levels.inner.decode(best[row : row + 1])[0]
                return Suggestion(params, {"source": "model", "carried": True})
        return None

    def _proposed(
        self, view: View, visit: Visit, within: View, inner: Space, rng: Rng
    ) -> Suggestion:
        model, own = self.model, self.inner
        if inner.constraints:
            own = strategy_for(self.settings.inner, inner)
        if model is None:
            return own.propose(within, rng)
        if len(view.y) >= model.initial.size_for(inner):
            taken = inner.keys(within.pending) if view.is_noisy else within.known
            part = self.levels.at(visit.point)
            search = FreeColumnMaximiser(model.maximiser_for(view), part, frozenset(taken))
            model = replace(model, maximiser=search, initial=LatinHypercube(size=1))
            found = model.propose(replace(view, warm=within.warm), rng)
            if found.why["source"] == "model":
                return replace(found, params=self.levels.rest(found.params))
        # The model of the whole space has too few observations yet, or had numerical trouble.
        return replace(own.propose(replace(within, warm={}), rng), warm={})
