"""Ask and tell in memory: the fold over events, without a store."""

from __future__ import annotations

__all__ = ["Optimizer"]

import time
from collections.abc import Mapping, Sequence
from typing import Any, overload

from outcrop.errors import NoBelief, SpaceError, SpaceExhausted, TrialError
from outcrop.space import Space
from outcrop.strategies import Belief, strategy_for
from outcrop.study import checks, commands, tables
from outcrop.study.answers import (
    Explanation,
    ObjectiveBelief,
    Recommendation,
    best_of,
    explained,
    recommended,
)
from outcrop.study.commands import Purpose
from outcrop.study.events import Created, Event
from outcrop.study.state import State, apply, fold
from outcrop.study.trial import Trial
from outcrop.typing import Params


class Optimizer:
    """Proposes configurations and learns from what is told of them.

    >>> from outcrop.space import Float, Space
    >>> optimizer = Optimizer(Space({"x": Float(-1, 1)}), method="random", seed=0)
    >>> for _ in range(3):
    ...     trial = optimizer.ask()
    ...     _ = optimizer.tell(trial, trial.params["x"] ** 2)
    >>> len(optimizer.trials), optimizer.best_value == min(t.value for t in optimizer.trials)
    (3, True)

    `method` is a name, a `Method`, or anything that proposes as a `Strategy` does. `noise` is None
    (find out), False, True, or the standard deviation of a value. The same seed and the same order
    of calls give the same trials. It is not made for several threads at once.
    """

    def __init__(
        self,
        space: Space,
        *,
        method: Any = "auto",
        direction: str = "minimize",
        seed: int | None = None,
        noise: bool | float | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise SpaceError(f"expected a Space, got {space!r}; write Space({{'name': Float(…)}})")
        created = Created(
            space,
            direction=checks.checked_direction(direction),
            method=_described(method),
            seed=checks.checked_seed(seed),
            noise=checks.checked_noise(noise),
            at=time.time(),
        )
        self._strategy = strategy_for(method, space)
        self._state = fold([created])
        self._believed: tuple[State, Belief] | None = None

    # What it was made with

    @property
    def space(self) -> Space:
        return self._state.space

    @property
    def direction(self) -> str:
        return self._state.created.direction

    @property
    def seed(self) -> int:
        """The seed that was given, or the one that was drawn."""
        return self._state.created.seed

    @property
    def noise(self) -> bool | float | None:
        return self._state.created.noise

    # Ask and tell

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next trial, or a list of `n`, each made in view of those before it.

        The list is shorter if the space runs out; `SpaceExhausted` if nothing is left at all.
        """
        count = 1 if n is None else checks.checked_count(n, "n")
        state, first = self._state, self._state.next_number
        for _ in range(count):
            try:
                state = apply(state, commands.asked(state, self._strategy, time.time()))
            except SpaceExhausted:
                if state is self._state:
                    raise
                break
        self._state = state
        trials = [state.record(number).trial for number in range(first, state.next_number)]
        return trials[0] if n is None else trials

    def tell(
        self,
        trial: Trial | int,
        value: float,
        *,
        std: float | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> Trial:
        """The finished trial; NaN or ±inf makes it a failed one.

        `std` is the standard deviation of `value`, if it is known; `info` is kept with the trial.
        """
        event = commands.told(self._state, trial, value, std, info, time.time())
        self._record(event)
        return self._state.record(event.number).trial

    def fail(
        self, trial: Trial | int, reason: str = "", *, info: Mapping[str, Any] | None = None
    ) -> Trial:
        """The failed trial; the search learns where evaluations fail."""
        event = commands.failed(self._state, trial, reason, info, time.time())
        self._record(event)
        return self._state.record(event.number).trial

    def release(self, trial: Trial | int) -> None:
        """Give a running trial back: it teaches nothing, and its number is not used again."""
        self._record(commands.released(self._state, trial, time.time()))

    def enqueue(self, params: Params) -> None:
        """Have `ask` return this configuration before any suggestion, even if it is known."""
        self._record(commands.enqueued(self._state, params, time.time()))

    @overload
    def add(self, params: Params, value: float, *, std: float | None = None) -> Trial: ...

    @overload
    def add(
        self,
        params: Sequence[Params],
        value: Sequence[float],
        *,
        std: Sequence[float | None] | None = None,
    ) -> list[Trial]: ...

    @overload
    def add(self, params: Any) -> list[Trial]: ...

    def add(self, params: Any, value: Any = None, *, std: Any = None) -> Trial | list[Trial]:
        """Results obtained elsewhere: one, a list of them, or a data frame; all or none is added.

        A frame has a column per parameter, a column `value` and perhaps `std`; cells of inactive
        parameters are empty. A value that is NaN or ±inf is added as a failure.
        """
        if tables.is_frame(params):
            if value is not None or std is not None:
                raise TrialError(
                    "add(frame, …): values and standard deviations are the columns `value` and "
                    "`std` of the frame, not further arguments"
                )
            results = tables.results_of(params, self.space)
        else:
            results = commands.as_results(params, value, std)
        events = commands.added(self._state, *results, at=time.time())
        self._record(*events)
        trials = [self._state.record(event.number).trial for event in events]
        return trials[0] if isinstance(params, Mapping) else trials

    # What is known

    @property
    def trials(self) -> list[Trial]:
        """All trials by number, but for those that were released."""
        return self._state.trials

    @property
    def best_trial(self) -> Trial:
        """The finished trial with the best value observed."""
        return best_of(self._state.trials, self._state.sign)

    @property
    def best_params(self) -> Params:
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        value = self.best_trial.value
        assert value is not None  # it is finished
        return value

    @property
    def belief(self) -> ObjectiveBelief:
        """What is believed of the objective now; `NoBelief` before the first value."""
        return ObjectiveBelief(self.space, self._belief(), self._state.sign)

    def recommend(self) -> Recommendation:
        """The evaluated configuration that is believed best, and how surely it is."""
        return recommended(self._state, self._belief())

    def explain(self, trial: Trial | int | None = None) -> Explanation:
        """Why `trial` was made, by default the newest that was asked for."""
        return explained(self._state, trial)

    def to_frame(self) -> Any:
        """All trials as a pandas DataFrame."""
        return tables.to_frame(self.trials, self.space)

    def __repr__(self) -> str:
        method = self._state.created.method
        return (
            f"Optimizer({len(self.trials)} trials, method={method!r}, "
            f"direction={self.direction!r}, seed={self.seed})"
        )

    # Helpers

    def _record(self, *events: Event) -> None:
        """Let all of `events` happen, or none."""
        state = self._state
        for event in events:
            state = apply(state, event)
        self._state = state

    def _belief(self) -> Belief:
        """The strategy's belief, kept until something happens."""
        state = self._state
        if not len(state.view.y):
            raise NoBelief("nothing is believed before the first value; tell or add one")
        if self._believed is None or self._believed[0] is not state:
            believed = self._strategy.belief(state.view, commands.generator(state, Purpose.BELIEF))
            self._believed = state, believed
        return self._believed[1]


def _described(method: Any) -> str | Mapping[str, Any]:
    """A method as it is recorded: its name, its own JSON, or the name of its class."""
    if isinstance(method, str):
        return method
    if hasattr(method, "to_json"):
        written: Mapping[str, Any] = method.to_json()
        return written
    return {"custom": type(method).__qualname__}
