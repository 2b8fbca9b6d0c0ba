"""The processes below this one: how they are found, adopted and ended.

On Linux these are all descendants, also those in other sessions and those whose parent has ended.
Elsewhere a process group stands for them, which a program can leave; on Windows, one process.

A number of a process may be negative: it is then that of a group, as for `os.kill`.
"""

from __future__ import annotations

__all__ = ["GRACE", "adopt_orphans", "children", "end", "end_with_parent", "family", "reap"]

import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any

GRACE = 3.0  # seconds from SIGTERM to SIGKILL
PATIENCE = 5.0  # seconds after SIGKILL; what still runs then cannot be ended
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.02  # seconds between two looks at what is left
SET_DEATH_SIGNAL, SET_SUBREAPER = 1, 36  # of Linux, for prctl
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows, both end a process at once


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, on Linux."""
    _prctl(SET_SUBREAPER, 1)


def end_with_parent(parent: int) -> None:
    """Be killed when the parent ends, on Linux; `parent` is the number that it should have."""
    _prctl(SET_DEATH_SIGNAL, KILL)
    if sys.platform == "linux" and os.getppid() != parent:
        os._exit(1)  # it ended before


def children(pid: int) -> list[int]:
    """The children of a process; none where the system has no list of them."""
    found: list[int] = []
    with suppress(OSError):  # the process has ended, or there is no such list
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as listed:
                found += map(int, listed.read().split())
    return found


def family(pids: Iterable[int], spared: Collection[int] = ()) -> list[int]:
    """Those of the processes that run, and their descendants, without the families of `spared`."""
    left, found = [pid for pid in pids if pid not in spared], []
    while left:
        pid = left.pop()
        if _runs(pid):
            found.append(pid)
        left += [child for child in children(pid) if child not in spared] if pid > 0 else []
    return found


def reap(spared: int) -> None:
    """Collect the children that have ended, except for one that somebody else waits for."""
    for pid in children(os.getpid()):
        if pid != spared:
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)


def end(find: Callable[[], Collection[int]], grace: float = GRACE) -> None:
    """End the processes that `find` returns until there are none: SIGTERM first, then SIGKILL.

    Processes that belong to another user cannot be ended.
    """
    began, pause = time.monotonic(), FIRST_PAUSE
    asked: set[int] = set()
    refused: set[int] = set()
    while left := set(find()) - refused:
        passed = time.monotonic() - began
        if passed > grace + PATIENCE:
            return
        for pid in left if passed > grace else left - asked:
            try:
                os.kill(pid, KILL if passed > grace else signal.SIGTERM)
            except PermissionError:
                refused.add(pid)
            except OSError:
                pass  # it has ended
        asked |= left
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _runs(pid: int) -> bool:
    """Whether a process runs; a zombie does not. A group runs if it has members."""
    if pid < 0:
        try:
            os.kill(pid, 0)
        except OSError:  # it is empty, or all are zombies
            return False
        return True
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError, ImportError):  # a library without prctl
            import ctypes

            prctl: Any = ctypes.CDLL(None).prctl
            prctl(option, value, 0, 0, 0)
