"""The interfaces of a run: the study, the objective, and the options that a user passes."""

from __future__ import annotations

__all__ = [
    "Callback",
    "Evaluates",
    "Executor",
    "Future",
    "Objective",
    "OnError",
    "StopRule",
    "Runnable",
    "Shown",
]

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from outcrop.space import ActiveParams, Space
from outcrop.study.trial import Trial
from outcrop.typing import JsonObject, Params


class Evaluates(Protocol):
    """An objective that gets the whole trial, for those that need its number."""

    def evaluate(self, trial: Trial, /) -> float: ...


Objective: TypeAlias = Callable[[ActiveParams], float] | Evaluates


class Future(Protocol):
    """The part of a future that a run uses; libraries other than `concurrent.futures` have it."""

    def done(self) -> bool: ...

    def result(self) -> Any: ...

    def cancel(self) -> object: ...


class Executor(Protocol):
    """Anything that submits calls as the executors of `concurrent.futures` do."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future: ...


class Runnable(Protocol):
    """What a run needs of a study; one thread asks and tells, another one renews leases."""

    @property
    def direction(self) -> str: ...

    @property
    def space(self) -> Space: ...

    @property
    def trials(self) -> list[Trial]: ...

    def ask(
        self,
        *,
        lease: float | None = None,
        total: int | None = None,
        remaining: int | None = None,
        worker: str | None = None,
    ) -> Trial:
        """The next trial, `SpaceExhausted`, or `TotalReached` if the study has `total` trials."""

    def tell(self, trial: Trial, value: float) -> Trial: ...

    def fail(self, trial: Trial, reason: str = "", *, info: JsonObject | None = None) -> Trial: ...

    def release(self, trial: Trial) -> None: ...

    def enqueue(self, params: Params) -> None: ...

    def renew(self, trials: Sequence[int], lease: float) -> set[int]:
        """Extend leases to `lease` seconds from now; the trials whose leases are still held."""

    def stop(self, reason: str) -> None:
        """Record why a run ended."""


Callback: TypeAlias = Callable[[Any, Trial], object]  # the study, and a trial that has ended
StopRule: TypeAlias = Callable[[Any], str | None]  # why the study should stop, or None
OnError: TypeAlias = Literal["stop", "record"]  # what a mistake in the program does
Shown: TypeAlias = bool | Literal["auto"]  # progress: "auto" is where it can be updated
