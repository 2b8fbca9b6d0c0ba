"""Processes: find a program, run it, and end it together with all processes it started.

A program has its own session and process group. Its end is detected by polling, so that only the
thread that runs it sends it signals.
"""

from __future__ import annotations

__all__ = ["NotFound", "StopRequested", "TimedOut", "find", "run"]

import math
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event

POLL = 0.05  # longest pause, in seconds, between two polls of a program


class NotFound(Exception):
    """The program does not exist or cannot be run; the message says what to do."""


class TimedOut(Exception):
    """A program exceeded its timeout and was ended."""


class StopRequested(Exception):
    """A program was ended on request."""


def find(name: str, folder: Path, search: str | None) -> str:
    """The absolute path of a program: relative to `folder` if it has a path, else in `search`."""
    if not os.path.dirname(name):
        found = shutil.which(name, path=search)
        if found is not None:
            return os.path.abspath(found)
        here = (folder / name).is_file()
        hint = f'write "./{name}" to run the one beside the spec' if here else "give its path"
        raise NotFound(f'command "{name}" was not found; install it, or {hint}')
    path = folder / name
    if path.is_file() and os.access(path, os.X_OK):
        return str(path)
    if not path.exists():
        why = f"was not found at {path}; correct the path, or build the program first"
    elif path.is_dir():
        why = "is a folder; add the name of the program in it"
    elif path.suffix == ".py":
        why = f'is not executable; write command = ["{{python}}", "{name}", …]'
    else:
        why = f"is not executable; allow it with: chmod +x {path}"
    raise NotFound(f'command "{name}" {why}')


def run(
    command: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    stdout: Path,
    stderr: Path,
    *,
    timeout: float | None,
    grace: float,
    stop: Event,
) -> int:
    """Run a program to its end, write its output to files, and return its exit code.

    Raises `TimedOut` after `timeout` seconds and `StopRequested` once `stop` is set; a program then
    has `grace` seconds from SIGTERM to SIGKILL. The rest of its group is always killed.
    """
    with stdout.open("wb") as out, stderr.open("wb") as err:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    try:
        _wait(process, timeout, stop)
    finally:
        _end(process, grace)
    return process.returncode


def _wait(process: subprocess.Popen[bytes], timeout: float | None, stop: Event) -> None:
    """Return when the program has ended; raise if it must be ended."""
    deadline = time.monotonic() + (math.inf if timeout is None else timeout)
    pause = 0.001
    while process.poll() is None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimedOut
        if stop.wait(min(pause, left)):
            raise StopRequested
        pause = min(2 * pause, POLL)


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """End the program if it runs, and all processes it started."""
    try:
        if process.poll() is None:
            _signal(process, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(grace)
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a program and all processes it started.

    The number of a group stays valid while it has members, even if the program itself has ended.
    """
    with suppress(ProcessLookupError, PermissionError):  # the group is empty, or only zombies
        os.killpg(process.pid, number)
