"""How a run is going, in one line on standard error."""

from __future__ import annotations

__all__ = ["Progress"]

import sys
import time
from dataclasses import dataclass, field
from typing import Literal, TextIO

from outcrop.errors import MethodError

REFRESH = 0.1  # seconds between two versions of a line on a terminal
LINES = 10  # written by a whole run where lines cannot be rewritten


@dataclass
class Progress:
    """Writes the state of a run of `total` trials, each once it is done.

    On a terminal the line is rewritten in place. Elsewhere `"auto"` is silent and True writes a
    line for every tenth of the trials.
    """

    total: int
    wanted: bool | Literal["auto"] = "auto"
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    done: int = 0
    failures: int = 0
    thinking: float = 0.0  # seconds inside the optimiser
    _width: int = 0
    _written: float = float("-inf")

    def __post_init__(self) -> None:
        if self.wanted not in (True, False, "auto"):
            raise MethodError(f"progress must be True, False or 'auto', got {self.wanted!r}")
        terminal = self.stream is not None and self.stream.isatty()  # a windowed program has none
        self._rewrites = terminal and bool(self.wanted)
        self._prints = not terminal and self.stream is not None and self.wanted is True

    def step(self, best: float | None, *, failed: bool, thinking: float) -> None:
        """Count one trial, and show where the run is."""
        self.done += 1
        self.failures += failed
        self.thinking += thinking
        last = self.done == self.total
        if self._rewrites and (last or time.monotonic() - self._written > REFRESH):
            self._written = time.monotonic()
            line = self._line(best)
            self.stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
            self.stream.flush()
        elif self._prints and (last or self._tenth(self.done) > self._tenth(self.done - 1)):
            self.stream.write(self._line(best) + "\n")
            self.stream.flush()

    def close(self) -> None:
        """End a line that was being rewritten."""
        if self._rewrites and self._width:
            self.stream.write("\n")
            self.stream.flush()
            self._width = 0

    def _tenth(self, done: int) -> int:
        return LINES * done // self.total

    def _line(self, best: float | None) -> str:
        found = "no value yet" if best is None else f"best {best:.6g}"
        failures = f", {self.failures} failed" if self.failures else ""
        return f"trial {self.done}/{self.total}, {found}{failures}, optimiser {self.thinking:.1f} s"
