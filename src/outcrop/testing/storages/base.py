"""Helpers of the checks of stores."""

from __future__ import annotations

__all__ = ["Check", "Open", "created", "refused"]

from collections.abc import Callable

from outcrop.errors import StudyError
from outcrop.study.storage import Storage

Open = Callable[[], Storage]  # another handle on the store that is checked
Check = Callable[[Open], None]


def created(storage: Storage, name: str = "study") -> int:
    """The id of a new study whose log is `["first"]`."""
    study = storage.create(name, "first")
    assert study is not None
    return study


def refused(operation: Callable[..., object], *args: object, **options: object) -> None:
    """Check that an operation raises `StudyError`."""
    try:
        operation(*args, **options)
    except StudyError:
        return
    raise AssertionError(f"expected StudyError from {operation.__name__}{args}")
