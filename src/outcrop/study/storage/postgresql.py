"""Studies in a PostgreSQL database, which several machines can use."""

from __future__ import annotations

__all__ = ["Postgresql"]

from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from outcrop.errors import StorageError
from outcrop.study.storage.url_masking import MASK, masked_in

if TYPE_CHECKING:
    from outcrop.study.storage.postgresql_connection import LimitedConnection

TABLES_LOCK = 0x6F757463  # an arbitrary number that other programs are unlikely to use
SECRETS = ("password", "sslpassword", "passfile")  # options of a URL

# Codes of errors after which a transaction may be tried again: serialisation failure, deadlock,
# lock timeout, statement timeout.
AGAIN = frozenset({"40001", "40P01", "55P03", "57014"})
# The server ended the connection: it stops, it crashed, it starts, a transaction or session was
# idle for too long. Codes that begin with 08 are those of a connection that broke.
ENDED = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03"})
STARTING = ("starting up", "shutting down", "not yet accepting connections", "in recovery mode")

# What a server says that refuses a connection, or the network about one that does not exist; a
# driver has no codes for these.
REMEDIES = {
    "password authentication failed": "correct the user or the password",
    "no password supplied": "give a password, as in 'postgresql://user:password@host/database'",
    "does not exist": "create it, or correct the URL",
    "too many clients": "raise max_connections of the server, or use fewer processes",
    "Connection refused": "start the server, or correct the host and the port",
    "timeout expired": "correct the host, or let its firewall pass",
    "resolve host": "correct the host",
    "Name or service not known": "correct the host",
}


class Postgresql:
    """A database at `url`; rows are locked, and the clock is that of the server.

    A server that was reached before and is away now is waited for.
    """

    alone = False
    forks_open = True
    lacks_log = False
    patience = 600.0
    reconnects = True

    def __init__(self, url: URL, shown: str) -> None:
        self.shown = shown
        if "@" in (url.host or ""):
            raise StorageError(f"{shown}: an '@' in a password is written as %40")
        self._url = url.set(drivername="postgresql+psycopg")
        self._was_reached = False
        self._connection: LimitedConnection | None = None  # the newest one

    def address(self) -> str:
        return self._url.render_as_string(hide_password=False)

    def engine(self) -> Engine:
        try:
            engine: Engine = create_engine(
                self._url,
                creator=lambda: self._connect(engine),
                poolclass=StaticPool,
                hide_parameters=True,
                use_native_hstore=False,  # which would be looked for
            )
        except ImportError as error:
            raise StorageError(
                f"{self.shown} needs a driver that is not installed ({error.name}); "
                "install it with: pip install 'outcrop[postgres]'"
            ) from None
        event.listen(engine, "begin", _begin)
        return engine

    def disown(self) -> None:
        """Leave the connection to the parent of this forked process."""
        if self._connection is not None and not self._connection.closed:
            self._connection.disown()

    def may_hold_tables(self) -> bool:
        return True

    def check(self) -> None:
        """Nothing: the next statement fails if the connection is lost."""

    def before_writing(self, connection: Connection) -> None:
        """Nothing."""

    def before_creating(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": TABLES_LOCK})

    def insert(self) -> Any:
        from sqlalchemy.dialects.postgresql import insert

        return insert

    def is_busy(self, error: DBAPIError) -> bool:
        return _code(error) in AGAIN

    def is_away(self, error: DBAPIError) -> bool:
        code = _code(error)
        if code is not None:
            return code in ENDED or code.startswith("08")
        if not isinstance(error.orig, _operational_error()):
            return False
        return self._was_reached or any(words in str(error.orig) for words in STARTING)

    def lock_holder(self) -> str:
        return ""

    def flush(self) -> None:
        """Nothing: a commit is on the disk of the server."""

    def without_log(self) -> StorageError:
        raise AssertionError("a server keeps its logs")

    def explained(self, error: DBAPIError) -> StorageError:
        said = self.said(error)
        match _code(error):
            case None:
                remedies = [remedy for words, remedy in REMEDIES.items() if words in said]
                remedy = f"; {remedies[0]}" if remedies else ""
                return StorageError(f"{self.shown} cannot be reached: {said}{remedy}")
            case "42501":
                return StorageError(
                    f"{self.shown}: the user lacks a right ({said}); the owner of the database can "
                    "grant it: CREATE and USAGE on the schema, or for existing tables SELECT, "
                    "INSERT, UPDATE, DELETE and USAGE on their sequence"
                )
            case "25006":
                return StorageError(
                    f"{self.shown} is read-only ({said}); name the server that takes writes"
                )
            case "53100":
                return StorageError(f"{self.shown}: the disk of the server is full ({said})")
        return StorageError(f"{self.shown} failed: {said}")

    def said(self, error: DBAPIError) -> str:
        """What the server or the driver says, in one line and without the password."""
        said = str(error.orig).partition("Multiple connection attempts failed")[0]
        said = masked_in(" ".join(said.split()))
        for secret in [self._url.password, *map(self._url.query.get, SECRETS)]:
            if secret:
                said = said.replace(str(secret), MASK)
        return said

    def _connect(self, engine: Engine) -> LimitedConnection:
        from outcrop.study.storage.postgresql_connection import connected  # it needs the driver

        _, options = engine.dialect.create_connect_args(self._url)
        self._connection = connected(options)
        self._was_reached = True
        return self._connection


def _begin(connection: Connection) -> None:
    """Begin a transaction that must last; a statement that reads or takes a lease is one itself."""
    from outcrop.study.storage.postgresql_connection import DURABLE

    options = connection.get_execution_options()
    if options.get("writes") and not options.get("fleeting"):
        connection.exec_driver_sql(DURABLE)


def _code(error: DBAPIError) -> str | None:
    """The SQLSTATE; None for an error of the connection that the server did not report."""
    code: str | None = getattr(error.orig, "sqlstate", None)
    return code


def _operational_error() -> type[Exception]:
    import psycopg

    return psycopg.OperationalError
