"""The interface of a store: for each study an append-only log of texts, and a few leases.

A store does not interpret records. Its interface uses durations and no points in time, since each
store has its own clock.
"""

from __future__ import annotations

__all__ = [
    "LeaseStatus",
    "Lease",
    "MAX_NAME",
    "Storage",
    "checked_lease_seconds",
    "checked_text",
    "no_study",
]

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from outcrop.errors import StudyError

MAX_NAME = 200  # characters of a name; at 4 bytes each they fit any database's index


@dataclass(frozen=True)
class Lease:
    """A request to hold `key` for `seconds`; `inf` never expires."""

    key: str
    owner: str
    seconds: float

    def __post_init__(self) -> None:
        checked_text(self.key, "key of a lease", MAX_NAME)
        checked_text(self.owner, "owner of a lease", MAX_NAME)
        checked_lease_seconds(self.seconds)


@dataclass(frozen=True)
class LeaseStatus:
    """Who holds a lease, and for how long."""

    owner: str
    left: float  # seconds; zero or negative once it has expired


@runtime_checkable
class Storage(Protocol):
    """A store of studies; every operation is atomic among threads and processes.

    A study is identified by the id that `create` returned. `StudyError` if no study has that id
    (any more); `StorageError` if the store cannot be reached, and then nothing was written, unless
    the connection broke as it was and did not come back, which the message says; `StorageDamaged`
    if parts of it were lost, and then nobody knows what was.
    """

    def create(self, name: str, record: str) -> int | None:
        """The id of a new study whose log is `[record]`; None if the name is taken.

        Names differ if any character does. No id is used twice, not even after `delete`.
        """

    def find(self, name: str) -> int | None:
        """The id of the study with this name, or None."""

    def names(self) -> list[str]:
        """The names of all studies, in the order of their creation."""

    def delete(self, study: int) -> None:
        """Remove a study, its log and its leases."""

    def read(self, study: int, since: int = 0) -> list[str]:
        """The records from position `since` on; none if the log is not longer than that."""

    def append(
        self,
        study: int,
        position: int,
        records: Sequence[str],
        *,
        take: Sequence[Lease] = (),
        drop: Sequence[str] = (),
    ) -> bool:
        """Write `records`, take leases, then drop keys of any owner: all of it or nothing.

        False if the log is not exactly `position` long, or if another owner holds one of `take` and
        it has not expired. Written records survive a power failure.
        """

    def acquire(self, study: int, lease: Lease) -> bool:
        """Take a lease that is free, expired or held by its owner; False if another holds it."""

    def renew(self, study: int, owner: str, keys: Sequence[str], seconds: float) -> set[str]:
        """Extend those of `keys` that `owner` still holds to `seconds` from now; return them.

        An expired lease is still held as long as no other owner has taken it.
        """

    def release(self, study: int, owner: str, keys: Sequence[str]) -> None:
        """Drop those of `keys` that `owner` holds; does nothing if the study was deleted."""

    def leases(self, study: int) -> dict[str, LeaseStatus]:
        """All leases by key, including expired ones."""

    def close(self) -> None:
        """Close files and connections; stored data remain."""


def checked_text(text: object, what: str, longest: int | None = None) -> str:
    """Text that any database can hold; with `longest`, it must not be empty either."""
    if not isinstance(text, str):
        raise StudyError(f"the {what} must be text, got {text!r}")
    if longest is not None and not 0 < len(text) <= longest:
        raise StudyError(f"the {what} must have 1 to {longest} characters, got {len(text)}")
    if "\0" in text:
        raise StudyError(f"the {what} must not contain NUL characters, got {text[:MAX_NAME]!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise StudyError(
            f"the {what} must be Unicode text, got half a surrogate pair at character {error.start}"
        ) from None
    return text


def checked_lease_seconds(seconds: float) -> float:
    """A duration: a number of at least 0, infinity included."""
    if math.isnan(seconds) or seconds < 0:
        raise StudyError(f"seconds of a lease must be at least 0, got {seconds!r}")
    return seconds


def no_study(study: int) -> StudyError:
    """The error for an id that no study has."""
    return StudyError(f"there is no study with id {study}: it was deleted, or never existed")
