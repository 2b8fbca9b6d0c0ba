"""Names of processes by which another process of the same machine sees whether one has ended."""

from __future__ import annotations

__all__ = ["has_ended", "is_running", "process_name"]

import os
from functools import cache


def process_name() -> str:
    """This process: its machine since it was started, its number, and when it was started.

    Numbers are used again, and containers have numbers of their own; the name tells them apart.
    Where the system does not say these things, the name has a number only.
    """
    return _name(os.getpid())


def has_ended(name: str) -> bool:
    """Whether a process is known to have ended; False if its name is from elsewhere."""
    here, _, rest = name.rpartition("/")
    number, _, start = rest.partition("+")
    if not here or here != _here() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it belongs to another user
        pass
    state, started = _status(int(number))
    return state in ("Z", "X") or (started != "" and started != start)


def is_running(name: str) -> bool:
    """Whether a process is known to run; False if its name is from elsewhere."""
    here = name.rpartition("/")[0]
    return here != "" and here == _here() and not has_ended(name)


@cache  # a forked child has another number
def _name(number: int) -> str:
    here, (_, started) = _here(), _status(number)
    return f"{here}/{number}+{started}" if here and started else str(number)


@cache
def _here() -> str:
    """The machine since it was started, and the name space of process numbers; empty if unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()}/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _status(number: int) -> tuple[str, str]:
    """The state of a process and when it was started; empty texts if that is unknown."""
    try:
        with open(f"/proc/{number}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], fields[19]
    except (OSError, ValueError, IndexError):
        return "", ""
