"""Deferral of Ctrl-C and of signals to end, to moments at which no data are half written."""

from __future__ import annotations

__all__ = ["SIGNALS", "Interrupts", "blocked", "unblock"]

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

FORCE = 3  # presses of Ctrl-C after which it is raised at once

# Ctrl-C; the end that systemd, a batch system or `kill` asks for; a terminal that was closed.
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Interrupts:
    """Defers Ctrl-C, SIGTERM and SIGHUP, so that they interrupt no write.

    One is raised as `KeyboardInterrupt` in a block where it is `allowed`, such as the objective, or
    by the next `check`; the third is raised at once. A signal that is ignored or has a handler of
    the user is left alone. With `drain`, the first SIGTERM calls it instead, and counts for nothing
    else.
    """

    def __init__(self, drain: Callable[[], None] | None = None) -> None:
        self.is_draining = False
        self._drain = drain
        self.number: int | None = None  # of the first signal
        self._count = 0
        self._allowed = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():  # only it may set handlers
            for number in SIGNALS:
                is_ctrl_c = number == signal.SIGINT
                default = signal.default_int_handler if is_ctrl_c else signal.SIG_DFL
                if signal.getsignal(number) == default:
                    self._previous[number] = signal.signal(number, self._handle)
        _ACTIVE.append(self)
        return self

    def __exit__(self, *raised: object) -> None:
        if self in _ACTIVE:  # not in a forked child
            _ACTIVE.remove(self)
        self.restore()

    def restore(self) -> None:
        """Set the handlers that were there before."""
        while self._previous:
            signal.signal(*self._previous.popitem())

    @property
    def pressed(self) -> bool:
        return self._count > 0

    def check(self) -> None:
        """Raise a deferred signal."""
        if self._count:
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Raise a signal at once in this block."""
        self._allowed = True
        try:
            self.check()
            yield
        finally:
            self._allowed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM and self._drain is not None and not self.is_draining:
            self.is_draining = True
            self._drain()
            return
        self._count += 1
        if self.number is None:
            self.number = number
        if self._allowed or self._count >= FORCE:
            raise KeyboardInterrupt


_ACTIVE: list[Interrupts] = []  # those that have set handlers
_FORKING = threading.local()  # its `mask` is that of the signals blocked before a fork


def _before_fork() -> None:
    _FORKING.mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS if _ACTIVE else ())


def _after_fork() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _FORKING.mask)


def _after_fork_in_child() -> None:
    while _ACTIVE:
        _ACTIVE.pop().restore()
    _after_fork()


# Processes that an objective forks get their usual handlers back while signals are blocked: a
# handler in Python would lose one that arrives just before a call that waits, such as that of a
# pool's process for its next task.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork,
        after_in_child=_after_fork_in_child,
    )


@contextmanager
def blocked() -> Iterator[None]:
    """Block the signals in processes that the block starts; here they are delayed until its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def unblock() -> None:
    """Receive the signals again."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
