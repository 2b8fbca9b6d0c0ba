"""CoCaBO: bandits draw the categories, a model finds the numbers that go with them.

One EXP3 for each category draws its level; its reward is the best value so far with that level, on
the scale from the worst to the best of the levels. Given the levels, the numbers maximise the
acquisition [Alvi 2019, algorithm 7]. In batches EXP3.M draws as many levels of each category as
there are points, which are combined in random order, and each point is found as if running trials
had returned their predicted means [ibid., algorithm 8].

The state in `Suggestion.warm` has the model's own state, the bandits' weights, the levels that were
drawn for trials whose outcome is not known yet, and the rest of the batch. A level is rewarded when
its trial has a value. A failure earns no reward, nor does a category that is not active in its
configuration. Results that were added or enqueued count towards the best value.
"""

from __future__ import annotations

__all__ = ["NAMED", "CoCaBO"]

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias, TypedDict

import numpy as np

from outcrop.bandits import EXP3, EXP3M, ArmChoice, LogWeights, best_so_far, rate
from outcrop.bandits.base import LARGEST
from outcrop.errors import MethodError, SpaceExhausted
from outcrop.space import Column, Space
from outcrop.strategies.base import Belief, Strategy, Suggestion, View, Why
from outcrop.strategies.fixed_columns import FixedColumns, FreeColumnMaximiser
from outcrop.strategies.method import Method
from outcrop.strategies.model_based import ModelBased
from outcrop.strategies.registry import MethodLike, Registered, strategy_for
from outcrop.surrogates import CategoryMix
from outcrop.typing import Points, Rng

SHARE = 2 / 3  # of the rounds that the best level is expected to pay, as in the source
DRAWS = 64  # of levels, until they have configurations left to try

Row: TypeAlias = dict[str, list[float]]  # name of a category: level, and its probability


class _DrawnTrial(TypedDict):
    """A trial whose outcome was not known, as it is stored in the state."""

    key: str
    drawn: Row


