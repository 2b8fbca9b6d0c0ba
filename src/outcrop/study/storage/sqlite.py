"""Studies in an SQLite file, which the processes of one machine can share."""

from __future__ import annotations

__all__ = ["Sqlite"]

import os
import shutil
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, StaticPool

from outcrop.errors import StorageDamaged, StorageError
from outcrop.study.storage.lock_holder import lock_holder
from outcrop.study.storage.statements import SQLITE_CLOCK
from outcrop.study.storage.watched_files import ENDS, Harm, WatchedConnection, WatchedFiles

BUSY_TIMEOUT = 0.1  # seconds that SQLite itself waits; short, since other threads wait meanwhile
OPTIONS = {"mode": ("ro", "rw", "rwc"), "uri": ("true", "1")}
MARGIN = 2**16  # bytes that the files of a database grow by at once, at most
BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})


class Sqlite:
    """A file, resolved relative to the current directory, or a database in memory.

    Commits go to the write-ahead log, which `flush` writes to the disk.
    """

    alone = True  # whether a database with tables of other programs is refused
    forks_open = False  # whether a connection may be open while this process forks
    patience = 60.0  # seconds, unless another time is given

    def __init__(self, url: URL, shown: str) -> None:
        self.shown = shown  # the URL without a password, for messages
        if url.host or url.username or url.port:
            name = url.host or "study.db"
            raise StorageError(f"{self.shown}: a file needs three slashes, 'sqlite:///{name}'")
        self.path = _path(url)
        self._options = self._checked_options(url)
        self._process = os.getpid()
        self._file: tuple[int, int] | None = None  # device and inode, once it was opened
        self._connection: WatchedConnection | None = None  # the newest one
        self._harm: Harm | None = None  # after which the connection was closed
        self.lacks_log = False  # whether it was written with a log that was not there
        if self.path is not None:
            self._check_place(self.path)

    @property
    def reconnects(self) -> bool:
        """Whether stored data remain after a connection is closed."""
        return self.path is not None

    def address(self) -> str:
        """The URL with its password, which does not depend on the current directory."""
        if self.path is None:
            raise StorageError(
                f"{self.shown} is in memory and cannot be pickled or sent to another process; use "
                "a file, as in 'sqlite:///study.db'"
            )
        place = Path(self.path).as_uri() if "?" in self.path else self.path
        return URL.create("sqlite", database=place, query=self._options).render_as_string()

    def engine(self) -> Engine:
        """An engine with at most one connection; see `Transactions` for its execution options."""
        engine = create_engine(
            "sqlite://",
            creator=self._connect,
            poolclass=NullPool if self._is_sealed() else StaticPool,
            hide_parameters=True,
        )
        event.listen(engine, "begin", _begin)
        return engine

    def may_hold_tables(self) -> bool:
        """False if the database does not exist yet; connecting would create it."""
        return self.path is None or os.path.exists(self.path)

    def check(self) -> None:
        """`StorageError` if the files that were opened are not those at their paths any more."""
        if self.path is None:
            if os.getpid() != self._process:
                raise StorageError(
                    f"{self.shown} is in the memory of process {self._process} and cannot be used "
                    f"in its child {os.getpid()}; use a file, as in 'sqlite:///study.db'"
                )
            return
        harm = self._harm or self._found_harm()
        if harm is not None and harm.stored:
            error = StorageDamaged(
                f"{self.shown}: {harm.what} while it was in use. All that was acknowledged before "
                "is now in the database; open the storage again, and verify it with: outcrop check"
            )
            error.stored = True
            raise error
        if harm is not None or (self._file is not None and self._file != _identity(self.path)):
            what = harm.what if harm else f"{os.path.basename(self.path)} was removed or replaced"
            error = StorageDamaged(
                f"{self.shown}: {what} while it was in use, so that nothing more is acknowledged. "
                f"{_where(harm)}; what is left in the file is shown by: outcrop check"
            )
            error.copy = None if harm is None else harm.copy
            raise error

    def before_writing(self, connection: Connection) -> None:
        """Settings that a database needs once, outside of any transaction."""
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")  # stored in the file

    def before_creating(self, connection: Connection) -> None:
        """Prevent other processes from creating the tables until this transaction ends.

        Nothing to do: a writing transaction excludes others from its first statement.
        """

    def disown(self) -> None:
        """Leave an open connection to the parent of this forked process."""
        raise AssertionError("no connection is open while this process forks")

    def insert(self) -> Any:
        """The INSERT of this kind of database, which has ON CONFLICT."""
        from sqlalchemy.dialects.sqlite import insert

        return insert

    def is_busy(self, error: DBAPIError) -> bool:
        """Whether the operation may succeed if it is tried again."""
        return _code(error) in BUSY

    def is_away(self, error: DBAPIError) -> bool:
        """Whether the database cannot be reached and is worth waiting for."""
        return False

    def said(self, error: DBAPIError) -> str:
        """What the database says, in one line and without a password."""
        return " ".join(str(error.orig).split())

    def explained(self, error: DBAPIError) -> StorageError:
        """The error with an explanation and a remedy."""
        said = str(error.orig)
        match _code(error):
            case sqlite3.SQLITE_READONLY:
                remedy = (
                    "leave 'mode=ro' out of the URL to write"
                    if self._options.get("mode") == "ro"
                    else "make the file and its folder writable, or copy it elsewhere"
                )
                return StorageError(f"{self.shown} is read-only; {remedy}")
            case sqlite3.SQLITE_CANTOPEN if not self.may_hold_tables():
                return StorageError(
                    f"{self.shown}: {self.path} cannot be created; make its folder writable, or "
                    "choose another one"
                )
            case sqlite3.SQLITE_CANTOPEN:
                return StorageError(
                    f"{self.shown} cannot be opened; make {self.path} readable, and its folder "
                    "writable if it is in use"
                )
            case sqlite3.SQLITE_NOTADB:
                return StorageError(
                    f"{self.shown}: {self.path} is not a SQLite database; choose another file"
                )
            case sqlite3.SQLITE_CORRUPT:
                return self._damaged(said)
            case sqlite3.SQLITE_FULL:
                return StorageError(f"{self.shown}: the disk is full; nothing was written")
            case sqlite3.SQLITE_IOERR if self.path is not None:
                return StorageError(f"{self.shown} failed: {said}{_cause(self.path)}")
        return StorageError(f"{self.shown} failed: {said}")

    def lock_holder(self) -> str:
        """The process that keeps the database locked; empty if it is not known."""
        return "" if self.path is None else lock_holder(self.path)

    def flush(self) -> None:
        """Write what was committed to the disk.

        SQLite would do so in its transaction, and others that write would wait for the disk.
        """
        if self._connection is not None and self._connection.files is not None:
            self._connection.files.flush()

    def without_log(self) -> StorageError:
        """The error for a database that has no tables and lacks its log."""
        name = os.path.basename(str(self.path))
        return StorageError(
            f"{self.shown} is empty, and the log that it was written with, {name}-wal, is not "
            "beside it: it seems to be a copy of a database that was in use. Copy that file as "
            f"well, or use study.copy_to; if it is not a copy, delete {name}"
        )

    def _found_harm(self) -> Harm | None:
        """What happened to the files of the connection; it is closed if nothing is lost by that."""
        connection = self._connection
        if connection is None or connection.files is None:
            return None
        if "-wal" not in connection.files.watched and _is_written_ahead(connection):
            self._note_log(connection, connection.files)
        harm = connection.files.harm(connection)
        if harm is not None and harm.stored:
            self._harm, connection.files = harm, None
            connection.close()
        return harm

    def _damaged(self, how: str) -> StorageError:
        return StorageError(
            f"{self.shown} is damaged ({how}); restore a copy of it, save what is sound with: "
            "outcrop check --save FILE.db, or choose another file"
        )

    def _connect(self) -> sqlite3.Connection:
        if self.path is not None and WatchedFiles(self.path).is_abandoned:
            raise StorageError(
                f"{self.shown}: its files were lost while this process had them open; use it in a "
                "new process"
            )
        had_log = self.path is not None and os.path.exists(f"{self.path}-wal")
        connection = sqlite3.connect(
            self._target(),
            uri=True,
            timeout=BUSY_TIMEOUT,
            isolation_level=None,  # transactions are begun by `_begin` only
            check_same_thread=False,  # threads take turns
            factory=WatchedConnection,
        )
        try:
            connection.create_function(SQLITE_CLOCK, 0, lambda: time.time())
            connection.execute("PRAGMA synchronous=FULL")
            if self.path is not None and self._file is None:
                self._check_size(self.path, connection)
                self._file = _identity(self.path)
            if self.path is not None and not self._is_sealed():
                self._watch(self.path, connection, had_log)
        except BaseException:
            connection.close()
            raise
        return connection

    def _watch(self, path: str, connection: WatchedConnection, had_log: bool) -> None:
        """Note the files that the connection opens as it reads for the first time."""
        files = WatchedFiles(path)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        files.note(("",))
        if _is_written_ahead(connection):
            self.lacks_log = self._connection is None and not had_log
            self._note_log(connection, files)
        connection.files, self._connection = files, connection

    def _note_log(self, connection: WatchedConnection, files: WatchedFiles) -> None:
        """Note the log that the connection has opened, which `flush` writes to the disk."""
        files.note()
        if "-wal" in files.watched:
            connection.execute("PRAGMA synchronous=NORMAL")

    def _check_size(self, path: str, connection: sqlite3.Connection) -> None:
        """Refuse a truncated file that SQLite would read as if the rest were zeros.

        The file itself must not be opened here: closing it would release the locks of this process.
        """
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        if os.path.getsize(path) % page:
            raise self._damaged("it ends within a page")

    def _target(self) -> str:
        if self.path is None:
            return ":memory:"
        options = dict(self._options)
        if self._is_sealed() and not os.path.exists(f"{self.path}-wal"):
            options["immutable"] = "1"  # otherwise SQLite would create a file beside it to read
        return f"{Path(self.path).as_uri()}?{urlencode(options)}"

    def _is_sealed(self) -> bool:
        """Whether the folder cannot be written to; each operation then opens its own connection.

        A file may be read without locks only while no other user writes to it, which is checked at
        each connection.
        """
        return self.path is not None and not os.access(os.path.dirname(self.path), os.W_OK)

    def _checked_options(self, url: URL) -> dict[str, str]:
        options = {name: str(value) for name, value in url.query.items()}
        for name, value in options.items():
            if value not in OPTIONS.get(name, ()):
                raise StorageError(
                    f"{self.shown}: the option {name!r} or its value is unknown; expected mode=ro "
                    "(only read) or mode=rw (create nothing)"
                )
        options.pop("uri", None)
        return options

    def _check_place(self, path: str) -> None:
        folder = os.path.dirname(path)
        if os.path.isdir(path):
            raise StorageError(f"{self.shown}: {path} is a folder; name a file, as in {path}/my.db")
        if not os.path.isdir(folder):
            raise StorageError(f"{self.shown}: there is no folder {folder}; create it first")
        if not os.path.exists(path) and self._options.get("mode", "rwc") != "rwc":
            raise StorageError(
                f"{self.shown}: there is no file {path}; leave out the option 'mode' to create it"
            )


