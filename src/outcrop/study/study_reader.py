"""The read-only part of a study: its trials, the best of them, beliefs and explanations."""

from __future__ import annotations

__all__ = ["StudyReader"]

from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from typing import Any

from outcrop.errors import NoBelief, OutcropError
from outcrop.space import Space
from outcrop.strategies import Belief
from outcrop.strategies.method_text import worded
from outcrop.strategies.model_based import UnitBelief
from outcrop.strategies.sequence import Sequence
from outcrop.study import argument_checks, data_frames
from outcrop.study.commands import Purpose, generator
from outcrop.study.explanation import Explanation, explained
from outcrop.study.importance import Importance
from outcrop.study.landscape import Landscape, landscape_of, place_of
from outcrop.study.method_state import with_method_state
from outcrop.study.objective_belief import ObjectiveBelief, Recommendation, recommended
from outcrop.study.state import State
from outcrop.study.study_strategies import Strategies
from outcrop.study.trial import HasBest, Trial, best_of
from outcrop.typing import JsonObject


class StudyReader(HasBest):
    """Properties and queries that need only the state, which subclasses provide."""

    _strategies: Strategies
    _state: State  # the newest one known; its first event never changes
    _believed: tuple[State, dict[bool, Belief]] | None = None
    _weighed: tuple[State, dict[str, Importance]] | None = None

    @abstractmethod
    def _current(self) -> State:
        """The current state."""

    # What it was made with

    @property
    def space(self) -> Space:
        """The current space, see `change_space`."""
        return self._newest_known().space

    @property
    def direction(self) -> str:
        return self._state.created.direction

    @property
    def method(self) -> str | JsonObject:
        """The method's name, or its parts as JSON."""
        return self._state.created.method

    @property
    def seed(self) -> int:
        """The seed that was given, or the one that was drawn."""
        return self._state.created.seed

    @property
    def noise(self) -> bool | float | None:
        return self._state.created.noise

    @property
    def robust(self) -> bool:
        """Whether the study searches for the best average over input noise."""
        return self._state.created.robust

    @property
    def has_model(self) -> bool:
        """Whether the method models the objective; `"random"` and `"sobol"` do not."""
        return not isinstance(self._strategies.for_space(self._state.space), Sequence)

    # What is known

    @property
    def trials(self) -> list[Trial]:
        """All trials by number, except for released ones."""
        return self._current().trials

    @property
    def best_trial(self) -> Trial:
        """The finished trial with the best value observed."""
        state = self._current()
        return best_of(state.trials, state.sign)

    @property
    def belief(self) -> ObjectiveBelief:
        """The belief about the objective now; `NoBelief` before the first value.

        Also in a `robust` study, it is about the objective itself; `recommend` uses its average.
        """
        return self._objective_belief(self._current())

    def recommend(self, *, robust: bool | None = None) -> Recommendation:
        """The evaluated configuration that is believed best, and with which probability.

        With `robust`, it is the one with the best average over input noise; without, the one with
        the best value at the exact inputs. By default, `robust` is that of the study.
        """
        state = self._current()
        is_robust = argument_checks.checked_robust(
            self.robust if robust is None else robust, self.space
        )
        return recommended(state, self._belief(state, is_robust), is_robust)

    def importance(self, region: str = "all") -> Importance:
        """Which share of the objective's variation each parameter and each pair causes.

        The shares are Sobol indices of the belief, see `Importance`. They are about the whole
        space, or with `region="best"` about what makes a configuration good: everything worse than
        the best quarter of the space counts as equally bad. `NoBelief` before the first value.

            print(study.importance())
            study.importance("best").ranked[:2]
        """
        from outcrop.study.importance_estimate import importance_of

        state = self._current()
        argument_checks.checked_region(region)
        kept = self._weighed  # read once, since another thread may replace it
        if kept is None or kept[0] is not state:
            self._weighed = kept = state, {}
        if region not in kept[1]:
            kept[1][region] = importance_of(self._objective_belief(state), region)
        return kept[1][region]

    def explain(self, trial: Trial | int | None = None) -> Explanation:
        """Why `trial` was made, by default the newest that was asked for."""
        return explained(self._current(), trial)

    def landscape(self) -> Landscape:
        """How probable each kind of landscape is by the trials so far, and since when.

            print(study.landscape())

        Only of a method that weighs several kinds of surrogate, as `"auto"` does.
        """
        state = self._current()
        found = landscape_of(state.trials)
        believed = self._belief(state, robust=False)
        if not isinstance(believed, UnitBelief):
            return found
        return replace(found, place=place_of(state.space, believed.mixture))

    def to_frame(self) -> Any:
        """All trials as a pandas DataFrame."""
        return data_frames.to_frame(self.trials, self.space)

    def _summary(self) -> str:
        return (
            f"{len(self._newest_known().trials)} trials, method={worded(self.method)}, "
            f"direction={self.direction!r}, seed={self.seed}"
        )

    @property
    def _title(self) -> str:
        """What notebooks show above the tables."""
        return type(self).__name__

    def _repr_html_(self) -> str:
        from outcrop.study.study_html import study_html  # needed by notebooks alone

        method = self.method if isinstance(self.method, str) else worded(self.method)
        return study_html(self._title, self._newest_known(), method)

    def _newest_known(self) -> State:
        """The current state, or the last one that was read if the store is gone."""
        with suppress(OutcropError):
            return self._current()
        return self._state

    def _objective_belief(self, state: State) -> ObjectiveBelief:
        strategy = self._strategies.for_space(state.space)
        return ObjectiveBelief(state, self._belief(state, robust=False), strategy)

    def _belief(self, state: State, robust: bool) -> Belief:
        """The strategy's belief about the objective or its average, cached for each state."""
        if not len(state.view.y):
            raise NoBelief("there is no belief before the first value; tell or add one")
        kept = self._believed  # read once, since another thread may replace it
        if kept is None or kept[0] is not state:
            self._believed = kept = state, {}
        beliefs = kept[1]
        if robust not in beliefs:
            strategy = self._strategies.for_space(state.space)
            beliefs[robust] = with_method_state(
                state,
                lambda known: strategy.belief(
                    replace(known.view, robust=robust), generator(known, Purpose.BELIEF)
                ),
            )
        return beliefs[robust]
