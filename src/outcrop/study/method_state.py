"""The state that a method leaves with each suggestion, read back from a log that may be damaged."""

from __future__ import annotations

__all__ = ["with_method_state"]

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from outcrop.errors import OutcropError, StorageError
from outcrop.study.state import State

T = TypeVar("T")

UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def with_method_state(state: State, make: Callable[[State], T]) -> T:
    """`make(state)`, or `StorageError` if it only works without the method's stored state.

    A store does not know what a method's state looks like; whether it is damaged is seen when the
    method cannot read it.
    """
    try:
        return make(state)
    except UNREADABLE as error:
        if isinstance(error, OutcropError) or not state.warm or not _works_without(state, make):
            raise
        raise StorageError(
            f"the log of the study is damaged: the state of its method cannot be read ({error!r}); "
            "restore a copy of the storage"
        ) from error


def _works_without(state: State, make: Callable[[State], object]) -> bool:
    try:
        make(replace(state, warm={}))
    except Exception:
        return False
    return True
