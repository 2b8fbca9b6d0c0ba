"""Helpers of the checks of stores."""

from __future__ import annotations

__all__ = ["Check", "Open", "created", "refused", "with_storage", "with_study"]

from collections.abc import Callable
from contextlib import closing
from functools import wraps

from outcrop.errors import StudyError
from outcrop.study.storage import Storage

Open = Callable[[], Storage]  # another handle on the store that is checked
Check = Callable[[Open], None]


def with_storage(contract: list[Check]) -> Callable[[Callable[[Storage], None]], Check]:
    """Add a check of one open store to `contract`."""

    def added(check: Callable[[Storage], None]) -> Check:
        @wraps(check)
        def opened(connect: Open) -> None:
            with closing(connect()) as storage:
                check(storage)

        contract.append(opened)
        return opened

    return added


def with_study(contract: list[Check]) -> Callable[[Callable[[Storage, int], None]], Check]:
    """Add a check of one open store, with a study whose log is `["first"]`, to `contract`."""

    def added(check: Callable[[Storage, int], None]) -> Check:
        @wraps(check)
        def on_study(storage: Storage) -> None:
            check(storage, created(storage))

        return with_storage(contract)(on_study)

    return added


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
