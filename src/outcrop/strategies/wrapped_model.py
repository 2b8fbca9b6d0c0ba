"""The model-based strategy inside another strategy: to read, replace, or watch as it searches."""

from __future__ import annotations

__all__ = ["WrapsModel", "maximised_next", "model_of", "on_space", "with_model"]

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from outcrop.maximise import Function, Maximises, Maximum
from outcrop.space import Space
from outcrop.strategies.base import Strategy, Suggestion, View
from outcrop.strategies.model_based import ModelBased
from outcrop.typing import Points, Rng


@runtime_checkable
class WrapsModel(Strategy, Protocol):
    """A strategy that asks a model-based one for suggestions.

    Pictures and `belief.search` reach the model through these members; a strategy without them has
    no search to show.
    """

    @property
    def model(self) -> ModelBased | None:
        """The strategy that is asked; None if no single one searches the whole space."""
        ...

    def with_model(self, model: ModelBased, /) -> Strategy:
        """The same strategy, which asks another one."""
        ...

    def on_space(self, function: Function, /) -> Function:
        """A function that the model's maximiser was given, as one of points of the space.

        A wrapper may search other points, such as one-hot codes, or fewer columns.
        """
        ...


def model_of(strategy: Strategy) -> ModelBased | None:
    """The model-based strategy that `strategy` is or asks."""
    if isinstance(strategy, ModelBased):
        return strategy
    return strategy.model if isinstance(strategy, WrapsModel) else None


def with_model(strategy: Strategy, model: ModelBased) -> Strategy:
    """`strategy` with another model-based strategy in the place of `model_of(strategy)`."""
    if isinstance(strategy, WrapsModel):
        return strategy.with_model(model)
    return model if isinstance(strategy, ModelBased) else strategy


def on_space(strategy: Strategy, function: Function) -> Function:
    """A function that the maximiser inside `strategy` was given, on points of the space."""
    return strategy.on_space(function) if isinstance(strategy, WrapsModel) else function


def maximised_next(strategy: Strategy, view: View, rng: Rng) -> tuple[Suggestion, Function | None]:
    """The next suggestion, and what it maximises, on points of the space; None if nothing."""
    model, given = model_of(strategy), list[Function]()
    if model is not None:
        noting = replace(model, maximiser=_NotingMaximiser(model.maximiser, given))
        strategy = with_model(strategy, noting)
    suggestion = strategy.propose(view, rng)
    return suggestion, on_space(strategy, given[-1]) if given else None


@dataclass(frozen=True, eq=False)
class _NotingMaximiser:
    """A maximiser that notes which functions it was given."""

    maximiser: Maximises
    functions: list[Function]

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None, /) -> Points:
        return self.maximiser.candidates(space, rng, incumbents)

    def __call__(self, function: Function, space: Space, rng: Rng, /, **given: Any) -> Maximum:
        self.functions.append(function)
        return self.maximiser(function, space, rng, **given)
