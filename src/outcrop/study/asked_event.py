"""Checks of an ask that was read from a log, which may be damaged."""

from __future__ import annotations

__all__ = ["check_asked", "worker_of"]

from outcrop.errors import TrialError
from outcrop.study.events import Asked


def check_asked(event: Asked) -> None:
    """`TrialError` if what a replay repeats, the cuts and what remained, cannot be."""
    if not isinstance(event.cuts, tuple) or any(type(cut) is not int for cut in event.cuts):
        raise TrialError(
            f"trial {event.number} has the cuts {event.cuts!r}, expected whole numbers"
        )
    left = event.remaining
    if left is not None and (type(left) is not int or left < 1):
        raise TrialError(
            f"trial {event.number} was asked for with {left!r} trials remaining, expected a whole "
            "number of at least 1"
        )


def worker_of(event: Asked) -> str:
    if isinstance(event.worker, str):
        return event.worker
    raise TrialError(f"trial {event.number} has the worker {event.worker!r}, expected a text")
