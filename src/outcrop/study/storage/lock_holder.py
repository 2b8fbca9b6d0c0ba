"""The process that keeps an SQLite database locked, as far as the system tells."""

from __future__ import annotations

__all__ = ["lock_holder"]

import os
from contextlib import suppress
from pathlib import Path

# Bytes that a writer locks: of the index of a write-ahead log, and of the database without a log.
WRITE_LOCK = {"-shm": range(120, 121), "": range(0x40000000, 0x40000200)}


def lock_holder(path: str) -> str:
    """A description such as `process 123 (python, suspended)`; empty if it is not known.

    Only Linux tells, and only about processes that this one can see.
    """
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/locks").read_text().splitlines():
            _, kind, _, access, process, place, first, *_ = line.split()
            inode = int(place.rpartition(":")[2])
            if (kind, access) == ("POSIX", "WRITE") and _is_write_lock(path, inode, int(first)):
                return _described(int(process))
    return ""


def _is_write_lock(path: str, inode: int, first: int) -> bool:
    for end, places in WRITE_LOCK.items():
        with suppress(OSError):
            if os.stat(path + end).st_ino == inode and first in places:
                return True
    return False


def _described(process: int) -> str:
    name, _, rest = Path(f"/proc/{process}/stat").read_text().partition("(")[2].rpartition(")")
    if rest.split()[0] in "Tt":
        return f"process {process} ({name}, suspended: continue it with kill -CONT {process})"
    return f"process {process} ({name})"
