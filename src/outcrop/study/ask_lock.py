"""The lock that allows one ask of a study at a time, among all processes that share it."""

from __future__ import annotations

__all__ = ["TURN", "AskLock"]

import logging
import os
import random
import threading
import time

from outcrop.errors import OutcropError, StorageError
from outcrop.study.process_identity import has_ended, process_name
from outcrop.study.storage import Lease, Storage
from outcrop.study.thread_lock import ThreadLock

logger = logging.getLogger(__name__)

TURN = "ask"  # the lease's name
DEADLINE = 3.0  # seconds after which the lock of a process that died on another machine is free
FIRST_WAIT, LONGEST_WAIT = 0.002, 0.05  # seconds between two attempts


class AskLock:
    """A lock with a deadline, which a thread renews while an ask is computed.

    That the process which holds it has died is noticed at once on the same machine, on Linux.
    If the lock is lost nevertheless, at most one suggestion is computed in vain: an append to the
    log fails if another process was faster.
    """

    def __init__(self, store: Storage, study: int) -> None:
        self._store = store
        self._study = study
        self._token = os.urandom(8).hex()
        self._threads = ThreadLock()  # threads of this process are one owner
        self._done = threading.Event()

    @property
    def owner(self) -> str:
        """The owner of the lock and of leases; a forked child is another owner."""
        return f"{process_name()}:{self._token}"

    def __enter__(self) -> None:
        self._threads.acquire()
        try:
            self._wait()
            self._done = threading.Event()
            threading.Thread(target=self._renew, args=(self._done,), daemon=True).start()
        except BaseException:
            self._threads.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        self._done.set()
        try:
            # A successful append has dropped the lease; a store that failed is not called again.
            if kind is not None and not issubclass(kind, StorageError):
                self._store.release(self._study, self.owner, [TURN])
        finally:
            self._threads.release()

    def _wait(self) -> None:
        wait = FIRST_WAIT
        while not self._taken():
            time.sleep(wait * random.uniform(0.5, 1.5))
            wait = min(2 * wait, LONGEST_WAIT)

    def _taken(self) -> bool:
        """Try to take the lock; it is read first, since reading does not delay other processes."""
        held = self._store.leases(self._study).get(TURN)
        if held is not None and held.left > 0:
            was_set_back = held.left > 2 * DEADLINE  # the clock, meanwhile
            if not was_set_back and not has_ended(held.owner.rpartition(":")[0]):
                return False
            self._store.release(self._study, held.owner, [TURN])
        return self._store.acquire(self._study, Lease(TURN, self.owner, DEADLINE))

    def _renew(self, done: threading.Event) -> None:
        while not done.wait(DEADLINE / 3):
            try:
                self._store.renew(self._study, self.owner, [TURN], DEADLINE)
            except OutcropError as error:
                logger.warning("the lock of an ask could not be renewed: %s", error)
