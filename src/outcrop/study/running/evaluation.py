"""One call of the objective, and its outcome as a value that can be sent between processes.

An objective is a function of a dict of parameters, or an object whose method `evaluate` takes the
trial.
"""

from __future__ import annotations

__all__ = ["Outcome", "checked_objective", "error_text", "evaluate", "evaluate_elsewhere"]

import traceback
from dataclasses import dataclass, replace
from numbers import Real

from outcrop.errors import ObjectiveError, OutcropError
from outcrop.study.argument_checks import checked_value
from outcrop.study.running.forked_copies import without_copies
from outcrop.study.running.objective_mistakes import (
    Mistake,
    frames_of_user,
    mistake_of,
    place_of,
    wrong_value_text,
)
from outcrop.study.running.protocol import Objective
from outcrop.study.trial import Trial

KEPT = 10_000  # characters of a traceback, from its end


@dataclass(frozen=True)
class Outcome:
    """A value (NaN and ±inf included), or the reason why there is none."""

    value: float | None = None
    reason: str = ""
    traceback: str = ""  # of the exception, if one was raised
    died: bool = False  # the process of the evaluation ended before the evaluation did
    place: str = ""  # type of the exception, and where the objective raised it
    mistake: Mistake = ""  # whether the program is to blame, not the parameters
    lost: bool = False  # the executor dropped the evaluation, whatever its parameters are

    @classmethod
    def of(cls, error: BaseException) -> Outcome:
        """The outcome of an evaluation that raised; its traceback begins in the user's code."""
        frames = frames_of_user(error)
        lines = traceback.format_exception(type(error), error, frames[0]) if frames else ()
        # The message of one of our errors is complete; others need the name of their type.
        reason = str(error) if isinstance(error, OutcropError) else error_text(error)
        return cls(reason=reason, traceback="".join(lines)[-KEPT:], place=place_of(error))

    def __str__(self) -> str:
        return self.reason if self.value is None else f"value {self.value!r}"


def checked_objective(objective: object) -> None:
    """Refuse with `ObjectiveError` what is neither of the two kinds of objectives."""
    if callable(objective) or callable(getattr(objective, "evaluate", None)):
        return
    raise ObjectiveError(
        f"objective={objective!r}: expected a function of a dict of parameters, "
        "or an object with a method evaluate(trial)"
    )


def evaluate(objective: Objective, trial: Trial) -> Outcome:
    """Call the objective; an `Exception` that it raises is an outcome."""
    try:
        with without_copies():
            if callable(objective):
                returned = objective(trial.params.copy())
            else:
                returned = objective.evaluate(trial)
    except Exception as error:
        return replace(Outcome.of(error), mistake=mistake_of(error))
    return _returned(returned)


def _returned(value: object) -> Outcome:
    """The outcome of an evaluation that returned `value`."""
    try:
        return Outcome(checked_value(value))
    except Exception:  # also of methods of an object of the user
        if isinstance(value, Real) and not isinstance(value, bool):
            return Outcome(reason="a value must fit a float, got a number beyond 1.8e308")
        return Outcome(reason=wrong_value_text(value), mistake="certain")


def evaluate_elsewhere(objective: Objective, trial: Trial, call: str = "") -> Outcome:
    """Call the objective in a worker, where an exit or an interrupt is an outcome too.

    `call` is different in every call, for executors that answer equal calls from a cache.
    """
    try:
        return evaluate(objective, trial)
    except BaseException as error:
        return Outcome.of(error)


def error_text(error: BaseException) -> str:
    """The type of an exception and its message, unless its `__str__` fails."""
    name = type(error).__name__
    try:
        message = str(error)
    except Exception:
        return name
    return f"{name}: {message}" if message else name
