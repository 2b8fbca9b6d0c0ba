"""How far an experiment is: a bar that is kept up to date on a terminal, lines elsewhere."""

from __future__ import annotations

__all__ = ["Bar", "Lines", "View", "in_words", "view_of"]

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol


class View(AbstractContextManager["View"], Protocol):
    """Shows what happens to the runs of an experiment; what it writes is for people."""

    def running(self, labels: Sequence[str]) -> None: ...

    def finished(self, label: str, seconds: float) -> None: ...

    def failed(self, label: str, error: BaseException) -> None: ...


def view_of(name: str, total: int) -> View:
    """A bar on a terminal, lines elsewhere."""
    return Bar(name, total) if sys.stdout.isatty() else Lines(name, total)


class Lines(View):
    """One line for each run, with the time that is left if the rest takes as long."""

    def __init__(self, name: str, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self.total, self.clock = name, total, clock
        self.done, self.began = 0, clock()

    def __exit__(self, *error: object) -> None:
        pass

    def running(self, labels: Sequence[str]) -> None:
        pass

    def finished(self, label: str, seconds: float) -> None:
        self._write(label, f"{seconds:.1f} s")

    def failed(self, label: str, error: BaseException) -> None:
        self._write(label, _described(error))

    def _write(self, label: str, what: str) -> None:
        self.done += 1
        left = (self.clock() - self.began) / self.done * (self.total - self.done)
        count = f"{self.done}/{self.total}"
        print(f"{self.name} {count} {label}: {what}; about {in_words(left)} left", flush=True)


class Bar(View):
    """A bar, and beside it what is running; failures appear above it."""

    def __init__(self, name: str, total: int) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[now]}", style="dim"),
            speed_estimate_period=3600,  # runs differ: a short memory would make the rest jump
        )
        self.task = self.bar.add_task(name, total=total, now="")

    def __enter__(self) -> Bar:
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def running(self, labels: Sequence[str]) -> None:
        self.bar.update(self.task, now=" · ".join(labels))

    def finished(self, label: str, seconds: float) -> None:
        self.bar.advance(self.task)

    def failed(self, label: str, error: BaseException) -> None:
        self.bar.console.print(f"{label}: {_described(error)}", style="red", markup=False)
        self.bar.advance(self.task)


def _described(error: BaseException) -> str:
    text = getattr(error, "traceback", None)  # of the process it was raised in
    return f"failed, {error!r}" + (f"\n{text}" if text else "")


def in_words(seconds: float) -> str:
    """A duration, rounded to what matters."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
