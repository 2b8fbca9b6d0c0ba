"""Ctrl-C at the right moment."""

from __future__ import annotations

__all__ = ["Interrupts", "blocked", "unblock"]

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

FORCE = 3  # times that Ctrl-C is pressed by who wants to leave whatever it costs


class Interrupts:
    """Keeps Ctrl-C for places where nothing is half done: no record, and no lock of a pool.

    It is raised where it is `allowed`, such as in the objective, or by the next `check`; the third
    one wherever it comes. A handler of the user's own is left alone.
    """

    def __init__(self) -> None:
        self._pressed = 0
        self._allowed = False
        self._ours = False

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()  # others may not
        self._ours = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._ours:
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @property
    def pressed(self) -> bool:
        return self._pressed > 0

    def check(self) -> None:
        """Raise a Ctrl-C that was kept."""
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
    """Have processes that are started in the block not hear of Ctrl-C, which is delayed here."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        unblock()


def unblock() -> None:
    """Hear of Ctrl-C again."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
