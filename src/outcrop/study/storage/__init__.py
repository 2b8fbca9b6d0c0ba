"""Stores of studies: `Memory`, or a database by URL.

Read `base` for the interface, `memory` for the simplest store, `sql` for the durable one. The code
of databases is loaded when one is first opened.
"""

from __future__ import annotations

__all__ = ["LeaseStatus", "Lease", "Memory", "Storage", "missing_file", "open_storage"]

from outcrop.errors import StorageError
from outcrop.study.storage.base import Lease, LeaseStatus, Storage
from outcrop.study.storage.memory import Memory


def open_storage(storage: str | Storage | None) -> Storage:
    """The store itself, the one at a URL, or a new one in memory for None.

    >>> open_storage(None)
    Memory()
    """
    if storage is None:
        return Memory()
    if isinstance(storage, str):
        from outcrop.study.storage.sql import SqlStorage  # a search without a database needs none

        return SqlStorage(storage)
    if not isinstance(storage, Storage):
        raise StorageError(
            f"expected a URL such as 'sqlite:///study.db', a storage or None, got {storage!r}"
        )
    return storage


def missing_file(store: Storage) -> str | None:
    """The URL of a store whose file has not been created yet; None of any other store."""
    asked = getattr(store, "missing_file", None)  # stores of other kinds have no file
    url: str | None = asked() if asked else None
    return url
