"""What a study believes of its objective, and what it recommends, in the user's sign and units."""

from __future__ import annotations

__all__ = ["ObjectiveBelief", "Recommendation", "Search", "recommended"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import overload

import numpy as np

from outcrop.errors import SpaceExhausted
from outcrop.maximise import Function
from outcrop.space import ActiveParams, Space
from outcrop.strategies.base import Belief, Strategy
from outcrop.strategies.model_based import UnitBelief
from outcrop.strategies.wrapped_model import maximised_next
from outcrop.study.commands import Purpose, generator
from outcrop.study.state import Record, State
from outcrop.study.trial import Trial, best_of
from outcrop.surrogates.noise_evidence import weighed_by_noise
from outcrop.typing import Params, Vector

DRAWS = 1000  # a probability is then known to ± 0.03
BEYOND = 6.0  # standard deviations of both configurations; farther ones are not compared


@dataclass(frozen=True, eq=False)
class ObjectiveBelief:
    """The belief about the objective, without observation noise."""

    state: State
    believed: Belief  # of encoded points, in the sign that makes smaller better
    strategy: Strategy

    def __repr__(self) -> str:
        kind = type(self.believed).__name__
        model = self.believed.mixture if isinstance(self.believed, UnitBelief) else kind
        return f"ObjectiveBelief({model}, given {len(self.state.view.y)} values)"

    @property
    def space(self) -> Space:
        return self.state.space

    @property
    def sign(self) -> float:
        """The factor from the model's values, which are minimised, to the user's."""
        return self.state.sign

    @overload
    def predict(self, params: Params) -> tuple[float, float]: ...

    @overload
    def predict(self, params: Sequence[Params]) -> tuple[Vector, Vector]: ...

    def predict(
        self, params: Params | Sequence[Params]
    ) -> tuple[float, float] | tuple[Vector, Vector]:
        """Mean and standard deviation: two floats for one configuration, two arrays for a list."""
        if isinstance(params, Mapping):
            (mean,), (std,) = self.predict([params])
            return float(mean), float(std)
        means, stds = self.believed.predict(self.space.unconstrained.encode(params).X)
        return self.sign * means, stds

    @cached_property
    def search(self) -> Search | None:
        """The acquisition that the next trial maximises; None if it maximises none.

        That is so while the initial design lasts, for methods without a model, for the repeated and
        perturbed points of `Perturbed` and `Hierarchical`, and for a `Hierarchical` that is not
        `pooled`: it maximises one function of the numbers and another of the rest. With `"cocabo"`
        the categories are drawn by bandits, and only the numbers maximise the acquisition.

        The search uses the random numbers of this belief, so that both have the same
        hyperparameters; those of a trial that is asked for may differ a little.
        """
        rng = generator(self.state, Purpose.BELIEF)
        try:
            suggestion, function = maximised_next(self.strategy, self.state.view, rng)
        except SpaceExhausted:
            return None
        name = suggestion.why.get("acquisition")
        return None if name is None or function is None else Search(self.space, name, function)


@dataclass(frozen=True, eq=False)
class Search:
    """The acquisition that is maximised next; it accounts for running and failed trials."""

    space: Space
    acquisition: str  # the name of its class
    function: Function  # of encoded points

    def __repr__(self) -> str:
        return f"Search({self.acquisition})"

    def score(self, params: Sequence[Params]) -> Vector:
        """The acquisition at each configuration, in its own units."""
        return self.function(self.space.unconstrained.encode(params).X)


@dataclass(frozen=True)
class Recommendation:
    """The evaluated configuration that is believed best, and the best trial at it.

    If it is unknown whether values have noise, mean and standard deviation may differ from those of
    `belief`: models with and without noise are weighed by how well they explain the values. If
    `robust`, they are those of the average over input noise.
    """

    params: ActiveParams
    mean: float
    std: float
    probability: float  # that no other evaluated configuration is better
    trial: Trial
    robust: bool = False

    def _repr_html_(self) -> str:
        from outcrop.study.study_html import recommendation_html  # needed by notebooks alone

        return recommendation_html(self)


def recommended(state: State, belief: Belief, robust: bool = False) -> Recommendation:
    """The evaluated configuration with the best mean of `belief`, or of exact values the best."""
    if isinstance(belief, UnitBelief):
        belief = replace(belief, mixture=weighed_by_noise(belief.mixture))
    groups: dict[str, list[Record]] = {}
    for record in state.in_state("finished"):
        groups.setdefault(record.key, []).append(record)
    X = np.array([records[0].x for records in groups.values()])
    mean, std = belief.predict(X)
    judged = mean
    if state.view.noise_facts.are_exact and not robust:
        values = [best_of((r.trial for r in each), state.sign).value for each in groups.values()]
        judged = state.sign * np.array(values, dtype=float)
    chosen = int(np.argmin(judged))
    with np.errstate(over="ignore", invalid="ignore"):  # sums beyond the largest float
        rivals = mean - BEYOND * std <= mean[chosen] + BEYOND * std[chosen]
    rivals[chosen] = True
    draws = belief.sample(X[rivals], generator(state, Purpose.RECOMMEND), DRAWS)
    records = list(groups.values())[chosen]
    trial = best_of((record.trial for record in records), state.sign)
    return Recommendation(
        params=trial.params,
        mean=float(state.sign * mean[chosen]),
        std=float(std[chosen]),
        probability=float(np.mean(draws[:, rivals[:chosen].sum()] <= draws.min(1))),
        trial=trial,
        robust=robust,
    )
