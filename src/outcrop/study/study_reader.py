"""What can be read off a study: its trials, the best of them, and what is believed."""

from __future__ import annotations

__all__ = ["StudyReader"]

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from outcrop.errors import NoBelief
from outcrop.space import Space
from outcrop.strategies import Belief, Strategy
from outcrop.study import argument_checks, data_frames
from outcrop.study.best_trial import HasBest, best_of
from outcrop.study.commands import Purpose, generator
from outcrop.study.explanation import Explanation, explained
from outcrop.study.objective_belief import ObjectiveBelief, Recommendation, recommended
from outcrop.study.state import State
from outcrop.study.trial import Trial


class StudyReader(HasBest):
    """The questions that a state answers; whoever remembers says what the state is."""

    _strategy: Strategy
    _state: State  # the newest that was seen; how it began never changes
    _believed: tuple[State, dict[bool, Belief]] | None = None

    @abstractmethod
    def _current(self) -> State:
        """The state of now."""

    # What it was made with

    @property
    def space(self) -> Space:
        return self._state.space

    @property
    def direction(self) -> str:
        return self._state.created.direction

    @property
    def method(self) -> str | Mapping[str, Any]:
        """The method's name, or what it is made of."""
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
        """Whether the average over the noise of inputs is what is searched for."""
        return self._state.created.robust

    # What is known

    @property
    def trials(self) -> list[Trial]:
        """All trials by number, but for those that were released."""
        return self._current().trials

    @property
    def best_trial(self) -> Trial:
        """The finished trial with the best value observed."""
        state = self._current()
        return best_of(state.trials, state.sign)

    @property
    def belief(self) -> ObjectiveBelief:
        """What is believed of the objective now; `NoBelief` before the first value.

        Of the objective itself, also in a `robust` study: `recommend` tells of its average.
        """
        state = self._current()
        return ObjectiveBelief(state, self._belief(state, robust=False), self._strategy)

    def recommend(self, *, robust: bool | None = None) -> Recommendation:
        """The evaluated configuration that is believed best, and how surely it is.

        With `robust` that is the one with the best average over the noise of inputs, without it the
        one that is best if it is met exactly; left open, it is what the study searches for.
        """
        state = self._current()
        is_robust = argument_checks.checked_robust(
            self.robust if robust is None else robust, self.space
        )
        return recommended(state, self._belief(state, is_robust), is_robust)

    def explain(self, trial: Trial | int | None = None) -> Explanation:
        """Why `trial` was made, by default the newest that was asked for."""
        return explained(self._current(), trial)

    def to_frame(self) -> Any:
        """All trials as a pandas DataFrame."""
        return data_frames.to_frame(self.trials, self.space)

    def _belief(self, state: State, robust: bool) -> Belief:
        """The strategy's belief in the objective or its average, kept until something happens."""
        if not len(state.view.y):
            raise NoBelief("nothing is believed before the first value; tell or add one")
        kept = self._believed  # read once: another thread may put its own there
        if kept is None or kept[0] is not state:
            self._believed = kept = state, {}
        beliefs = kept[1]
        if robust not in beliefs:
            view = replace(state.view, robust=robust)
            beliefs[robust] = self._strategy.belief(view, generator(state, Purpose.BELIEF))
        return beliefs[robust]
