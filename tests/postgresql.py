"""A PostgreSQL server for the tests that need a real one; each gets tables of its own."""

from __future__ import annotations

__all__ = ["SKIPPED", "postgresql", "postgresql_url"]

from itertools import count

import pytest

from benchmarks.postgresql_server import PostgresqlServer, missing_programs

NUMBERS = count()
SKIPPED: list[str] = []  # why, if there is no server; shown at the end of the session


@pytest.fixture(scope="session")
def postgresql():
    """A server for the whole session."""
    if missing := missing_programs():
        SKIPPED[:] = [missing]
        pytest.skip(missing)
    with PostgresqlServer(fsync="off") as server:
        yield server


@pytest.fixture
def postgresql_url(postgresql):
    """The URL of an empty place for tables on the server."""
    schema = f"test_{next(NUMBERS)}"
    postgresql.execute(f"CREATE SCHEMA {schema}")
    return postgresql.url(schema)
