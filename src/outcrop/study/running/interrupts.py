"""Deferral of Ctrl-C to moments at which no data are half written."""

from __future__ import annotations

__all__ = ["Interrupts", "blocked", "unblock"]

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

FORCE = 3  # presses of Ctrl-C after which it is raised at once


class Interrupts:
    """Defers Ctrl-C, so that it interrupts neither a write nor a pool that holds a lock.

    It is raised in a block where it is `allowed`, such as the objective, or by the next `check`;
    the third press is raised at once. A signal handler that the user installed is left alone.
    """

    def __init__(self) -> None:
        self._pressed = 0
        self._allowed = False
        self._ours = False

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()  # only it may set handlers
        self._ours = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._ours:
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *raised: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @property
    def pressed(self) -> bool:
        return self._pressed > 0

    def check(self) -> None:
        """Raise a deferred Ctrl-C."""
        if self._pressed:
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Raise Ctrl-C at once in this block."""
        self._allowed = True
        try:
            self.check()
            yield
        finally:
            self._allowed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._pressed += 1
        if self._allowed or self._pressed >= FORCE:
            raise KeyboardInterrupt


@contextmanager
def blocked() -> Iterator[None]:
    """Block Ctrl-C in processes that the block starts; here it is delayed until the end."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        unblock()


def unblock() -> None:
    """Receive Ctrl-C again."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
