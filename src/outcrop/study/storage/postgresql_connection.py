"""Connections to PostgreSQL that wait for a limited time, whatever happens to the network.

The network may fail without a word: a cable is pulled, a firewall forgets a connection, a server is
suspended. The limits of TCP end what nobody acknowledges. A program in between, such as a proxy,
acknowledges all and may still never answer; therefore the driver also waits for a limited time.
"""

from __future__ import annotations

__all__ = ["DURABLE", "LimitedConnection", "connected"]

import os
import time
from collections.abc import Generator, Mapping
from typing import Any, TypeVar

import psycopg

SILENCE = 15.0  # seconds without a byte from the server after which a connection is given up

# Of libpq; what a URL says takes precedence.
OPTIONS: Mapping[str, Any] = {
    "application_name": "outcrop",
    "connect_timeout": 5,  # seconds
    "keepalives_idle": 10,  # seconds
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}

# Of the session. A process that is suspended within a transaction must not keep others waiting, so
# that the server ends it. A lease may be forgotten in a power failure; `DURABLE` begins what may
# not, whatever the default of the server.
SETTINGS = """
SET lock_timeout = '5s';
SET statement_timeout = '60s';
SET idle_in_transaction_session_timeout = '10s';
SET default_transaction_isolation = 'read committed';
SET synchronous_commit = off;
"""
DURABLE = "BEGIN; SET LOCAL synchronous_commit = on"

T = TypeVar("T")


class LimitedConnection(psycopg.Connection[Any]):  # type: ignore[misc]  # it may be missing
    """A connection that is closed with an error if the server is silent for too long."""

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **options: Any) -> T:
        return super().wait(self._limited(gen), *args, **options)

    def _limited(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        """The same steps; an error if nothing can be read or written for too long."""
        end = time.monotonic() + SILENCE
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready:
                    end = time.monotonic() + SILENCE
                elif time.monotonic() > end:
                    self.close()
                    raise psycopg.OperationalError(f"the server has not answered for {SILENCE:g} s")
                wanted = gen.send(ready)
        except StopIteration as stop:
            return stop.value

    def disown(self) -> None:
        """Leave the connection to the parent of this forked process.

        The server must neither be told that it ends, nor wait for this process once the parent has
        ended. The number of the file stays in use, since closing this object closes it.
        """
        nowhere = os.open(os.devnull, os.O_RDWR)
        try:
            os.dup2(nowhere, self.fileno(), inheritable=False)
        finally:
            os.close(nowhere)


def connected(options: Mapping[str, Any]) -> LimitedConnection:
    """A connection with these options of libpq and psycopg; it begins no transaction by itself."""
    connection = LimitedConnection.connect(**{**OPTIONS, **options}, autocommit=True)
    try:
        connection.execute(SETTINGS)
    except BaseException:
        connection.close()
        raise
    return connection
