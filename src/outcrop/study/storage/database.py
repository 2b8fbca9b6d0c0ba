"""Which database a URL means, and what the storage must know of it beyond SQL."""

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
    """One kind of database at one place; all connections are made by the engine it gives."""

    @property
    def shown(self) -> str:
        """The URL without a password, for messages."""

    @property
    def alone(self) -> bool:
        """Whether tables of others mean that it is not ours."""

    @property
    def reconnects(self) -> bool:
        """Whether what is stored outlives a connection."""

    def engine(self) -> Engine:
        """An engine with at most one connection; options `writes`, `durable` say what it is for."""

    def may_hold_tables(self) -> bool:
        """False if there is nothing to look into yet; looking would only create something."""

    def check(self) -> None:
        """`StorageError` if what was opened is not there any more."""

    def before_writing(self, connection: Connection) -> None:
        """What a database that is ours, or empty, needs once, outside of any transaction."""

    def before_creating(self, connection: Connection) -> None:
        """Keep others from making the tables until this transaction ends."""

    def now(self, connection: Connection) -> float:
        """The clock of all deadlines, in seconds."""

    def is_busy(self, error: DBAPIError) -> bool:
        """Whether the same may succeed in a moment."""

    def explained(self, error: DBAPIError) -> StorageError:
        """What went wrong, in words that help."""


def database_at(url: str) -> Database:
    """The database that `url` names; `StorageError` with the remedy if it names none."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError, AttributeError):
        raise _not_a_url(url) from None
    # Options may hold a password too.
    shown = unquote(parsed.set(query={}).render_as_string(hide_password=True))
    match parsed.drivername:
        case "sqlite" | "sqlite+pysqlite":
            return Sqlite(parsed, shown)
        case "postgresql" | "postgresql+psycopg":
            return Postgresql(parsed, shown)
    raise StorageError(
        f"{shown}: there is no storage of the kind {parsed.drivername!r}; expected "
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
