"""The database at a URL, and the interface that each kind of database implements beside SQL."""

from __future__ import annotations

__all__ = ["Database", "database_at"]

import re
from typing import Protocol
from urllib.parse import unquote

from sqlalchemy import Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from outcrop.errors import StorageError
from outcrop.study.storage.postgresql import Postgresql
from outcrop.study.storage.sqlite import Sqlite


class Database(Protocol):
    """One database of one kind; all connections are made by the engine it returns."""

    @property
    def shown(self) -> str:
        """The URL without a password, for messages."""

    @property
    def alone(self) -> bool:
        """Whether a database with tables of other programs is refused."""

    @property
    def reconnects(self) -> bool:
        """Whether stored data remain after a connection is closed."""

    def engine(self) -> Engine:
        """An engine with at most one connection; execution options are `writes` and `durable`."""

    def may_hold_tables(self) -> bool:
        """False if the database does not exist yet; connecting would create it."""

    def check(self) -> None:
        """`StorageError` if the database that was opened does not exist any more."""

    def before_writing(self, connection: Connection) -> None:
        """Settings that a database needs once, outside of any transaction."""

    def before_creating(self, connection: Connection) -> None:
        """Prevent other processes from creating the tables until this transaction ends."""

    def now(self, connection: Connection) -> float:
        """The time of the clock for all deadlines, in seconds."""

    def is_busy(self, error: DBAPIError) -> bool:
        """Whether the operation may succeed if it is tried again."""

    def explained(self, error: DBAPIError) -> StorageError:
        """The error with an explanation and a remedy."""


def database_at(url: str) -> Database:
    """The database at `url`; `StorageError` with a remedy if it is not a supported one."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError, AttributeError):
        raise _not_a_url(url) from None
    # Options may contain a password too.
    shown = unquote(parsed.set(query={}).render_as_string(hide_password=True))
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
        shown = re.sub(r":.*@", ":***@", url, flags=re.DOTALL)
        return StorageError(
            f"{shown!r} is not a URL of a database; expected 'sqlite:///study.db' (a file) or "
            "'postgresql://user@host/database'"
        )
    name = url.removeprefix("sqlite:") or "study.db"
    return StorageError(f"storage {url!r} is not a URL; for a file write 'sqlite:///{name}'")
