"""Processes that carry a mark in their environment, found by `/proc`, so on Linux only."""

from __future__ import annotations

__all__ = ["MARK", "end", "left_after", "marked"]

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

MARK = "OUTCROP_ATTACK"  # the variable; children inherit it


def marked(mark: str) -> dict[int, str]:
    """Ids and commands of the processes with this mark that have not ended."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile, or belongs to somebody else
            if wanted not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            if _state(folder) in "ZX":
                continue
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
            found[int(folder.name)] = command.decode(errors="replace").strip()
    return found


def left_after(mark: str, seconds: float) -> dict[int, str]:
    """The marked processes that have not ended within some seconds."""
    deadline = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def end(pids: dict[int, str]) -> None:
    """End processes by their ids."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _state(folder: Path) -> str:
    return (folder / "stat").read_text().rpartition(")")[2].split()[0]
