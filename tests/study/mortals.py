"""A process that asks and tells until it is killed, and says what was acknowledged."""

from __future__ import annotations

__all__ = ["LEASE", "live"]

import json
import os
import signal

from outcrop.study import ask_lock, load_study

LEASE = 0.5


def live(url: str, pipe: int, deadline: float, rest_after: int | None) -> None:
    """Ask and tell; each acknowledged step is one line in `pipe`.

    After `rest_after` steps nothing more happens, which is never the case for None.
    """
    ask_lock.DEADLINE = deadline
    study = load_study("mortal", url)
    steps = acknowledged(study, pipe)
    if rest_after is None:
        for _ in steps:
            pass
    for _ in range(rest_after or 0):
        next(steps)
    signal.pause()


def acknowledged(study, pipe):
    """Ask and tell without end; yields after each line."""
    while True:
        trial = study.ask(lease=LEASE)
        yield say(pipe, "asked", trial.number, trial.attempt)
        value = trial.params["x"] + 0.001 * trial.attempt
        study.tell(trial, value)
        yield say(pipe, "told", trial.number, value)


def say(pipe: int, *words: object) -> None:
    os.write(pipe, (json.dumps(words) + "\n").encode())
