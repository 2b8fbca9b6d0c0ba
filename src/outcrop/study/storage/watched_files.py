"""The files of an SQLite database while a connection has them open.

A database consists of the file itself, its write-ahead log (`-wal`) and an index of the log
(`-shm`). SQLite does not notice if one of them is removed, replaced or shortened under it: it goes
on with files that nobody else can open, or with pages that are gone. The names are therefore looked
up before and after each transaction; this costs a few microseconds.
"""

from __future__ import annotations

__all__ = ["ENDS", "Harm", "WatchedConnection", "WatchedFiles"]

import ctypes
import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

ENDS = ("", "-wal", "-shm")
Identity = tuple[int, int]  # device and inode

_abandoned: set[Identity] = set()  # databases with a connection that must never be closed


@dataclass(frozen=True)
class Harm:
    """What happened to a file of a database that is in use."""

    what: str
    stored: bool = False  # whether all that was committed is in the database at its path
    copy: str | None = None  # a copy of what the connection could still read


@dataclass
class WatchedFiles:
    """The files that a connection to the database at `path` has open.

    A file that is shorter than before may be so for a good reason, such as VACUUM in another
    program. Then the whole database is checked.
    """

    path: str
    _seen: dict[str, os.stat_result] = field(default_factory=dict)
    _tried: bool = False  # to copy the database, once files were lost
    _copy: str | None = None
    _flushed: bool = False  # whether the log's entry in the folder was written to the disk

    @property
    def watched(self) -> frozenset[str]:
        """The ends of the names of the files that were noted."""
        return frozenset(self._seen)

    @property
    def is_abandoned(self) -> bool:
        """Whether this process has abandoned a connection to the database at the path."""
        found = _stat(self.path)
        return found is not None and _identity(found) in _abandoned

    def note(self, ends: tuple[str, ...] = ENDS) -> None:
        """Note the files that the connection has opened just now."""
        for end in ends:
            found = _stat(self.path + end)
            if found is not None:
                self._seen.setdefault(end, found)

    def harm(self, connection: sqlite3.Connection) -> Harm | None:
        """What happened to the files since the last look, or None.

        If the log was removed and nobody else has written to the database since, the connection
        writes its content to the database now. Otherwise it is copied to a new file.
        """
        what, stored = self._loss(connection)
        if not what or stored:
            return Harm(what, stored) if what else None
        return Harm(what, copy=self._copied(connection))

    def _loss(self, connection: sqlite3.Connection) -> tuple[str, bool]:
        """What happened, or nothing; and whether nothing is lost by it."""
        for end, before in self._seen.items():
            name, found = os.path.basename(self.path) + end, _stat(self.path + end)
            if found is None:
                return f"{name} was removed", self._is_saved(end, connection)
            if _identity(found) != _identity(before):
                return f"{name} was replaced", False
            if found.st_size < before.st_size and (end == "-shm" or not _is_sound(self.path)):
                sizes = f"{before.st_size} to {found.st_size} bytes"
                return f"{name} was shortened from {sizes}", False
            self._seen[end] = found
        return "", False

    def flush(self) -> None:
        """Write the log to the disk, and the first time also its entry in the folder."""
        if "-wal" in self._seen:
            with suppress(FileNotFoundError):  # the next look tells
                _flush(f"{self.path}-wal", os.O_RDWR)
            if not self._flushed:
                with suppress(OSError):  # folders cannot be opened on Windows
                    _flush(os.path.dirname(self.path), os.O_RDONLY)
                self._flushed = True

    def abandon(self, connection: sqlite3.Connection) -> None:
        """Never close the connection, not even at the end of the process.

        Closing would write its log to the database, or remove the log that is there now, though
        both may be those of other processes by now. A new connection of this process would use the
        index of the old one.
        """
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        if "" in self._seen:
            _abandoned.add(_identity(self._seen[""]))

    def _is_saved(self, end: str, connection: sqlite3.Connection) -> bool:
        """Whether the content of a removed log is in the database now.

        It is not written there if others may have changed the database meanwhile.
        """
        if end == "":
            return False
        for each, before in self._seen.items():
            found = _stat(self.path + each)
            if found is not None and _identity(found) != _identity(before):
                return False
            if each == "" and (found is None or found.st_mtime_ns != before.st_mtime_ns):
                return False
        with suppress(sqlite3.Error):
            busy, frames, written = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            return busy == 0 and frames == written
        return False

    def _copied(self, connection: sqlite3.Connection) -> str | None:
        """A copy of the database as the connection sees it, if it has written anything."""
        if not self._tried and connection.total_changes:
            self._tried = True
            stem = f"{os.path.splitext(self.path)[0]}-lost-{os.getpid()}"
            names = (f"{stem}{f'-{number}' if number else ''}.db" for number in count())
            name = next(each for each in names if not os.path.exists(each))
            with suppress(sqlite3.Error):
                with closing(sqlite3.connect(name)) as copy:
                    connection.backup(copy)
                if _is_sound(name):
                    self._copy = name
                else:
                    os.unlink(name)
        return self._copy


class WatchedConnection(sqlite3.Connection):
    """A connection that is closed only if it still has the files at their paths open."""

    files: WatchedFiles | None = None

    def close(self) -> None:
        files, self.files = self.files, None
        if files is not None:
            harm = files.harm(self)
            if harm is not None and not harm.stored:
                files.abandon(self)
                return
        super().close()


def _is_sound(path: str) -> bool:
    """Whether another connection finds every page of the database where it should be."""
    try:
        place = f"{Path(path).as_uri()}?mode=ro"
        with closing(sqlite3.connect(place, uri=True, timeout=60.0)) as other:
            return other.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
    except sqlite3.Error:
        return False


def _flush(path: str, access: int) -> None:
    """Write a file to the disk; SQLite has no locks on a log that closing it would release."""
    handle = os.open(path, access)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino
