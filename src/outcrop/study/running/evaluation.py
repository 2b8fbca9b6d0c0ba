"""One call of the objective, and what came of it as a value that travels between processes.

An objective is a function of a dict of parameters, or an object whose method `evaluate` takes the
trial, for those who need its number.
"""

from __future__ import annotations

__all__ = ["Outcome", "checked_objective", "described", "evaluate", "evaluate_elsewhere"]

import traceback
from dataclasses import dataclass
from typing import Any

from outcrop.errors import ObjectiveError, OutcropError, TrialError
from outcrop.study.argument_checks import checked_value
from outcrop.study.trial import Trial

KEPT = 10_000  # characters of a traceback, from its end


@dataclass(frozen=True)
class Outcome:
    """A value (NaN and ±inf included), or the reason why there is none."""

    value: float | None = None
    reason: str = ""
    traceback: str = ""  # of what was raised

    @classmethod
    def of(cls, error: BaseException) -> Outcome:
        """The outcome of an evaluation that raised."""
        text = "".join(traceback.format_exception(error))
        speaks = isinstance(error, OutcropError)  # for itself; the name of its type adds nothing
        return cls(reason=str(error) if speaks else described(error), traceback=text[-KEPT:])

    def __str__(self) -> str:
        return self.reason if self.value is None else f"value {self.value!r}"


def checked_objective(objective: Any) -> Any:
    """An objective of one of the two kinds, or `ObjectiveError`."""
    if callable(objective) or callable(getattr(objective, "evaluate", None)):
        return objective
    raise ObjectiveError(
        f"objective={objective!r}: expected a function of a dict of parameters, "
        "or an object with a method evaluate(trial)"
    )


def evaluate(objective: Any, trial: Trial) -> Outcome:
    """Call the objective; whatever `Exception` it raises is an outcome."""
    try:
        if callable(objective):
            returned = objective(dict(trial.params))
        else:
            returned = objective.evaluate(trial)
    except Exception as error:
        return Outcome.of(error)
    try:
        return Outcome(checked_value(returned))
    except TrialError as error:
        return Outcome(reason=str(error))


def evaluate_elsewhere(objective: Any, trial: Trial) -> Outcome:
    """Call the objective where an exit or an interrupt would reach nobody: both are outcomes."""
    try:
        return evaluate(objective, trial)
    except BaseException as error:
        return Outcome.of(error)


def described(error: BaseException) -> str:
    """The type of an exception and its message, which may be beyond writing."""
    name = type(error).__name__
    try:
        message = str(error)
    except Exception:
        return name
    return f"{name}: {message}" if message else name
