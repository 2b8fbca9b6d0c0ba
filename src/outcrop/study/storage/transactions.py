"""Transactions on a shared database: one connection per process, with retries while it is locked.

SQLite loses its locks if a forked child inherits its parent's connections. The connection is
therefore closed before a fork and opened again when it is needed.
"""

from __future__ import annotations

__all__ = ["Transactions"]

import os
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from outcrop.errors import StorageError
from outcrop.study.storage.database import Database
from outcrop.study.storage.schema import add_durations, create_tables, tables_exist

FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05  # seconds
CHANCE = random.SystemRandom()  # forked processes must not pause for the same times

T = TypeVar("T")


class Transactions:
    """Runs functions in transactions on `database`; the first write creates the tables.

    Operations that fail because the database is locked are tried again for `patience` seconds.
    """

    def __init__(self, database: Database, patience: float) -> None:
        self.database = database
        self.patience = patience
        self._engine = database.engine()
        self._writer = self._engine.execution_options(writes=True)
        self._turn = threading.RLock()
        self._closed = self._has_tables = self._is_writable = False
        weakref.finalize(self, self._engine.dispose)
        _living.add(self)

    def tables_exist(self) -> bool:
        """Whether the tables exist."""
        return self._has_tables or self._patiently(self._find_tables)

    def read(self, work: Callable[[Connection], T], nothing: T) -> T:
        """The result of `work`; `nothing` if the tables do not exist."""

        def once() -> T:
            if not self._find_tables():
                return nothing
            with self._engine.connect() as connection:
                return work(connection)

        return self._patiently(once)

    def write(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """The result of `work` once its changes are committed; if it raises, nothing is changed.

        Changes that are not `durable` may be lost in a power failure, and are cheaper.
        """

        def once() -> T:
            self._make_tables()
            with self._writer.begin() as connection:
                result = work(connection)
            if durable:
                self._flush()
            self.database.check()  # files that were lost meanwhile hold what was committed
            return result

        return self._patiently(once)

    def remains(self, work: Callable[[Connection], T]) -> T:
        """The result of `work` on a database whose files were lost while they are open."""
        with self._turn:
            try:
                with self._engine.connect() as connection:
                    return work(connection)
            except DBAPIError as error:
                raise self.database.explained(error) from error

    def close(self) -> None:
        """Close the connection for good."""
        with self._turn:
            self._closed = True
            self._engine.dispose()

    def pause(self) -> None:
        """Wait for the running transaction, close the connection, and block further ones."""
        self._turn.acquire()
        if self.database.reconnects:
            self._engine.dispose()

    def resume(self) -> None:
        """Allow transactions again after `pause`."""
        self._turn.release()

    def _patiently(self, once: Callable[[], T]) -> T:
        end = time.monotonic() + self.patience
        for pause in _pauses():
            try:
                with self._turn:
                    self._check()
                    return once()
            except IntegrityError:
                raise
            except DBAPIError as error:
                if not self.database.is_busy(error):
                    with self._turn:
                        self._check()  # lost files are the better explanation
                    raise self.database.explained(error) from error
                if time.monotonic() + pause > end:
                    holder = self.database.lock_holder()
                    raise StorageError(
                        f"{self.database.shown}: the database is locked by another program, tried "
                        f"for {self.patience:g} s; nothing was written; end that program"
                        f"{f', {holder},' if holder else ''} or increase patience"
                    ) from error
            time.sleep(pause)
        raise AssertionError("pauses never end")

    def _flush(self) -> None:
        try:
            self.database.flush()
        except OSError as error:
            raise StorageError(
                f"{self.database.shown}: what was written could not be flushed to the disk "
                f"({error.strerror}); it may be lost if the power fails"
            ) from error

    def _check(self) -> None:
        if self._closed:
            raise StorageError(f"{self.database.shown} was closed; open the storage again")
        self.database.check()

    def _find_tables(self) -> bool:
        if not self._has_tables and self.database.may_hold_tables():
            with self._engine.connect() as connection:
                self._has_tables = self._look(connection)
        return self._has_tables

    def _make_tables(self) -> None:
        if self._is_writable:
            return
        self._find_tables()  # refuses a database of another program before anything is changed
        with self._engine.connect() as connection:
            self.database.before_writing(connection)
        with self._writer.begin() as connection:
            self.database.before_creating(connection)
            if self._look(connection):
                add_durations(connection)
            else:
                create_tables(connection)
        self._has_tables = self._is_writable = True

    def _look(self, connection: Connection) -> bool:
        return tables_exist(connection, self.database.shown, self.database.alone)


def _pauses() -> Iterator[float]:
    """Pauses in seconds that double up to a limit, with random variation."""
    pause = FIRST_PAUSE
    while True:
        yield pause * CHANCE.uniform(0.5, 1.5)
        pause = min(2 * pause, LONGEST_PAUSE)


_living: weakref.WeakSet[Transactions] = weakref.WeakSet()
_paused: list[Transactions] = []
_forking = threading.Lock()


def _before_fork() -> None:
    _forking.acquire()
    for each in list(_living):
        each.pause()
        _paused.append(each)


def _after_fork() -> None:
    while _paused:
        _paused.pop().resume()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
