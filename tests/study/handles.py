"""Studies in a store, and ways to look behind them."""

from __future__ import annotations

__all__ = ["SPACE", "forget", "log_of", "opened"]

from outcrop.space import Float, Space
from outcrop.study import Study
from outcrop.study.events import Event, from_text

SPACE = Space({"x": Float(0, 1)})


def opened(storage, name="s", **options) -> Study:
    options = {"method": "random", "seed": 1} | options
    return Study(SPACE, name, storage, **options)


def log_of(study) -> list[Event]:
    return [from_text(text) for text in study._store.read(study._id)]


def forget(study, *numbers):
    """Let the leases of trials run out at once."""
    study.renew(numbers, 1e-9)
