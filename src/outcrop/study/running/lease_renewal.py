"""Renewal of leases: a trial whose lease expires is handed out again."""

from __future__ import annotations

__all__ = ["LEASE", "Heartbeat"]

import logging
import threading
from types import TracebackType

from outcrop.study.running.protocol import Runnable

logger = logging.getLogger(__name__)

LEASE = 60.0  # seconds after a crash until the trial is handed out again


class Heartbeat:
    """A thread that renews the leases of running trials while the block lasts.

    An error is logged, and the renewal is tried again: a lost lease costs one evaluation, not the
    run.
    """

    def __init__(self, study: Runnable, lease: float) -> None:
        self._study = study
        self._lease = lease
        self._numbers: list[int] = []  # a number is there twice if it was handed out here again
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="outcrop-heartbeat", daemon=True)

    def hold(self, number: int) -> None:
        with self._lock:
            self._numbers.append(number)

    def let_go(self, number: int) -> None:
        with self._lock:
            self._numbers.remove(number)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._done.wait(self._lease / 3):
            with self._lock:
                numbers = sorted(set(self._numbers))
            if not numbers:
                continue
            try:
                self._study.renew(numbers, self._lease)
            except Exception as error:
                logger.warning("the leases of trials %s could not be renewed: %s", numbers, error)
