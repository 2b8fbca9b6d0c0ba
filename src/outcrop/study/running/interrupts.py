"""Ctrl-C at the right moment."""

from __future__ import annotations

__all__ = ["Interrupts", "ignored"]

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

FORCE = 3  # times that Ctrl-C is pressed by who wants to leave whatever it costs


class Interrupts:
    """Raises Ctrl-C once, and not where it would part an act from its record.

    What follows is the cleanup, which another Ctrl-C does not disturb; only the third is raised
    wherever it comes. A handler of the user's own is left alone.
    """

    def __init__(self) -> None:
        self._pressed = 0
        self._held = False
        self._raised = False
        self._ours = False

    def __enter__(self) -> Interrupts:
        self._ours = _is_pythons()
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

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep Ctrl-C for the end of a block."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            if self._pressed and not self._raised:
                self._raised = True
                raise KeyboardInterrupt

    def subdue(self) -> None:
        """Raise nothing from here on: the end has begun."""
        self._raised = True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._pressed += 1
        if self._pressed >= FORCE or not (self._held or self._raised):
            self._raised = True
            raise KeyboardInterrupt


@contextmanager
def ignored() -> Iterator[None]:
    """Ignore Ctrl-C, and have processes that are started in the block ignore it for life."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_pythons() -> bool:
    """Whether Ctrl-C is as Python sets it up, and this thread may change that."""
    main = threading.current_thread() is threading.main_thread()
    return main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
