"""A process that asks and tells until it is killed, and says what was acknowledged."""

from __future__ import annotations

__all__ = ["live"]

import json
import os

from outcrop.study import ask_lock, load_study

LEASE = 0.5


def live(url: str, pipe: int, deadline: float) -> None:
    """Ask and tell without end; each acknowledged step is one line in `pipe`."""
    ask_lock.DEADLINE = deadline
    study = load_study("mortal", url)
    while True:
        trial = study.ask(lease=LEASE)
        say(pipe, "asked", trial.number, trial.attempt)
        value = trial.params["x"] + 0.001 * trial.attempt
        study.tell(trial, value)
        say(pipe, "told", trial.number, value)


def say(pipe: int, *words: object) -> None:
    os.write(pipe, (json.dumps(words) + "\n").encode())
