"""Studies in a database, through SQLAlchemy; each operation is one transaction."""

from __future__ import annotations

__all__ = ["SqlStorage"]

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from outcrop.errors import StorageError, StudyError
from outcrop.study.storage.base import (
    MAX_NAME,
    Lease,
    LeaseStatus,
    checked_lease_seconds,
    checked_text,
    no_study,
)
from outcrop.study.storage.database import database_at
from outcrop.study.storage.schema import events, has_durations, leases, studies
from outcrop.study.storage.statements import (
    BEGIN_ANEW,
    ID,
    INSERT,
    LEASES,
    LEASES_WITHOUT_DURATIONS,
    LENGTH,
    LOCK,
    READ,
    SET_BACK,
    among,
    extended,
    taking,
)
from outcrop.study.storage.transactions import Transactions

T = TypeVar("T")

CREATION = 5.0  # seconds in which another process creates the tables


class _Refused(Exception):
    """Another owner holds one of the leases that an operation takes; nothing is changed."""


class SqlStorage:
    """Studies in the database at `url`, which other processes may use at the same time.

    If other processes have locked the database, or if a server that was reached before is away,
    operations are tried again for `patience` seconds, by default 60 for a file and 600 for a
    server; then `StorageError` is raised. Nothing is created before the first study.

        storage = SqlStorage("sqlite:///study.db")
        storage = SqlStorage("sqlite:////shared/study.db?mode=ro")
        storage = SqlStorage("postgresql://user@host/database", patience=10.0)
    """

    def __init__(self, url: str, patience: float | None = None) -> None:
        if patience is not None and not patience >= 0:
            raise StorageError(f"patience must be at least 0 seconds, got {patience!r}")
        self._database = database_at(url)
        patience = self._database.patience if patience is None else patience
        self._transactions = Transactions(self._database, patience)
        self._has_durations = False  # whether leases are known to have them
        self._take_one = taking(self._database.insert())
        self._transactions.tables_exist()  # refuses an unreadable database now, not later

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._database.shown!r})"

    def __reduce__(self) -> tuple[type[SqlStorage], tuple[str, float]]:
        """By the URL, with its password: another process opens the same database."""
        return SqlStorage, (self._database.address(), self._transactions.patience)

    def create(self, name: str, record: str) -> int | None:
        checked_text(name, "name of a study", MAX_NAME)
        checked_text(record, "record")
        first = _random_id()

        def work(connection: sa.Connection) -> int:
            made = connection.execute(sa.insert(studies).values(name=name)).inserted_primary_key
            assert made is not None  # every study has an id
            study = int(made[0])
            row = {"study": study, "position": 0, "record": record, "id": first}
            connection.execute(INSERT, row)
            return study

        try:
            return self._transactions.write(work)
        except IntegrityError:  # the name is taken, maybe by a commit whose answer was lost
            made = (
                sa.select(studies.c.id)
                .join(events, (events.c.study == studies.c.id) & (events.c.position == 0))
                .where(studies.c.name == name, events.c.id == first)
            )
            return self._transactions.read(lambda connection: connection.scalar(made), None)

    def find(self, name: str) -> int | None:
        checked_text(name, "name of a study", MAX_NAME)
        query = sa.select(studies.c.id).where(studies.c.name == name)
        return self._transactions.read(lambda connection: connection.scalar(query), None)

    def names(self) -> list[str]:
        query = sa.select(studies.c.name).order_by(studies.c.id)
        self._transactions.tables_exist()  # connects
        if self._database.lacks_log and not self._tables_appear():
            raise self._database.without_log()
        return self._transactions.read(lambda connection: [*connection.scalars(query)], [])

    def missing_file(self) -> str | None:
        """The URL of a file that has not been created yet; None if there may be studies."""
        return None if self._database.may_hold_tables() else self._database.shown

    def delete(self, study: int) -> None:
        def work(connection: sa.Connection) -> None:
            connection.execute(sa.delete(leases).where(leases.c.study == study))
            connection.execute(sa.delete(events).where(events.c.study == study))
            connection.execute(sa.delete(studies).where(studies.c.id == study))

        self._change(study, work)

    def read(self, study: int, since: int = 0) -> list[str]:
        values = {"study": study, "since": since}
        found: list[str | None] = self._transactions.read(
            lambda connection: [*connection.scalars(READ, values)], []
        )
        if not found:
            raise no_study(study)
        return [record for record in found if record is not None]

    def append(
        self,
        study: int,
        position: int,
        records: Sequence[str],
        *,
        take: Sequence[Lease] = (),
        drop: Sequence[str] = (),
    ) -> bool:
        rows = [
            {
                "study": study,
                "position": place,
                "record": checked_text(record, "record"),
                "id": _random_id(),
            }
            for place, record in enumerate(records, position)
        ]

        def work(connection: sa.Connection) -> bool:
            if connection.scalar(LENGTH, {"study": study}) != position:
                # It is there already if it was committed and the answer to that was lost.
                return bool(rows) and connection.scalar(ID, rows[0]) == rows[0]["id"]
            self._take(connection, study, take)
            if drop:
                connection.execute(sa.delete(leases).where(among(study, drop)))
            if rows:
                connection.execute(INSERT, rows)
            return True

        try:
            return self._change(study, work)
        except _Refused:
            return False

    def acquire(self, study: int, lease: Lease) -> bool:
        try:
            self._lease(study, lambda connection: self._take(connection, study, [lease]))
        except _Refused:
            self.leases(study)  # refuses a study that does not exist
            return False
        return True

    def renew(self, study: int, owner: str, keys: Sequence[str], seconds: float) -> set[str]:
        checked_lease_seconds(seconds)
        mine = among(study, keys) & (leases.c.owner == owner)

        def work(connection: sa.Connection) -> set[str]:
            connection.execute(extended(mine, seconds))
            return {*connection.scalars(sa.select(leases.c.key).where(mine))}

        renewed = self._lease(study, work)
        if not renewed:
            self.leases(study)  # refuses a study that does not exist
        return renewed

    def release(self, study: int, owner: str, keys: Sequence[str]) -> None:
        mine = among(study, keys) & (leases.c.owner == owner)
        with suppress(StudyError):
            self._lease(study, lambda it: it.execute(sa.delete(leases).where(mine)))

    def leases(self, study: int) -> dict[str, LeaseStatus]:
        def work(connection: sa.Connection) -> list[tuple[str | None, str, float, float]]:
            self._has_durations = self._has_durations or has_durations(connection)
            query = LEASES if self._has_durations else LEASES_WITHOUT_DURATIONS
            return [
                (row.key, row.owner, (row.deadline or 0.0) - row.now, _or_inf(row.seconds))
                for row in connection.execute(query, {"study": study})
            ]

        found: list[tuple[str | None, str, float, float]] = self._transactions.read(work, [])
        if not found:
            raise no_study(study)
        if any(left > seconds + SET_BACK for _, _, left, seconds in found):
            self._begin_anew(study)
        return {
            key: LeaseStatus(owner, min(left, seconds))
            for key, owner, left, seconds in found
            if key is not None
        }

    def remains(self, study: int) -> list[str]:
        """The records that can still be read after files were lost while they were in use."""
        values = {"study": study, "since": 0}
        found: list[str] = self._transactions.remains(
            lambda connection: [*connection.scalars(READ, values)]
        )
        return found

    def close(self) -> None:
        """Close the connection; the storage cannot be used afterwards."""
        self._transactions.close()

    def _lease(self, study: int, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` on leases, which need not be durable; nobody waits who writes to the log."""
        if not self._transactions.tables_exist():
            raise no_study(study)
        return self._transactions.write(work, durable=False)

    def _change(self, study: int, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` while the study is locked."""

        def locked(connection: sa.Connection) -> T:
            if connection.scalar(LOCK, {"study": study}) is None:
                raise no_study(study)
            return work(connection)

        if not self._transactions.tables_exist():
            raise no_study(study)
        return self._transactions.write(locked)

    def _tables_appear(self) -> bool:
        """Whether the tables exist; a process that creates them begins with an empty database."""
        end = time.monotonic() + CREATION
        while not self._transactions.tables_exist():
            if time.monotonic() > end:
                return False
            time.sleep(CREATION / 100)
        return True

    def _begin_anew(self, study: int) -> None:
        """Let leases end in time that would last too long, since the clock was set back."""

        def work(connection: sa.Connection) -> None:
            connection.execute(BEGIN_ANEW, {"its_study": study})

        with suppress(StorageError):  # of a store that can only be read
            self._lease(study, work)

    def _take(self, connection: sa.Connection, study: int, wanted: Sequence[Lease]) -> None:
        """Take all of `wanted`; `_Refused` if another owner holds one that has not expired."""
        for lease in wanted:
            row = {"key": lease.key, "owner": lease.owner, "seconds": lease.seconds}
            if connection.execute(self._take_one, {"study": study, **row}).rowcount != 1:
                raise _Refused


def _random_id() -> str:
    return os.urandom(16).hex()


def _or_inf(seconds: float | None) -> float:
    """The duration of a lease; it has no bound if an earlier version took it."""
    return math.inf if seconds is None else seconds
