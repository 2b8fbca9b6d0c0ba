"""When to start nothing more, and the functions that a user passes."""

from __future__ import annotations

__all__ = ["DONE", "EXHAUSTED", "INTERRUPTED", "TIMEOUT", "Limits", "functions"]

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from outcrop.errors import MethodError
from outcrop.study.running.protocol import Rule, Runnable

# Why a run ended; rules have words of their own.
DONE, TIMEOUT = "n_trials done", "timeout"
EXHAUSTED, INTERRUPTED = "space exhausted", "interrupted"


def functions(given: Any, name: str) -> list[Callable[..., Any]]:
    """A list of functions, from one or several."""
    try:
        listed = [given] if callable(given) else list(given)
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
    """When to start nothing more."""

    n_trials: int | None
    timeout: float | None
    rules: list[Rule]

    def __post_init__(self) -> None:
        if self.n_trials is None and self.timeout is None and not self.rules:
            raise MethodError(
                "a run needs an end: pass n_trials=, timeout= in seconds, or a rule in stop="
            )

    def reached(self, study: Runnable, asked: int, elapsed: float) -> str:
        """The reason to stop, or nothing."""
        for rule in self.rules:
            reason = rule(study)
            if reason:
                return str(reason)
        if self.timeout is not None and elapsed >= self.timeout:
            return TIMEOUT
        return DONE if asked == self.n_trials else ""
