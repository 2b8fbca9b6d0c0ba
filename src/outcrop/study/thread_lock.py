"""Locks between the threads of a process that a forked child finds free.

A child has one thread, a copy of the one that forked. What another thread held would never be
released there, so that every lock is made anew in the child. What these locks guard is assigned in
one step and is therefore never half changed.
"""

from __future__ import annotations

__all__ = ["ThreadLock"]

import os
import sys
import threading
import weakref
from functools import cached_property


class ThreadLock:
    """A lock for threads of one process, which the thread that holds it may take again."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _living.add(self)

    def acquire(self) -> None:
        self._lock.acquire()

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()

    def _renew(self) -> None:
        self._lock = threading.RLock()


def _renew_cached_properties() -> None:
    """Before Python 3.12, `cached_property` has a lock, which a thread holds while it computes."""
    for name, module in list(sys.modules.items()):
        if name.startswith("outcrop."):
            for each in list(vars(module).values()):
                if isinstance(each, type) and each.__module__ == name:
                    for attribute in vars(each).values():
                        if isinstance(attribute, cached_property):
                            vars(attribute)["lock"] = threading.RLock()


def _after_fork() -> None:
    locks = list(_living)
    for lock in locks:
        lock._renew()
    if locks and sys.version_info < (3, 12):
        _renew_cached_properties()


_living: weakref.WeakSet[ThreadLock] = weakref.WeakSet()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
