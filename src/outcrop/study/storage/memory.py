"""A store in the memory of a process: the simplest one, and the reference for others."""

from __future__ import annotations

__all__ = ["Memory"]

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from outcrop.errors import StorageError
from outcrop.study.storage.base import (
    MAX_NAME,
    Lease,
    LeaseStatus,
    checked_lease_seconds,
    checked_text,
    no_study,
)


@dataclass
class _Kept:
    """One study."""

    name: str
    log: list[str]
    leases: dict[str, tuple[str, float]] = field(default_factory=dict)  # owner, deadline


class Memory:
    """A store in this process; a forked child may not use it, since it would have a copy."""

    def __init__(self) -> None:
        self._studies: dict[int, _Kept] = {}
        self._last = 0  # the newest id
        self._lock = threading.Lock()
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> NoReturn:
        raise StorageError(
            "a study in memory cannot be pickled or sent to another process; give it a storage "
            "such as 'sqlite:///study.db', or put it there with study.copy_to"
        )

    def create(self, name: str, record: str) -> int | None:
        checked_text(name, "name of a study", MAX_NAME)
        kept = _Kept(name, [checked_text(record, "record")])
        with self._locked():
            if self._find(name) is not None:
                return None
            self._last += 1
            self._studies[self._last] = kept
            return self._last

    def find(self, name: str) -> int | None:
        checked_text(name, "name of a study", MAX_NAME)
        with self._locked():
            return self._find(name)

    def names(self) -> list[str]:
        with self._locked():
            return [kept.name for kept in self._studies.values()]

    def delete(self, study: int) -> None:
        with self._locked():
            self._kept(study)
            del self._studies[study]

    def read(self, study: int, since: int = 0) -> list[str]:
        with self._locked():
            return self._kept(study).log[max(since, 0) :]

    def append(
        self,
        study: int,
        position: int,
        records: Sequence[str],
        *,
        take: Sequence[Lease] = (),
        drop: Sequence[str] = (),
    ) -> bool:
        written = [checked_text(record, "record") for record in records]
        with self._locked():
            kept = self._kept(study)
            if len(kept.log) != position or not all(_is_free(kept, lease) for lease in take):
                return False
            kept.log += written
            for lease in take:
                _take(kept, lease)
            for key in drop:
                kept.leases.pop(key, None)
            return True

    def acquire(self, study: int, lease: Lease) -> bool:
        with self._locked():
            kept = self._kept(study)
            if not _is_free(kept, lease):
                return False
            _take(kept, lease)
            return True

    def renew(self, study: int, owner: str, keys: Sequence[str], seconds: float) -> set[str]:
        checked_lease_seconds(seconds)
        with self._locked():
            kept = self._kept(study)
            mine = _held_by(kept, owner, keys)
            kept.leases.update((key, (owner, time.monotonic() + seconds)) for key in mine)
            return mine

    def release(self, study: int, owner: str, keys: Sequence[str]) -> None:
        with self._locked():
            if study in self._studies:
                kept = self._studies[study]
                for key in _held_by(kept, owner, keys):
                    del kept.leases[key]

    def leases(self, study: int) -> dict[str, LeaseStatus]:
        with self._locked():
            now = time.monotonic()
            return {
                key: LeaseStatus(owner, deadline - now)
                for key, (owner, deadline) in self._kept(study).leases.items()
            }

    def close(self) -> None:
        """Nothing to close."""

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if os.getpid() != self._process:  # before the lock, which another thread may have held
            raise StorageError(
                f"this study is in the memory of process {self._process} and cannot be used in its "
                f"child {os.getpid()}; use a storage such as 'sqlite:///study.db'"
            )
        with self._lock:
            yield

    def _find(self, name: str) -> int | None:
        return next((study for study, kept in self._studies.items() if kept.name == name), None)

    def _kept(self, study: int) -> _Kept:
        if study not in self._studies:
            raise no_study(study)
        return self._studies[study]


def _is_free(kept: _Kept, lease: Lease) -> bool:
    owner, deadline = kept.leases.get(lease.key, (lease.owner, 0.0))
    return owner == lease.owner or deadline <= time.monotonic()


def _take(kept: _Kept, lease: Lease) -> None:
    kept.leases[lease.key] = (lease.owner, time.monotonic() + lease.seconds)


def _held_by(kept: _Kept, owner: str, keys: Sequence[str]) -> set[str]:
    return {key for key in keys if key in kept.leases and kept.leases[key][0] == owner}
