"""Places for studies that are measured: an SQLite file, or a PostgreSQL server of their own."""

from __future__ import annotations

__all__ = ["ENGINES", "place"]

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.postgresql_server import PostgresqlServer

ENGINES = ("sqlite", "postgresql")


@contextmanager
def place(engine: str) -> Iterator[tuple[str, PostgresqlServer | None]]:
    """The URL of an empty store, and its server if it has one, until the end of the block."""
    if engine == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/study.db", None
    else:
        with PostgresqlServer() as server:
            yield server.url(), server
