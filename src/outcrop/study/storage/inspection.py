"""Everything that can be read from a database, whatever its condition; nothing is changed."""

from __future__ import annotations

__all__ = ["Inspection", "inspected"]

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import sqlalchemy as sa

from outcrop.errors import StorageError
from outcrop.study.storage.database import database_at
from outcrop.study.storage.schema import events, studies
from outcrop.study.storage.sqlite import Sqlite
from outcrop.study.storage.transactions import Transactions

SHOWN = 5  # problems that SQLite lists
PATIENCE = 10.0  # seconds to wait for a database that is locked

Row: TypeAlias = tuple[Any, ...]

STUDIES = "SELECT id, name FROM outcrop_studies"
EVENTS = "SELECT study, position, record FROM outcrop_events NOT INDEXED ORDER BY rowid"


@dataclass
class Inspection:
    """The logs of all studies by name, as records by position, and what is wrong with the store."""

    shown: str  # the URL without a password
    logs: dict[str, dict[int, str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    checks_pages: bool = True  # whether the database can be asked for damaged pages


def inspected(url: str) -> Inspection:
    """What is in the database at `url`; `StorageError` if there is none."""
    database = database_at(url)
    if isinstance(database, Sqlite):
        return _sqlite(database)
    transactions = Transactions(database, PATIENCE)
    try:
        found = Inspection(database.shown, checks_pages=False)
        columns = (events.c.study, events.c.position, events.c.record)
        names: list[Row] = transactions.read(lambda it: _rows_of(it, *studies.c), [])
        rows: list[Row] = transactions.read(lambda it: _rows_of(it, *columns), [])
        _fill(found, names, rows)
        return found
    finally:
        transactions.close()


def _sqlite(database: Sqlite) -> Inspection:
    path = database.path
    if path is None or not os.path.isfile(path):
        raise StorageError(f"{database.shown}: there is no file {path}")
    found = Inspection(database.shown)
    # Without a log nobody has the file open; opened as usual, SQLite would create a log.
    option = "mode=ro" if os.path.exists(f"{path}-wal") else "mode=ro&immutable=1"
    place = f"{Path(path).as_uri()}?{option}"
    with closing(sqlite3.connect(place, uri=True, timeout=PATIENCE)) as connection:
        try:
            said = connection.execute(f"PRAGMA integrity_check({SHOWN})").fetchall()
            found.problems += [" ".join(str(line).split()) for (line,) in said if line != "ok"]
        except sqlite3.Error as error:
            found.problems.append(str(error))
        connection.execute(
            "PRAGMA writable_schema=ON"
        )  # else a file that was shortened is not read
        names = [*_rows(connection, f"{STUDIES} ORDER BY id", f"{STUDIES} ORDER BY id DESC")]
        _fill(found, names, [*_rows(connection, EVENTS, f"{EVENTS} DESC")])
    return found


def _rows(connection: sqlite3.Connection, *queries: str) -> Iterator[Row]:
    """The rows of the first query, and where it breaks off also those of the next one."""
    for query in queries:
        with suppress(sqlite3.Error):
            yield from connection.execute(query)
            return


def _rows_of(connection: sa.Connection, *columns: sa.Column[Any]) -> list[Row]:
    return [tuple(row) for row in connection.execute(sa.select(*columns))]


def _fill(found: Inspection, names: list[Row], rows: list[Row]) -> None:
    """Sort rows into logs; a row that damage has changed is left out."""
    known = {study: name for study, name in names if (type(study), type(name)) == (int, str)}
    whole = [row for row in rows if tuple(map(type, row)) == (int, int, str)]
    for study in sorted({*known} | {row[0] for row in whole}):
        found.logs[known.get(study, f"study {study}")] = {
            position: record for each, position, record in whole if each == study
        }