def _begin(connection: Connection) -> None:
    """Lock the database before reading what the transaction will change."""
    if connection.get_execution_options().get("writes"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _is_written_ahead(connection: sqlite3.Connection) -> bool:
    return connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def _where(harm: Harm | None) -> str:
    """Where the results are that were acknowledged."""
    if harm is not None and harm.copy is not None:
        return f"What this process could still read is saved in {harm.copy}"
    return "Save what this process knows with study.copy_to('sqlite:///saved.db')"


def _cause(path: str) -> str:
    """Why files could not be written, as far as it can be found out afterwards."""
    with suppress(ImportError, OSError):  # there are no such limits on Windows
        import resource

        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        sizes = {end: os.path.getsize(path + end) for end in ENDS if os.path.exists(path + end)}
        for end, size in sizes.items():
            if limit != resource.RLIM_INFINITY and size + MARGIN > limit:
                return (
                    f": {os.path.basename(path)}{end} has {size} bytes, and this process may write "
                    f"files of {limit} bytes at most; raise that limit (ulimit -f). Nothing was "
                    "written"
                )
    with suppress(OSError):
        if shutil.disk_usage(os.path.dirname(path)).free < MARGIN:
            return ": the disk is full; nothing was written"
    return "; look at the disk, its quota and its connection"


def _path(url: URL) -> str | None:
    """The absolute path; None in memory."""
    name = url.database or ""
    if name.startswith("file:"):
        name = unquote(urlsplit(name).path)
    return None if name in ("", ":memory:") else os.path.abspath(name)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _code(error: DBAPIError) -> int | None:
    """SQLite's primary code."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
