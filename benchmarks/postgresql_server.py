"""A PostgreSQL server of one's own, for tests and measurements: on loopback, in a temporary folder.

PostgreSQL refuses to run as root. Started by root, the server runs as the user `postgres`, or
`nobody` where there is no such user.
"""

from __future__ import annotations

__all__ = ["PostgresqlServer", "missing_programs"]

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

PROGRAMS = ("initdb", "postgres")
FOLDERS = "/usr/lib/postgresql"  # where Debian has them, by version
START, STOP = 60.0, 60.0  # seconds at most
USER = "outcrop"
DATABASE = "postgres"
HOST = "127.0.0.1"


def missing_programs() -> str:
    """Why no server can be started, with a remedy; empty if one can be."""
    if _programs() is None:
        return "PostgreSQL is not installed; install it with: apt-get install postgresql"
    if find_spec("psycopg") is None:
        return "the driver is not installed; install it with: pip install 'outcrop[postgres]'"
    return ""


class PostgresqlServer:
    """A server on a free port, from the beginning of a `with` block to its end.

    with PostgresqlServer() as server:
        study = oc.Study(space, "s", server.url())
    """

    def __init__(self, **settings: object) -> None:
        """`settings` are those of `postgresql.conf`."""
        folder = _programs()
        if folder is None:
            raise FileNotFoundError(missing_programs())
        self._programs = folder
        self._settings = {"shared_buffers": "16MB", "max_connections": 100} | settings
        self._account = _account()
        self._process: subprocess.Popen[bytes] | None = None
        self.password = secrets.token_hex(12)
        self.port = 0

    def __enter__(self) -> PostgresqlServer:
        self._folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
        try:
            self._create()
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def process(self) -> int:
        """The process id of the server."""
        assert self._process is not None
        return self._process.pid

    def url(self, schema: str = "public", *, port: int | None = None, **changes: str) -> str:
        """The URL of tables in `schema`; `changes` are another user, password or database."""
        named = {"user": USER, "password": self.password, "database": DATABASE} | changes
        user, password, database = (quote(named[key]) for key in ("user", "password", "database"))
        place = f"{HOST}:{port or self.port}/{database}"
        path = quote(f"-csearch_path={schema}")
        return f"postgresql://{user}:{password}@{place}?options={path}"

    def execute(self, statements: str) -> None:
        """Execute SQL as the superuser."""
        with self._connection() as connection:
            connection.execute(statements.encode())

    def start(self) -> None:
        """Start the server on the port that it had, or on a free one."""
        for _ in range(5):  # another program may take a free port first
            port = self.port or _free_port()
            if self._started(port):
                self.port = port
                return
        raise RuntimeError(f"PostgreSQL does not start: {self._log()}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT is `pg_ctl stop -m fast`, SIGQUIT `-m immediate`."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(STOP)
            self._process = None

    def close(self) -> None:
        """End the server and remove its files."""
        try:
            self.stop(signal.SIGQUIT)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _create(self) -> None:
        if self._account:
            os.chown(self._folder, self._account["user"], self._account["group"])
        word = self._folder / "password"
        word.write_text(self.password)
        word.chmod(0o644)  # in a folder that only its owner can enter
        subprocess.run(
            [
                self._programs / "initdb",
                *("--pgdata", self._folder / "data", "--username", USER, "--pwfile", word),
                *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync"),
            ],
            check=True,
            capture_output=True,
            cwd=self._folder,
            **self._account,
        )
        word.unlink()

    def _started(self, port: int) -> bool:
        settings = self._settings | {
            "port": port,
            "listen_addresses": HOST,
            "unix_socket_directories": self._folder,
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._folder / "data", *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                start_new_session=True,  # Ctrl-C is for this process alone
                **self._account,
            )
        self.port, before = port, self.port
        end = time.monotonic() + START
        while self._process.poll() is None and time.monotonic() < end:
            if self._answers():
                return True
            time.sleep(0.02)
        self.port = before
        self.stop(signal.SIGQUIT)
        return False

    def _answers(self) -> bool:
        import psycopg

        try:
            self._connection().close()
        except psycopg.OperationalError:
            return False
        return True

    def _connection(self) -> Any:
        import psycopg  # an extra

        return psycopg.connect(
            host=HOST,
            port=self.port,
            user=USER,
            password=self.password,
            dbname=DATABASE,
            autocommit=True,
            connect_timeout=10,
        )

    def _log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-2000:]


def _programs() -> Path | None:
    """The folder with the programs of the server: by PATH, or the newest of Debian's."""
    found = shutil.which("postgres")
    if found is not None:
        folders = [Path(found).resolve().parent]
    else:
        versions = Path(FOLDERS).glob("*/bin")
        folders = sorted(versions, key=lambda each: _number(each.parent.name), reverse=True)
    complete = (each for each in folders if all((each / name).exists() for name in PROGRAMS))
    return next(complete, None)


def _number(version: str) -> float:
    return float(version) if version.replace(".", "", 1).isdigit() else 0.0


def _account() -> dict[str, Any]:
    """Options of `subprocess` for the user that the server runs as."""
    if os.geteuid() != 0:
        return {}
    names = {each.pw_name: each for each in pwd.getpwall()}
    account = names.get("postgres") or names["nobody"]
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])
