"""A clock for tests of what happens when time runs out."""

from __future__ import annotations


class Ticking:
    """Seconds that pass with every reading."""

    def __init__(self, step: float = 1.0) -> None:
        self.now = -step
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now
