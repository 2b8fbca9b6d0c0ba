"""The model-based strategy inside another strategy: to read, replace, or watch as it searches."""

from __future__ import annotations

__all__ = ["WrapsModel", "maximised_next", "model_of", "with_model"]

from dataclasses import replace
from typing import Protocol, runtime_checkable

from outcrop.maximise import Function
from outcrop.strategies.base import Strategy, Suggestion, View
from outcrop.strategies.model_based import ModelBased
from outcrop.typing import Rng


@runtime_checkable
class WrapsModel(Strategy, Protocol):
    """A strategy that asks a model-based one for suggestions.

    Pictures and `belief.search` reach the model through these members; a strategy without them has
    no search to show. If the model has another space than the strategy, such as that of one-hot
    codes, what the model maximises is passed on to its `watch` as a function of the strategy's.
    """

    @property
    def model(self) -> ModelBased | None:
        """The strategy that is asked; None if no single one searches the whole space."""
        ...

    def with_model(self, model: ModelBased, /) -> Strategy:
        """The same strategy, which asks another one."""
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


def maximised_next(strategy: Strategy, view: View, rng: Rng) -> tuple[Suggestion, Function | None]:
    """The next suggestion, and what it maximises, on points of the space; None if nothing."""
    model, maximised = model_of(strategy), list[Function]()
    if model is not None:
        strategy = with_model(strategy, replace(model, watch=maximised.append))
    suggestion = strategy.propose(view, rng)
    return suggestion, maximised[-1] if maximised else None
