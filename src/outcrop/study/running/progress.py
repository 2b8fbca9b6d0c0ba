"""The progress of a run: a live display on a terminal or in a notebook, or lines."""

from __future__ import annotations

__all__ = [
    "Display",
    "Lines",
    "NotebookDisplay",
    "Silent",
    "RunTally",
    "ProgressView",
    "progress_view",
]

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from outcrop.errors import MethodError
from outcrop.html_tables import bar, page
from outcrop.notebook import in_notebook
from outcrop.study.running.protocol import Shown
from outcrop.study.trial import Trial

if TYPE_CHECKING:
    from rich.console import Console, Group, RenderableType

LINES = 10  # written by a whole run where there is no live display
MINUTE = 60.0  # seconds between two lines, at most
REFRESH = 5.0  # updates of the live display per second
BAR = 30  # characters


@dataclass
class RunTally:
    """Counts of a run so far; the best value is that of the whole study."""

    total: int | None = None  # trials of the run, if that is known
    workers: int = 1
    maximise: bool = False
    best: float | None = None
    done: int = 0
    failures: int = 0
    busy: int = 0
    thinking: float = 0.0  # seconds inside the optimiser
    before: int = 0  # trials done before a run that goes on to the total of its study
    clock: Callable[[], float] = time.monotonic
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def elapsed(self) -> float:
        return self.clock() - self.began

    @property
    def reached(self) -> int:
        return self.before + self.done

    @property
    def goal(self) -> int:
        """What `reached` is at the end of a run whose length is known."""
        return self.before + (self.total or 0)

    def count(self, trial: Trial) -> None:
        """Count a trial that has ended."""
        self.done += 1
        self.failures += trial.state == "failed"
        self.consider(trial)

    def consider(self, trial: Trial) -> None:
        """Update the best value with that of a trial."""
        if trial.value is not None and not trial.aside:
            better = max if self.maximise else min
            self.best = trial.value if self.best is None else better(self.best, trial.value)

    def line(self) -> str:
        return "trial " + ", ".join(self.parts().values())

    def parts(self) -> dict[str, str]:
        """The parts of the line that is shown, by name."""
        elapsed = max(self.elapsed, 1e-9)
        seconds = int(elapsed)
        return {
            "trials": str(self.done) if self.total is None else f"{self.reached}/{self.goal}",
            "best": "no value yet" if self.best is None else f"best {self.best:.6g}",
            "rate": f"{MINUTE * self.done / elapsed:.1f}/min",
            "optimiser": f"optimiser {self.thinking:.1f} s ({self.thinking / elapsed:.0%})",
            "failures": f"{self.failures} failed",
            "busy": f"{self.busy}/{self.workers} busy",
            "elapsed": f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}",
        }


def progress_view(
    tally: RunTally, wanted: Shown = "auto", stream: TextIO | None = None
) -> ProgressView:
    """A live display on a terminal or in a notebook; elsewhere lines if `wanted` is True."""
    if wanted not in (True, False, "auto"):
        raise MethodError(f"progress must be True, False or 'auto', got {wanted!r}")
    if wanted is False:
        return Silent()
    if stream is None and in_notebook():
        return NotebookDisplay(tally)
    stream = sys.stderr if stream is None else stream
    if stream is None:  # a windowed program has no standard error
        return Silent()
    if stream.isatty():
        return Display(tally, stream)
    return Lines(tally, stream) if wanted is True else Silent()


class Silent:
    """Shows nothing."""

    def update(self) -> None:
        """Show the tally if it is time to; called often."""

    def close(self) -> None:
        """Show the tally for the last time."""


@dataclass
class Lines:
    """Writes a line for every tenth of the trials, and after every minute without one."""

    tally: RunTally
    stream: TextIO
    _done: int = 0  # trials when the newest line was written
    _written: float = 0.0  # seconds since the run began

    def update(self) -> None:
        tenth_is_done = self._tenth(self.tally.done) > self._tenth(self._done)
        if tenth_is_done or self.tally.elapsed - self._written >= MINUTE:
            self._write()

    def close(self) -> None:
        if self.tally.done > self._done:
            self._write()

    def _tenth(self, done: int) -> int:
        return 0 if self.tally.total is None else LINES * done // self.tally.total

    def _write(self) -> None:
        self._done, self._written = self.tally.done, self.tally.elapsed
        self.stream.write(self.tally.line() + "\n")
        self.stream.flush()


class Display:
    """Updates two lines of a terminal; other output appears above them."""

    def __init__(self, tally: RunTally, stream: TextIO, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self._tally = tally
        self._live = Live(
            console=console or Console(file=stream),
            get_renderable=self._lines,
            refresh_per_second=REFRESH,
        )
        self._live.start()

    def update(self) -> None:
        pass  # a thread of the display reads the tally

    def close(self) -> None:
        self._live.stop()

    def _lines(self) -> Group:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        tally, parts = self._tally, self._tally.parts()
        above: list[RenderableType] = [parts.pop("trials"), Text(parts.pop("best"), "bold")]
        if tally.total is not None:
            done = min(tally.reached, tally.goal)
            above.insert(0, ProgressBar(tally.goal, done, width=BAR))
        line = Table.grid(padding=(0, 2))
        for _ in above:
            line.add_column(no_wrap=True)
        line.add_row(*above)
        below = Text(no_wrap=True, overflow="ellipsis")
        for name, part in parts.items():
            below.append("  " if below else "")
            below.append(part, "red" if name == "failures" and tally.failures else "dim")
        return Group(line, below)


class NotebookDisplay:
    """One output below the cell of a notebook, which is replaced a few times per second."""

    def __init__(self, tally: RunTally) -> None:
        from IPython.display import display

        show: Any = display  # it has no types
        self._tally = tally
        self._shown = tally.elapsed  # when it was replaced, in seconds since the run began
        self._handle = show(self._output(), raw=True, display_id=True)

    def update(self) -> None:
        if self._tally.elapsed - self._shown >= 1 / REFRESH:
            self.close()

    def close(self) -> None:
        self._shown = self._tally.elapsed
        self._handle.update(self._output(), raw=True)

    def _output(self) -> dict[str, str]:
        """The tally as HTML, and as text for what shows no HTML."""
        tally, parts = self._tally, self._tally.parts()
        title = f"{parts.pop('trials')} trials, {parts.pop('best')}"
        done = min(tally.reached, tally.goal)
        bars = [] if tally.total is None else [bar(done, tally.goal)]
        html = page(title, *bars, ", ".join(parts.values()))
        return {"text/plain": tally.line(), "text/html": html}


ProgressView: TypeAlias = Silent | Lines | Display | NotebookDisplay
