"""Taking turns: one ask of a study at a time, among all processes that share it."""

from __future__ import annotations

__all__ = ["TURN", "Turns"]

import logging
import random
import threading
import time
from types import TracebackType

from outcrop.errors import OutcropError
from outcrop.study.storage import Lease, Storage

logger = logging.getLogger(__name__)

TURN = "ask"  # the lease's name
DEADLINE = 3.0  # seconds after which the turn of a process that died is over
FIRST_WAIT, LONGEST_WAIT = 0.002, 0.05  # seconds between two tries


class Turns:
    """A lock with a deadline, which its holder renews for as long as it thinks.

    A turn that is lost all the same costs a suggestion at worst: the log decides who was first.
    """

    def __init__(self, store: Storage, study: int, owner: str) -> None:
        self._store = store
        self._study = study
        self._owner = owner
        self._threads = threading.Lock()  # threads of this process share the owner
        self._done = threading.Event()

    def __enter__(self) -> None:
        self._threads.acquire()
        try:
            self._wait()
            self._done = threading.Event()
            threading.Thread(target=self._renew, args=(self._done,), daemon=True).start()
        except BaseException:
            self._threads.release()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        try:
            if kind is not None:  # else it ended with what was appended
                self._store.release(self._study, self._owner, [TURN])
        finally:
            self._threads.release()

    def _wait(self) -> None:
        wait = FIRST_WAIT
        while not self._taken():
            time.sleep(wait * random.uniform(0.5, 1.5))
            wait = min(2 * wait, LONGEST_WAIT)

    def _taken(self) -> bool:
        """Look before trying: those who look are in nobody's way, those who write are."""
        held = self._store.leases(self._study).get(TURN)
        if held is not None and held.left > 0:
            return False
        return self._store.acquire(self._study, Lease(TURN, self._owner, DEADLINE))

    def _renew(self, done: threading.Event) -> None:
        while not done.wait(DEADLINE / 3):
            try:
                self._store.renew(self._study, self._owner, [TURN], DEADLINE)
            except OutcropError as error:
                logger.warning("a turn could not be renewed: %s", error)
