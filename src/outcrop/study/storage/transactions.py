"""Transactions on a shared database: one connection per process, with retries.

SQLite loses its locks if a forked child inherits its parent's connections. Its connection is
therefore closed before a fork and opened again when it is needed. That of a server is left to the
parent, so that a fork waits for no network.
"""

from __future__ import annotations

__all__ = ["Transactions"]

import logging
import os
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from outcrop.errors import StorageError
from outcrop.study.storage.database import Database
from outcrop.study.storage.schema import create_tables, migrate, tables_exist

logger = logging.getLogger(__name__)

# The first and the longest pause in seconds: while the database is locked, while a server is away.
LOCKED, AWAY = (0.001, 0.05), (0.05, 1.0)
CHANCE = random.SystemRandom()  # forked processes must not pause for the same times

UNCHANGED, IN_DOUBT = "nothing was written", "whether the last change was stored is not known"

T = TypeVar("T")


@dataclass
class Outage:
    """A server that cannot be reached."""

    since: float
    said: bool = False  # whether it was logged


class Transactions:
    """Runs functions in transactions on `database`; the first write creates the tables.

    Operations that fail because the database is locked, or because its server is away, are tried
    again for `patience` seconds.
    """

    def __init__(self, database: Database, patience: float) -> None:
        self.database = database
        self.patience = patience
        self._turn = threading.RLock()
        self._closed = self._has_tables = self._is_writable = False
        self._outage: Outage | None = None
        self._make_engine()
        _living.add(self)

    def _make_engine(self) -> None:
        self._engine = self.database.engine()
        self._writer = self._engine.execution_options(writes=True)
        self._fleeting = self._engine.execution_options(writes=True, fleeting=True)
        weakref.finalize(self, self._engine.dispose)

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

        Changes that are not `durable` may be lost in a power failure, and are cheaper; on a server
        each of their statements is a transaction by itself. If the answer to a commit is lost,
        `work` is run again: it must find out by itself whether its changes are there.
        """
        tried = threading.Event()  # to commit

        def once() -> T:
            tried.clear()
            self._make_tables()
            with (self._writer if durable else self._fleeting).begin() as connection:
                result = work(connection)
                tried.set()
            if durable:
                self._flush()
            self.database.check()  # files that were lost meanwhile hold what was committed
            return result

        return self._patiently(once, tried.is_set)

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

    def begin_anew(self) -> None:
        """Leave the connection to the parent of this forked process, whatever its threads do."""
        self.database.disown()
        self._turn = threading.RLock()
        self._make_engine()

    def _patiently(self, once: Callable[[], T], has_tried: Callable[[], bool] = lambda: False) -> T:
        """The result of `once`; `has_tried` says whether the newest attempt came to its commit."""
        end, outcome = time.monotonic() + self.patience, UNCHANGED
        locked, away = _pauses(*LOCKED), _pauses(*AWAY)
        while True:
            try:
                with self._turn:
                    self._check()
                    return self._once(once)
            except IntegrityError:
                raise
            except DBAPIError as error:
                is_away = self.database.is_away(error)
                if not is_away and not self.database.is_busy(error):
                    with self._turn:
                        self._check()  # lost files are the better explanation
                    raise self.database.explained(error) from error
                if is_away and has_tried():
                    outcome = IN_DOUBT
                pause = next(away if is_away else locked)
                if time.monotonic() + pause > end:
                    late = self._still_away if is_away else self._still_locked
                    raise late(error, outcome) from error
            time.sleep(pause)

    def _once(self, once: Callable[[], T]) -> T:
        """One attempt; an outage is logged once a new connection fails, and when it is over."""
        try:
            result = once()
        except DBAPIError as error:
            if self.database.is_away(error):
                self._engine.dispose()
                if self._outage is None:
                    self._outage = Outage(time.monotonic())
                elif not self._outage.said:
                    self._outage.said = True
                    said = self.database.said(error)
                    logger.warning("%s is away, waiting for it: %s", self.database.shown, said)
            raise
        if self._outage is not None and self._outage.said:
            seconds = time.monotonic() - self._outage.since
            logger.warning("%s is back after %.1f s", self.database.shown, seconds)
        self._outage = None
        return result

    def _still_away(self, error: DBAPIError, outcome: str) -> StorageError:
        return StorageError(
            f"{self.database.shown} cannot be reached, tried for {self.patience:g} s: "
            f"{self.database.said(error)}; {outcome}"
        )

    def _still_locked(self, error: DBAPIError, outcome: str) -> StorageError:
        holder = self.database.lock_holder()
        return StorageError(
            f"{self.database.shown}: the database is locked by another program, tried for "
            f"{self.patience:g} s; {outcome}; end that program"
            f"{f', {holder},' if holder else ''} or increase patience"
        )

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
                migrate(connection)
            else:
                create_tables(connection)
        self._has_tables = self._is_writable = True

    def _look(self, connection: Connection) -> bool:
        return tables_exist(connection, self.database.shown, self.database.alone)


def _pauses(first: float, longest: float) -> Iterator[float]:
    """Pauses in seconds that double up to a limit, with random variation."""
    pause = first
    while True:
        yield pause * CHANCE.uniform(0.5, 1.5)
        pause = min(2 * pause, longest)


_living: weakref.WeakSet[Transactions] = weakref.WeakSet()
_paused: list[Transactions] = []
_forking = threading.Lock()


def _before_fork() -> None:
    _forking.acquire()
    for each in list(_living):
        if not each.database.forks_open:
            each.pause()
            _paused.append(each)


def _after_fork() -> None:
    while _paused:
        _paused.pop().resume()
    _forking.release()


def _after_fork_in_child() -> None:
    _after_fork()
    for each in list(_living):
        if each.database.forks_open:
            each.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )
