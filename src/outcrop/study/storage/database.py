"""The database at a URL: one kind for each module."""

from __future__ import annotations

__all__ = ["Database", "database_at"]

from typing import TypeAlias
from urllib.parse import unquote

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from outcrop.errors import StorageError
from outcrop.study.storage.postgresql import Postgresql
from outcrop.study.storage.sqlite import Sqlite
from outcrop.study.storage.url_masking import masked_url

Database: TypeAlias = Sqlite | Postgresql  # the methods are described in `Sqlite`


def database_at(url: str) -> Database:
    """The database at `url`; `StorageError` with a remedy if it is not a supported one."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError, AttributeError):
        raise _not_a_url(url) from None
    shown = unquote(masked_url(url))
    match parsed.drivername:
        case "sqlite" | "sqlite+pysqlite":
            return Sqlite(parsed, shown)
        case "postgresql" | "postgresql+psycopg":
            return Postgresql(parsed, shown)
    raise StorageError(
        f"{shown}: databases of the kind {parsed.drivername!r} are not supported; expected "
        "'sqlite:///study.db' (a file) or 'postgresql://user@host/database'"
    )


def _not_a_url(url: object) -> StorageError:
    if not isinstance(url, str):
        return StorageError(f"expected a URL such as 'sqlite:///study.db', got {url!r}")
    if "://" in url or "@" in url:  # maybe with a password
        return StorageError(
            f"{masked_url(url)!r} is not a URL of a database; expected 'sqlite:///study.db' (a "
            "file) or 'postgresql://user@host/database'"
        )
    shown = masked_url(url)
    name = shown.removeprefix("sqlite:") or "study.db"
    return StorageError(f"storage {shown!r} is not a URL; for a file write 'sqlite:///{name}'")
