"""Programs as the operating system sees them: finding one, running it, and ending all it started.

A program leads a session and a process group of its own. It is waited for by polling, so that only
the thread that runs it ever signals it.
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

POLL = 0.05  # seconds between two looks at a program that runs for long


class NotFound(Exception):
    """No such program, or none that can be run; the message says what to do."""


class TimedOut(Exception):
    """A program ran out of time and was ended."""


class StopRequested(Exception):
    """A program was ended on request."""


def find(name: str, folder: Path, search: str | None) -> str:
    """The whole path of a program: from `folder` if it has one, else along `search`, as PATH is."""
    if not os.path.dirname(name):
        found = shutil.which(name, path=search)
        if found is not None:
            return os.path.abspath(found)
        here = (folder / name).is_file()
        hint = f'to run the one beside the spec write "./{name}"' if here else "give its path"
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
    has `grace` seconds from SIGTERM to SIGKILL. What is left of its group is killed in any case.
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
    """Return when the program has ended; raise when it has to be."""
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
    """End the program if it runs, and all that it started."""
    try:
        if process.poll() is None:
            _signal(process, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(grace)
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal a program and all that it started.

    A group keeps its number while anyone is in it, even when the program itself has ended.
    """
    with suppress(ProcessLookupError, PermissionError):  # nobody is there, or only the dead
        os.killpg(process.pid, number)
