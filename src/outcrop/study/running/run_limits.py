"""The limits of a run: number of trials, time, and the user's stopping rules."""

from __future__ import annotations

__all__ = ["DONE", "EXHAUSTED", "INTERRUPTED", "TIMEOUT", "Limits", "functions"]

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from outcrop.errors import MethodError
from outcrop.study.running.protocol import Runnable, StopRule

F = TypeVar("F", bound=Callable[..., object])

# Reasons why a run ended; stopping rules return their own.
DONE, TIMEOUT = "n_trials done", "timeout"
EXHAUSTED, INTERRUPTED = "space exhausted", "interrupted"


def functions(given: Iterable[F] | F, name: str) -> list[F]:
    """A list of functions, from one function or several."""
    try:
        listed: list[F] = [given] if callable(given) else list(given)
    except TypeError:
        raise MethodError(f"{name} must be a list of functions, got {given!r}") from None
    for each in listed:
        if isinstance(each, type):
            raise MethodError(f"{name}: {each.__name__} is a class; write {each.__name__}(…)")
        if not callable(each):
            raise MethodError(f"{name} must hold functions, got {each!r}")
    return listed


@dataclass(frozen=True)
class Limits:
    """When no further trial is started."""

    n_trials: int | None
    timeout: float | None
    rules: list[StopRule]

    def __post_init__(self) -> None:
        if self.n_trials is None and self.timeout is None and not self.rules:
            raise MethodError(
                "a run needs a limit: pass n_trials=, timeout= in seconds, or a rule in stop="
            )

    def reached(self, study: Runnable, asked: int, elapsed: float) -> str:
        """The reason to stop, or an empty text."""
        for rule in self.rules:
            reason = rule(study)
            if reason:
                return str(reason)
        if self.timeout is not None and elapsed >= self.timeout:
            return TIMEOUT
        return DONE if asked == self.n_trials else ""