@dataclass(frozen=True)
class CoCaBO:
    """A method whose categories are drawn by bandits and whose numbers are found by a model.

    >>> import outcrop as oc
    >>> space = oc.Space({"x": oc.Float(0, 1), "kind": oc.Categorical(["a", "b", "c"])})
    >>> optimizer = oc.Optimizer(space, method=CoCaBO(horizon=50, batch=2), seed=0)
    >>> trials = optimizer.ask(8)
    >>> for trial in trials:
    ...     _ = optimizer.tell(trial, trial.params["x"] + (trial.params["kind"] == "b"))
    >>> batch = optimizer.ask(2)
    >>> batch[0].params != batch[1].params
    True

    `method` is whatever `method=` takes, as long as it has a model. `horizon` is the approximate
    number of trials; it sets the bandits' rate γ, unless `gamma` does: with 1 all levels are
    equally likely. If a category has no more levels than a batch has points, its levels stay
    equally likely unless `gamma` is given, since a batch can contain all of them. A space without
    categories is searched by `method` alone.

    `reward` is the best value so far with a level, either "scaled", so that it is 0 for the level
    whose best value is worst and 1 for the one whose best value is best; or "raw", the value in the
    objective's units and minus that of an objective to minimise, as in the published program. How
    much bandits learn from raw values depends on these units.
    """

    method: MethodLike = field(default_factory=lambda: Method(surrogate=CategoryMix()))
    batch: int = 1  # points whose levels are drawn together
    horizon: int = 200
    gamma: float | None = None
    reward: Literal["scaled", "raw"] = "scaled"

    def __post_init__(self) -> None:
        for name in ("batch", "horizon"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise MethodError(
                    f"CoCaBO({name}={value!r}): expected a whole number of at least 1"
                )
        if self.gamma is not None and not 0 <= self.gamma <= 1:
            raise MethodError(
                f"CoCaBO(gamma={self.gamma!r}): expected a number from 0 to 1, or None to set it "
                "by the horizon"
            )
        if self.reward not in ("scaled", "raw"):
            raise MethodError(f'CoCaBO(reward={self.reward!r}): expected "scaled" or "raw"')

    def strategy(self, space: Space) -> Strategy:
        model = strategy_for(self.method, space)
        if not any(column.is_code for column in space.columns):
            return model
        if not isinstance(model, ModelBased):
            raise MethodError(
                f"CoCaBO(method={self.method!r}): expected a method with a model that searches "
                "the space itself, such as 'gp' or Method(surrogate=surrogates.CategoryMix())"
            )
        return _Drawing(space, model, self)

    def bandit(self, levels: int) -> EXP3 | EXP3M:
        """The bandit that draws one of `levels` levels, or several for a batch."""
        gamma = self.gamma
        if gamma is None:
            gamma = rate(levels, SHARE * self.horizon / self.batch, self.batch)
        raw = self.reward == "raw"
        return EXP3M(gamma, self.batch, raw) if 1 < self.batch < levels else EXP3(gamma, raw)


NAMED = (
    Registered(
        "cocabo",
        "bandits draw the categories, a Gaussian process finds the numbers",
        CoCaBO().strategy,
    ),
)


@dataclass(frozen=True, eq=False)
class _Drawing:
    """A model-based strategy whose categories are drawn by bandits."""

    space: Space
    model: ModelBased
    settings: CoCaBO

    def propose(self, view: View, rng: Rng) -> Suggestion:
        within = view.inside
        weights, running = self._learnt(view)
        plan, placed = view.warm.get("plan"), view.warm.get("placed", [])
        if not plan:
            plan, placed = self._drawn(weights, rng), []
        taken = self._taken(view, placed)
        row, part = self._with_room(plan[0], weights, taken, rng)
        found = None if part is None else self._found(part, taken, within, rng)
        if found is None:
            row, found = {}, self.model.propose(within, rng)
        if found.why["source"] == "initial":
            return found
        if found.why["source"] == "model":
            x = self.space.encode([found.params]).X
            plan, placed = plan[1:], [*placed, x[0].tolist()]
            row = {name: drawn for name, drawn in row.items() if name in found.params}
            if row:
                running = [*running, {"key": self.space.keys(x)[0], "drawn": row}]
            odds = {name: probability for name, (_, probability) in row.items()}
            why: Why = {**found.why, "drawn": odds}
            found = replace(found, why=why)
        warm = {
            "inner": found.warm or within.warm,
            "weights": {name: state.to_json() for name, state in weights.items()},
            "running": running,
            "plan": plan,
            "placed": placed,
        }
        return replace(found, warm=warm)

    def belief(self, view: View, rng: Rng) -> Belief:
        return self.model.belief(view.inside, rng)

    def with_model(self, model: ModelBased) -> Strategy:
        return replace(self, model=model)

    @cached_property
    def _categories(self) -> tuple[Column, ...]:
        return tuple(column for column in self.space.columns if column.is_code)

    @cached_property
    def _bandits(self) -> Mapping[str, EXP3 | EXP3M]:
        return {c.name: self.settings.bandit(c.levels or 1) for c in self._categories}

    def _taken(self, view: View, placed: Sequence[Sequence[float]]) -> Points:
        """Points that must not be proposed; a batch has no point twice, even if there is noise."""
        if view.is_noisy:
            return np.vstack([view.pending, *(np.array([x]) for x in placed)])
        return np.vstack([view.X, view.pending, view.failed])

    def _learnt(self, view: View) -> tuple[dict[str, LogWeights], list[_DrawnTrial]]:
        """The bandits' weights updated by all ended trials, and the trials that are running."""
        stored = view.warm.get("weights", {})
        weights = {
            c.name: LogWeights.from_json(stored[c.name])
            if c.name in stored
            else LogWeights.equal(c.levels or 1)
            for c in self._categories
        }
        ended, running = self._ended(view)
        for drawn in ended:
            for column in self._categories:
                if column.name in drawn:
                    arm, probability = int(drawn[column.name][0]), drawn[column.name][1]
                    weights[column.name] = self._bandits[column.name].update(
                        weights[column.name],
                        ArmChoice((arm,), (probability,)),
                        self._reward(view, column, arm),
                    )
        return weights, running

    def _reward(self, view: View, column: Column, level: int) -> float:
        """The reward of a level that has a value."""
        active = self.space.active(view.X)[:, column.index]
        levels = view.X[active, column.index].astype(np.int64)
        gains = -view.y[active]
        if self.settings.reward == "raw":
            return float(np.clip(gains[levels == level].max(), -LARGEST, LARGEST))
        return float(best_so_far(levels, gains, column.levels or 1)[level])

    def _ended(self, view: View) -> tuple[list[Row], list[_DrawnTrial]]:
        """Levels of trials that have a value, and running trials; failed ones are dropped.

        Of several trials of one configuration the oldest are assumed to end first.
        """
        left = Counter(self.space.keys(view.pending))
        told = frozenset(self.space.keys(view.X)) if view.warm.get("running") else frozenset()
        ended: list[Row] = []
        running: list[_DrawnTrial] = []
        for trial in reversed(view.warm.get("running", [])):
            key = trial["key"]
            if left[key]:
                left[key] -= 1
                running.insert(0, trial)
            elif key in told:
                ended.insert(0, trial["drawn"])
        return ended, running

    def _drawn(self, weights: Mapping[str, LogWeights], rng: Rng) -> list[Row]:
        """Levels for every point of a batch."""
        rows: list[Row] = [{} for _ in range(self.settings.batch)]
        for name, bandit in self._bandits.items():
            if isinstance(bandit, EXP3M):
                choices: Sequence[ArmChoice] = bandit.choose(weights[name], rng).each()
            else:
                choices = [bandit.choose(weights[name], rng) for _ in rows]
            for row, choice in zip(rows, choices, strict=True):
                row[name] = [choice.arm, choice.probabilities[0]]
        return rows

    def _with_room(
        self, row: Row, weights: Mapping[str, LogWeights], taken: Points, rng: Rng
    ) -> tuple[Row, FixedColumns | None]:
        """`row`, or levels drawn again, with configurations left to try; None if none was found."""
        for _ in range(DRAWS):
            part = FixedColumns.with_categories(
                self.space, {name: int(arm) for name, (arm, _) in row.items()}
            )
            if part.has_more_than(taken):
                return row, part
            row = self._drawn(weights, rng)[0]
        return {}, None

    def _found(self, part: FixedColumns, taken: Points, view: View, rng: Rng) -> Suggestion | None:
        """The model's suggestion with the categories of `part`; None if none is left to try."""
        search = FreeColumnMaximiser(self.model.maximiser_for(view), part, part.keys(taken))
        try:
            return replace(self.model, maximiser=search).propose(view, rng)
        except SpaceExhausted:
            return None
