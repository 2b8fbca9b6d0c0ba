"""Requests to end the runs of a study that are under way in this process."""

from __future__ import annotations

__all__ = ["StopRequest", "StopRequests"]

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(eq=False)
class StopRequest:
    """Whether a run was asked to end; it takes requests while the block of a `with` lasts."""

    reason: str = ""  # the first one that was given
    is_over: bool = False
    thread: int = field(default_factory=threading.get_ident)  # of the run

    def __enter__(self) -> StopRequest:
        return self

    def __exit__(self, *raised: object) -> None:
        self.is_over = True

    def make(self, reason: str) -> None:
        self.reason = self.reason or reason


class StopRequests:
    """The runs of one study, which may be in several threads."""

    def __init__(self) -> None:
        self._runs: list[StopRequest] = []

    @contextmanager
    def of_run(self) -> Iterator[StopRequest]:
        """The requests of a run that lasts as long as the block."""
        request = StopRequest()
        self._runs.append(request)
        try:
            yield request
        finally:
            self._runs.remove(request)

    def make(self, reason: str) -> bool:
        """Ask the run of this thread to end, or else all; whether one takes requests."""
        runs = list(self._runs)
        own = [run for run in runs if run.thread == threading.get_ident()]
        asked = [run for run in own[-1:] or runs if not run.is_over]
        for run in asked:
            run.make(reason)
        return bool(asked)
