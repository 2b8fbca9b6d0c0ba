"""Processes: find a program, run it, and end it together with all processes it started.

A program has its own session and process group, and a guard between it and this process, which ends
it also if this process is killed: read `program_guard`.
"""

from __future__ import annotations

__all__ = ["NotFound", "StopRequested", "TimedOut", "find", "run"]

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO

from outcrop.cli import program_guard
from outcrop.study.running import process_tree

# Seconds between two looks at a program: this share of the time that it runs, within bounds.
PAUSE_SHARE, SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 0.001, 0.05
GUARDED = os.name == "posix"
GUARD_PATIENCE = 2.0  # seconds that a guard itself gets to end


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
    has `grace` seconds from SIGTERM to SIGKILL. What it has started and left running is always
    killed.
    """
    with stdout.open("wb") as out, stderr.open("wb") as err:
        if not GUARDED:
            return _run_alone(command, cwd, env, out, err, timeout, stop)
        guard = subprocess.Popen(
            [sys.executable, "-I", "-S", program_guard.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=err,
            pass_fds=[out.fileno(), err.fileno()],
            start_new_session=True,
        )
        request = {
            "command": list(command),
            "cwd": cwd,
            "env": dict(env),
            "grace": grace,
            "stdout": out.fileno(),
            "stderr": err.fileno(),
            "modules": os.path.dirname(process_tree.__file__),
        }
    assert guard.stdin is not None
    try:
        guard.stdin.write(json.dumps(request).encode() + b"\n")
        guard.stdin.flush()
        _wait(guard, timeout, stop)
    finally:
        report = _ended(guard, grace)
    if "error" in report:
        raise OSError(report["errno"], report["error"])
    return report["code"]


def _ended(guard: subprocess.Popen[bytes], grace: float) -> dict[str, Any]:
    """Let a guard end its program, if that runs, and return its report."""
    report = b""
    try:  # closes its input; if this is interrupted, the guard goes on nevertheless
        report, _ = guard.communicate(timeout=grace + process_tree.PATIENCE + GUARD_PATIENCE)
    except subprocess.TimeoutExpired:
        guard.kill()
        guard.wait()
    try:
        found: dict[str, Any] = json.loads(report)
    except ValueError:
        found = {"code": guard.returncode}  # somebody killed it
    return found


def _wait(process: subprocess.Popen[bytes], timeout: float | None, stop: Event) -> None:
    """Return when the program has ended; raise if it must be ended."""
    began = time.monotonic()
    while process.poll() is None:
        passed = time.monotonic() - began
        left = (math.inf if timeout is None else timeout) - passed
        if left <= 0:
            raise TimedOut
        pause = min(max(PAUSE_SHARE * passed, SHORTEST_PAUSE), LONGEST_PAUSE)
        if stop.wait(min(pause, left)):
            raise StopRequested


def _run_alone(
    command: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    out: BinaryIO,
    err: BinaryIO,
    timeout: float | None,
    stop: Event,
) -> int:
    """Run a program on Windows, where only itself can be ended, and at once."""
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err
    )
    try:
        _wait(process, timeout, stop)
    finally:
        process.kill()
        process.wait()
    return process.returncode
