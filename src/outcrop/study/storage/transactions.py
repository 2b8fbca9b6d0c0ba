"""Transactions on a database that others use too: one connection, taken in turns, and patience.

SQLite forgets about its locks in a forked child that still has its parent's connections, so there
are none while a process forks: the connection is closed before and opened again when it is needed.
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
from outcrop.study.storage.schema import create_tables, tables_exist

FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05  # seconds
CHANCE = random.SystemRandom()  # as forked processes must not pause alike

T = TypeVar("T")


class Transactions:
    """Runs work in transactions on `database`; tables are made when first something is written.

    What the database refuses for the moment is tried again for `patience` seconds.
    """

    def __init__(self, database: Database, patience: float) -> None:
        self.database = database
        self.patience = patience
        self._engine = database.engine()
        self._writers = {
            durable: self._engine.execution_options(writes=True, durable=durable)
            for durable in (True, False)
        }
        self._turn = threading.RLock()
        self._closed = self._has_tables = self._is_writable = False
        weakref.finalize(self, self._engine.dispose)
        _living.add(self)

    def tables_exist(self) -> bool:
        """Whether anything was ever written here."""
        return self._has_tables or self._patiently(self._find_tables)

    def read(self, work: Callable[[Connection], T], nothing: T) -> T:
        """What `work` finds; `nothing` where nothing was ever written."""

        def once() -> T:
            if not self._find_tables():
                return nothing
            with self._engine.connect() as connection:
                return work(connection)

        return self._patiently(once)

    def write(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """What `work` returns, once all that it wrote is there to stay; nothing is if it raises.

        What is not `durable` may be gone after a power cut, and costs less.
        """

        def once() -> T:
            self._make_tables()
            with self._writers[durable].begin() as connection:
                return work(connection)

        return self._patiently(once)

    def close(self) -> None:
        """Close the connection for good."""
        with self._turn:
            self._closed = True
            self._engine.dispose()

    def pause(self) -> None:
        """Wait for running work to end, close the connection, and let no other work begin."""
        self._turn.acquire()
        if self.database.reconnects:
            self._engine.dispose()

    def resume(self) -> None:
        """The end of a `pause`."""
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
                    raise self.database.explained(error) from error
                if time.monotonic() + pause > end:
                    raise StorageError(
                        f"{self.database.shown}: the database is locked by another program, tried "
                        f"for {self.patience:g} s; nothing was written; end that program or allow "
                        "more patience"
                    ) from error
            time.sleep(pause)
        raise AssertionError("pauses never end")

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
        self._find_tables()  # before anything is changed that may not be ours
        with self._engine.connect() as connection:
            self.database.before_writing(connection)
        with self._writers[True].begin() as connection:
            self.database.before_creating(connection)
            if not self._look(connection):
                create_tables(connection)
        self._has_tables = self._is_writable = True

    def _look(self, connection: Connection) -> bool:
        return tables_exist(connection, self.database.shown, self.database.alone)


def _pauses() -> Iterator[float]:
    """Seconds that double up to a limit, each times a random number around one."""
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
