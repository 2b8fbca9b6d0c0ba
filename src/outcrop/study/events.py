"""The events of a study, as frozen values that can be written as JSON.

A study is a list of events that begins with `Created`. `number` is that of a trial, `at` the time
in UTC seconds; `value` and `std` are in the user's sign and units, `params` are flat and legal.

An event is written with the least version of the log that has its kind and all that it says, so
that an older program reads a log without newer ones and refuses any other.
"""

from __future__ import annotations

__all__ = [
    "Event",
    "Created",
    "Asked",
    "Told",
    "Failed",
    "Expired",
    "Late",
    "Released",
    "Added",
    "Amended",
    "Discarded",
    "Enqueued",
    "SpaceChanged",
    "Stopped",
    "from_json",
    "from_text",
    "to_text",
]

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from outcrop.errors import StorageError
from outcrop.records import read, write
from outcrop.space import Space
from outcrop.typing import JsonObject, Params

VERSION = 2  # the newest that can be read; newer ones are refused
UNSAID = {"unsaid": True}  # metadata of a field that is written only if it is not its default


@dataclass(frozen=True)
class Event:
    """One event; its kind is the name of its class."""

    version: ClassVar[int] = 1  # the least version of the log that has this kind

    def to_json(self, *, in_process: bool = False) -> dict[str, Any]:
        """The event as a JSON object; `from_json` reads it back, maybe only `in_process`.

        >>> Failed(3, "diverged").to_json()["event"]
        'Failed'
        """
        data: dict[str, Any] = {"event": type(self).__name__, "version": self._least_version()}
        for each in fields(self):
            name, value = each.name, getattr(self, each.name)
            if each.metadata != UNSAID or value != each.default:
                is_space = isinstance(value, Space)
                data[name] = (
                    value.to_json(in_process=in_process) if is_space else write(value, name)
                )
        return data

    def _least_version(self) -> int:
        """The least version of the log that has all that this event says."""
        return self.version


@dataclass(frozen=True)
class Created(Event):
    """A study was created."""

    space: Space
    direction: str = "minimize"
    method: str | JsonObject = "auto"
    seed: int = 0
    noise: bool | float | None = None
    at: float = 0.0
    robust: bool = field(default=False, metadata=UNSAID)


@dataclass(frozen=True)
class Asked(Event):
    """A trial was handed out; for the first time, or again if `attempt` is above 1."""

    number: int
    params: Params
    why: JsonObject = field(default_factory=dict)
    warm: JsonObject = field(default_factory=dict, compare=False)  # may hold arrays
    attempt: int = 1
    queued: bool = False  # whether it came from the queue
    seen: int = 0  # how many events the suggestion was made from; more may precede this one
    at: float = 0.0
    cuts: tuple[int, ...] = field(default=(), metadata=UNSAID)  # of its effort, see `effort`
    worker: str = field(default="", metadata=UNSAID)  # who evaluates it, if that was given
    remaining: int | None = field(default=None, metadata=UNSAID)  # see `View.remaining`

    def _least_version(self) -> int:
        return 2 if self.worker or self.remaining is not None else 1


@dataclass(frozen=True)
class Told(Event):
    """A value was told; one that is not finite is a failure.

    `where` are the numbers that differed from those asked for, `where_std` standard deviations.
    """

    number: int
    value: float
    std: float | None = None
    info: JsonObject = field(default_factory=dict)
    at: float = 0.0
    where: Params | None = field(default=None, metadata=UNSAID)
    where_std: Params | None = field(default=None, metadata=UNSAID)


@dataclass(frozen=True)
class Failed(Event):
    """An evaluation failed."""

    number: int
    reason: str = ""
    info: JsonObject = field(default_factory=dict)
    at: float = 0.0


@dataclass(frozen=True)
class Expired(Event):
    """The leases of a trial expired too often; a value that arrives later still counts."""

    number: int
    reason: str = ""
    at: float = 0.0


