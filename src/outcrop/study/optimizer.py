"""Ask and tell in memory, without a store."""

from __future__ import annotations

__all__ = ["Optimizer"]

import time
from collections.abc import Callable, Sequence
from typing import overload

from outcrop.effort import Effort
from outcrop.errors import SpaceExhausted
from outcrop.space import Space
from outcrop.strategies.registry import MethodLike
from outcrop.study import argument_checks, commands
from outcrop.study.created_event import created_of
from outcrop.study.state import State, apply, fold, follow
from outcrop.study.study_strategies import Strategies
from outcrop.study.study_writer import Happened, StudyWriter
from outcrop.study.trial import Trial


class Optimizer(StudyWriter):
    """Proposes configurations and learns from the values that are told.

    >>> from outcrop.space import Float, Space
    >>> optimizer = Optimizer(Space({"x": Float(-1, 1)}), method="random", seed=0)
    >>> for _ in range(3):
    ...     trial = optimizer.ask()
    ...     _ = optimizer.tell(trial, trial.params["x"] ** 2)
    >>> len(optimizer.trials), optimizer.best_value == min(t.value for t in optimizer.trials)
    (3, True)

    `method` is a name, a `Method`, or any object with the methods of a `Strategy`. `noise` is None
    (estimate it), False, True, or the standard deviation of a value. The same seed and the same
    order of calls give the same trials. If the space declares input noise, `robust` searches for
    the best average over that noise instead of the best point. An `Optimizer` must not be used by
    several threads at once; a `Study` may be.

    `ask_seconds` is the processor time for one suggestion; None is no limit. Once it is over, the
    rest of sampling hyperparameters and of maximising the acquisition is left out, and `explain`
    says so. Such a suggestion depends on the speed of the machine; its replay does not.
    """

    def __init__(
        self,
        space: Space,
        *,
        method: MethodLike = "auto",
        direction: str = "minimize",
        seed: int | None = None,
        noise: bool | float | None = None,
        robust: bool = False,
        ask_seconds: float | None = argument_checks.ASK_SECONDS,
    ) -> None:
        self._ask_seconds = argument_checks.checked_ask_seconds(ask_seconds)
        created = created_of(space, method, direction, seed, noise, robust)
        self._strategies = Strategies(method)
        self._strategies.for_space(space)
        self._state = fold([created])

    @overload
    def ask(self, *, remaining: int | None = None) -> Trial: ...

    @overload
    def ask(self, n: int, *, remaining: int | None = None) -> list[Trial]: ...

    def ask(self, n: int | None = None, *, remaining: int | None = None) -> Trial | list[Trial]:
        """The next trial, or a list of `n`; each suggestion takes the ones before it into account.

        The list is shorter if the space runs out; `SpaceExhausted` if no configuration is left.
        `remaining` is the number of trials that will still be asked for, these ones included, if it
        is known; strategies are told.
        """
        count = 1 if n is None else argument_checks.checked_count(n, "n")
        left = argument_checks.checked_remaining(remaining, count)
        state, first = self._state, self._state.next_number
        strategy = self._strategies.for_space(state.space)
        for i in range(count):
            try:
                own = None if left is None else left - i
                effort = Effort.within(self._ask_seconds)
                event = commands.asked(state, strategy, time.time(), effort, own)
                state = apply(state, event)
            except SpaceExhausted:
                if state is self._state:
                    raise
                break
        self._state = state
        trials = [state.record(number).trial for number in range(first, state.next_number)]
        return trials[0] if n is None else trials

    def __repr__(self) -> str:
        return f"Optimizer({self._summary()})"

    def _current(self) -> State:
        return self._state

    def _commit(
        self, command: Callable[[State], Sequence[Happened]]
    ) -> tuple[State, Sequence[Happened]]:
        events = command(self._state)
        self._state = follow(self._state, events)
        return self._state, events
