"""A process that asks and tells until it is killed, and notes what was acknowledged."""

from __future__ import annotations

__all__ = ["acknowledged", "live"]

import signal
from collections.abc import Iterator

from benchmarks.attack.crowd import Note
from outcrop.study import Study, load_study


def live(url: str, note: Note, lease: float, rest_after: int | None = None) -> None:
    """Ask and tell the study "mortal"; each acknowledged step is one call of `note`.

    After `rest_after` steps nothing more happens, which is never the case for None.
    """
    steps = acknowledged(load_study("mortal", url), note, lease)
    if rest_after is None:
        for _ in steps:
            pass
    for _ in range(rest_after or 0):
        next(steps)
    signal.pause()


def acknowledged(study: Study, note: Note, lease: float) -> Iterator[None]:
    """Ask and tell without end; yields after each note.

    A note is "asked", the number and the attempt, or "told", the number and the value that the
    study then has: that of another process, if it was faster.
    """
    while True:
        trial = study.ask(lease=lease)
        note("asked", trial.number, trial.attempt)
        yield
        told = study.tell(trial, trial.params["x"] + 0.001 * trial.attempt)
        note("told", told.number, told.value)
        yield
