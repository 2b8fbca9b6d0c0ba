"""The tables of a database, how they are detected and created."""

from __future__ import annotations

__all__ = ["VERSION", "create_tables", "events", "leases", "studies", "tables_exist"]

from sqlalchemy import (
    Column,
    Connection,
    Double,
    Integer,
    MetaData,
    Table,
    Text,
    insert,
    inspect,
    select,
)

from outcrop.errors import StorageError

VERSION = 1  # of these tables; databases of a newer version are refused

metadata = MetaData()

schema = Table("outcrop_schema", metadata, Column("version", Integer, nullable=False))

studies = Table(
    "outcrop_studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    sqlite_autoincrement=True,  # else the id of the newest study is reused once it is deleted
)

events = Table(
    "outcrop_events",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("record", Text, nullable=False),
)

leases = Table(
    "outcrop_leases",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("key", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("deadline", Double, nullable=False),  # seconds of the database's clock
)


def tables_exist(connection: Connection, shown: str, alone: bool) -> bool:
    """Whether our tables exist; `StorageError` if this release cannot use them.

    With `alone`, a database that has only tables of other programs is refused.
    """
    found = set(inspect(connection).get_table_names())
    ours = set(metadata.tables)
    if not found & ours:
        if alone and found:
            raise StorageError(
                f"{shown} contains no studies but other tables (such as {min(found)!r}); choose "
                "another file"
            )
        return False
    versions = connection.scalars(select(schema.c.version)).all() if schema.name in found else []
    if versions and max(versions) > VERSION:
        raise StorageError(
            f"{shown} was created by a newer release: it has schema version {max(versions)}, and "
            f"this release reads versions up to {VERSION}; upgrade with: pip install --upgrade "
            "outcrop"
        )
    if len(versions) != 1 or not ours <= found:
        raise StorageError(
            f"{shown} is damaged: it has the tables {sorted(found)} with the schema versions "
            f"{versions}; restore a copy of it, or choose another one"
        )
    return True


def create_tables(connection: Connection) -> None:
    """Create the tables and store their version; the caller holds a lock."""
    metadata.create_all(connection, checkfirst=False)
    connection.execute(insert(schema).values(version=VERSION))
