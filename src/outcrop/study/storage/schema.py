"""The tables of a database, how they are detected and created."""

from __future__ import annotations

__all__ = [
    "VERSION",
    "create_tables",
    "events",
    "has_durations",
    "leases",
    "migrate",
    "studies",
    "tables_exist",
]

from collections.abc import Callable

import sqlalchemy as sa

from outcrop.errors import StorageError

# Of these tables. Databases of a newer version are refused; those of an older one are read as they
# are, and migrated by the first write.
VERSION = 2

metadata = sa.MetaData()

schema = sa.Table("outcrop_schema", metadata, sa.Column("version", sa.Integer, nullable=False))

studies = sa.Table(
    "outcrop_studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sqlite_autoincrement=True,  # else the id of the newest study is reused once it is deleted
)

events = sa.Table(
    "outcrop_events",
    metadata,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("record", sa.Text, nullable=False),
    sa.Column("id", sa.Text),  # a random one; NULL for a record that version 1 wrote
)

event_ids = sa.Index("outcrop_event_ids", events.c.study, events.c.id, unique=True)

leases = sa.Table(
    "outcrop_leases",
    metadata,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("deadline", sa.Double, nullable=False),  # seconds of the database's clock
    sa.Column("seconds", sa.Double),  # its duration; NULL for one that an earlier version took
)


def tables_exist(connection: sa.Connection, shown: str, alone: bool) -> bool:
    """Whether our tables exist; `StorageError` if this release cannot use them.

    With `alone`, a database that has only tables of other programs is refused.
    """
    found = set(sa.inspect(connection).get_table_names())
    ours = set(metadata.tables)
    if not found & ours:
        if alone and found:
            raise StorageError(
                f"{shown} contains no studies but other tables (such as {min(found)!r}); choose "
                "another file"
            )
        return False
    versions = connection.scalars(sa.select(schema.c.version)).all() if schema.name in found else []
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


def create_tables(connection: sa.Connection) -> None:
    """Create the tables and store their version; the caller holds a lock."""
    metadata.create_all(connection, checkfirst=False)
    connection.execute(sa.insert(schema).values(version=VERSION))


def has_durations(connection: sa.Connection) -> bool:
    """Whether leases have durations; the tables of earlier versions lack them."""
    return any(
        each["name"] == "seconds" for each in sa.inspect(connection).get_columns(leases.name)
    )


def migrate(connection: sa.Connection) -> None:
    """Bring the tables up to date; the caller holds a lock."""
    version = connection.scalars(sa.select(schema.c.version)).one()
    for older in range(version, VERSION):
        MIGRATIONS[older](connection)
    if version != VERSION:
        connection.execute(sa.update(schema).values(version=VERSION))


def _from_1(connection: sa.Connection) -> None:
    """Add durations of leases, which some databases of version 1 have, and ids of events."""
    if not has_durations(connection):
        connection.execute(
            sa.text(f"ALTER TABLE {leases.name} ADD COLUMN seconds DOUBLE PRECISION")
        )
    connection.execute(sa.text(f"ALTER TABLE {events.name} ADD COLUMN id TEXT"))
    event_ids.create(connection)


MIGRATIONS: dict[int, Callable[[sa.Connection], None]] = {1: _from_1}
