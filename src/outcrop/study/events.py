"""What can happen to a study, as frozen values that JSON can hold.

A study is a list of these, `Created` first. `number` is a trial's, `at` the time in UTC seconds,
`value` and `std` are in the user's sign and units, `params` flat and legal.
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
    "Enqueued",
    "Stopped",
    "from_json",
    "from_text",
    "to_text",
]

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from outcrop.errors import StorageError
from outcrop.records import read, write
from outcrop.space import Space
from outcrop.typing import Params

VERSION = 1  # of all events together; a reader refuses what is newer
UNSAID = {"unsaid": True}  # of a field that is written only if it is not its default


@dataclass(frozen=True)
class Event:
    """Something that happened; its kind is the name of its class."""

    def to_json(self) -> dict[str, Any]:
        """The event as a JSON object; `from_json` reads it back.

        >>> Failed(3, "diverged").to_json()["event"]
        'Failed'
        """
        kind = type(self).__name__
        written = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if not (each.metadata == UNSAID and getattr(self, each.name) == each.default)
        }
        return {
            "event": kind,
            "version": VERSION,
            **{
                name: value.to_json() if isinstance(value, Space) else write(value, name)
                for name, value in written.items()
            },
        }


@dataclass(frozen=True)
class Created(Event):
    """A study began."""

    space: Space
    direction: str = "minimize"
    method: str | Mapping[str, Any] = "auto"
    seed: int = 0
    noise: bool | float | None = None
    at: float = 0.0
    robust: bool = field(default=False, metadata=UNSAID)


@dataclass(frozen=True)
class Asked(Event):
    """A configuration was handed out; with `attempt` above 1, one that was handed out before."""

    number: int
    params: Params
    why: Mapping[str, Any] = field(default_factory=dict)
    warm: Mapping[str, Any] = field(default_factory=dict, compare=False)  # may hold arrays
    attempt: int = 1
    queued: bool = False  # whether it came from the queue
    seen: int = 0  # how many events there were when it was made; more may have come meanwhile
    at: float = 0.0


@dataclass(frozen=True)
class Told(Event):
    """A value came back; one that is not finite is a failure.

    `where` are the numbers that were not as asked for, `where_std` how well they are known.
    """

    number: int
    value: float
    std: float | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0
    where: Params | None = field(default=None, metadata=UNSAID)
    where_std: Params | None = field(default=None, metadata=UNSAID)


@dataclass(frozen=True)
class Failed(Event):
    """An evaluation failed."""

    number: int
    reason: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0


@dataclass(frozen=True)
class Expired(Event):
    """Whoever held a trial stopped answering too often; a value that comes yet still counts."""

    number: int
    reason: str = ""
    at: float = 0.0


@dataclass(frozen=True)
class Late(Event):
    """An outcome of a trial that another had told before: kept, and ignored."""

    number: int
    value: float | None = None  # None for a failure
    std: float | None = None
    reason: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)
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
    """A result from elsewhere; a value that is not finite is a failure."""

    number: int
    params: Params
    value: float
    std: float | None = None
    at: float = 0.0


@dataclass(frozen=True)
class Enqueued(Event):
    """A configuration to hand out before any suggestion."""

    params: Params
    at: float = 0.0


@dataclass(frozen=True)
class Stopped(Event):
    """A run ended; the study may go on."""

    reason: str
    at: float = 0.0


KINDS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        Created,
        Asked,
        Told,
        Failed,
        Expired,
        Late,
        Released,
        Added,
        Enqueued,
        Stopped,
    )
}


def to_text(event: Event) -> str:
    """The event as one line of JSON in plain ASCII, whatever a name or a reason holds."""
    return json.dumps(event.to_json(), allow_nan=False, separators=(",", ":"))


def from_text(text: str) -> Event:
    """The event that `to_text` wrote, or `StorageError` for text that is no event."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise StorageError(f"a stored event is not JSON: {error}") from None
    return from_json(data)


def from_json(data: Mapping[str, Any]) -> Event:
    """The event that `to_json` wrote.

    >>> from_json({"event": "Released", "version": 1, "number": 3, "at": 0.0})
    Released(number=3, at=0.0)
    """
    if not isinstance(data, Mapping) or not {"event", "version"} <= data.keys():
        raise StorageError(f"a stored event: expected an object with its kind, got {data!r}")
    stored = dict(data)
    kind, version = stored.pop("event"), stored.pop("version")
    if type(version) is not int or version > VERSION:
        raise StorageError(
            f"a stored event has version {version!r}, this release reads up to {VERSION}; "
            "use the release that wrote it, or a newer one"
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
