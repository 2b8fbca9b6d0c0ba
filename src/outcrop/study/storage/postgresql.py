"""Studies in a PostgreSQL database, which several machines can use."""

from __future__ import annotations

__all__ = ["Postgresql"]

from sqlalchemy import URL, Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from outcrop.errors import StorageError
from outcrop.study.storage.url_masking import MASK, masked_in

TABLES_LOCK = 0x6F757463  # an arbitrary number that other programs are unlikely to use
AGAIN = frozenset({"40001", "40P01", "55P03"})  # serialisation failure, deadlock, lock timeout


class Postgresql:
    """A database at `url`; rows are locked, and the clock is that of the server."""

    alone = False
    reconnects = True
    lacks_log = False

    def __init__(self, url: URL, shown: str) -> None:
        self.shown = shown
        self._url = url.set(drivername="postgresql+psycopg")

    def address(self) -> str:
        return self._url.render_as_string(hide_password=False)

    def engine(self) -> Engine:
        try:
            return create_engine(self._url, poolclass=StaticPool, hide_parameters=True)
        except ImportError as error:
            raise StorageError(
                f"{self.shown} needs a driver that is not installed ({error.name}); "
                "install it with: pip install 'psycopg[binary]'"
            ) from None

    def may_hold_tables(self) -> bool:
        return True

    def check(self) -> None:
        """Nothing: the next statement fails if the connection is lost."""

    def before_writing(self, connection: Connection) -> None:
        """Nothing."""

    def before_creating(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": TABLES_LOCK})

    def now(self, connection: Connection) -> float:
        return float(connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())")))

    def is_busy(self, error: DBAPIError) -> bool:
        return getattr(error.orig, "sqlstate", None) in AGAIN

    def lock_holder(self) -> str:
        return ""

    def flush(self) -> None:
        """Nothing: a commit is on the disk of the server."""

    def without_log(self) -> StorageError:
        raise AssertionError("a server keeps its logs")

    def explained(self, error: DBAPIError) -> StorageError:
        said = masked_in(" ".join(str(error.orig).split()))
        if self._url.password:
            said = said.replace(str(self._url.password), MASK)
        return StorageError(f"{self.shown}: the database failed or cannot be reached: {said}")
