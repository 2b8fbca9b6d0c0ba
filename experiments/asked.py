"""What a peer was asked for and not told yet."""

from __future__ import annotations

__all__ = ["taken"]

from typing import TypeVar

from outcrop.typing import Params

T = TypeVar("T")


def taken(running: list[tuple[Params, T]], params: Params) -> T:
    """What the peer calls the configuration, which is running no more.

    Two that are equal may run at once, so that it is the object that is found.
    """
    at = next(i for i, (own, _) in enumerate(running) if own is params)
    return running.pop(at)[1]