@dataclass(frozen=True)
class Late(Event):
    """An outcome of a trial that already had one; it is stored and ignored."""

    number: int
    value: float | None = None  # None for a failure
    std: float | None = None
    reason: str = ""
    info: JsonObject = field(default_factory=dict)
    at: float = 0.0
    where: Params | None = field(default=None, metadata=UNSAID)
    where_std: Params | None = field(default=None, metadata=UNSAID)


@dataclass(frozen=True)
class Released(Event):
    """A running trial was given back without a result."""

    number: int
    at: float = 0.0


@dataclass(frozen=True)
class Added(Event):
    """A result obtained elsewhere was added; a value that is not finite is a failure.

    `where` and `where_std` are those of `Told`; `reason` is that of a failure, if one was given.
    """

    number: int
    params: Params
    value: float
    std: float | None = None
    at: float = 0.0
    reason: str | None = field(default=None, metadata=UNSAID)
    where: Params | None = field(default=None, metadata=UNSAID)
    where_std: Params | None = field(default=None, metadata=UNSAID)
    info: JsonObject | None = field(default=None, metadata=UNSAID)

    def _least_version(self) -> int:
        said = (self.reason, self.where, self.where_std, self.info)
        return 1 if all(each is None for each in said) else 2


@dataclass(frozen=True)
class Amended(Event):
    """The outcome of a trial that has ended was corrected; what is None stays as it was.

    A value that is not finite is a failure. `where` and `where_std` are those of `Told`.
    """

    version: ClassVar[int] = 2

    number: int
    value: float | None = None
    std: float | None = None
    where: Params | None = None
    where_std: Params | None = None
    reason: str = ""
    at: float = 0.0


@dataclass(frozen=True)
class Discarded(Event):
    """The outcome of a trial that has ended was declared void, as if it had never been tried."""

    version: ClassVar[int] = 2

    number: int
    reason: str = ""
    at: float = 0.0


@dataclass(frozen=True)
class Enqueued(Event):
    """A configuration was queued, to be handed out before any suggestion."""

    params: Params
    at: float = 0.0


@dataclass(frozen=True)
class SpaceChanged(Event):
    """The study got another space.

    `defaults` are values that parameters have in trials without them, by flat names.
    """

    version: ClassVar[int] = 2

    space: Space
    defaults: Params = field(default_factory=dict)
    at: float = 0.0


@dataclass(frozen=True)
class Stopped(Event):
    """A run ended; the study can be continued."""

    reason: str
    at: float = 0.0


KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in Event.__subclasses__()}


def to_text(event: Event, *, in_process: bool = False) -> str:
    """The event as one line of JSON in ASCII; see `Space.to_json` for `in_process`."""
    data = event.to_json(in_process=in_process)
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def from_text(text: str) -> Event:
    """The event that `to_text` wrote; `StorageError` for other text."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"a stored event is not JSON: {error}") from None
    return from_json(data)


def from_json(data: Mapping[str, Any]) -> Event:
    """The event that `to_json` wrote.

    >>> from_json({"event": "Released", "version": 1, "number": 3, "at": 0.0})
    Released(number=3, at=0.0)
    """
    if not isinstance(data, Mapping) or not {"event", "version"} <= data.keys():
        raise StorageError(
            f"a stored event: expected an object with the keys event and version, got {data!r}"
        )
    stored = dict(data)
    kind, version = stored.pop("event"), stored.pop("version")
    if type(version) is not int or version > VERSION:
        raise StorageError(
            f"a stored event has version {version!r}, but this release reads versions up to "
            f"{VERSION}; use the release that wrote it, or a newer one"
        )
    if not isinstance(kind, str) or kind not in KINDS:
        raise StorageError(f"a stored event: expected one of {[*KINDS]}, got {kind!r}")
    expected = {each.name for each in fields(KINDS[kind])}
    optional = {each.name for each in fields(KINDS[kind]) if each.metadata == UNSAID}
    if not expected - optional <= stored.keys() <= expected:
        raise StorageError(
            f"a stored {kind}: expected the keys {sorted(expected)}, got {sorted(stored)}"
        )
    values = {
        name: Space.from_json(value) if name == "space" else read(value)
        for name, value in stored.items()
    }
    return KINDS[kind](**values)
