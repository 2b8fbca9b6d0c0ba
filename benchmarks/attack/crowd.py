"""A crowd of processes of which any may be killed; each notes what was acknowledged to it."""

from __future__ import annotations

__all__ = ["Crowd", "Note", "read_notes"]

import json
import os
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Note = Callable[..., None]


@dataclass
class Crowd:
    """Processes that run `live`, by the number of their life."""

    live: Callable[[Note], object]
    folder: Path
    flush: bool = True  # whether a note is on the disk before the next step
    alive: dict[int, int] = field(default_factory=dict)  # process ids
    lives: int = 0
    failed: list[str] = field(default_factory=list)  # what ended a process that nobody killed

    def add(self) -> None:
        """Start a process; a fork, since an import would take longer than a life."""
        life, self.lives = self.lives, self.lives + 1
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.live(self.notes(life))
                code = 0
            except BaseException:
                (self.folder / f"{life}.error").write_text(traceback.format_exc())
            finally:
                os._exit(code)
        self.alive[life] = child

    def kill(self, life: int) -> float:
        """Kill a process; when that happened."""
        child = self.alive.pop(life)
        os.kill(child, signal.SIGKILL)
        killed = time.monotonic()
        self._bury(life, child)
        return killed

    def wait(self, life: int) -> None:
        """Wait until a process has ended by itself."""
        self._bury(life, self.alive.pop(life))

    def notes(self, life: int) -> Note:
        """A function that appends its arguments and the time to the notes of a life."""
        path = self.folder / f"{life}.notes"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

        def note(*words: object) -> None:
            os.write(file, (json.dumps([time.monotonic(), *words]) + "\n").encode())
            if self.flush:
                os.fsync(file)

        return note

    def _bury(self, life: int, child: int) -> None:
        _, status = os.waitpid(child, 0)
        error = self.folder / f"{life}.error"
        if error.exists():
            self.failed.append(error.read_text())
        elif not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
            self.failed.append(f"status {status}")


def read_notes(folder: Path) -> dict[int, list[list[Any]]]:
    """The notes of each life; it may have been killed before it made the first."""
    return {int(file.stem): _read(file) for file in folder.glob("*.notes")}


def _read(file: Path) -> list[list[Any]]:
    notes = []
    for line in file.read_text().splitlines():
        with suppress(ValueError):
            notes.append(json.loads(line))
    return notes
