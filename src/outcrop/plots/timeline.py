"""A plot of when each worker was busy: the evaluations of a search, one row for each worker.

A span is a worker, the start and end of an evaluation in seconds, and its trial. A pause is a time
between two sessions of a study, such as a night; it is cut out of the axis.
"""

from __future__ import annotations

__all__ = ["measured_spans", "timeline", "without_pauses"]

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outcrop.errors import NoBelief
from outcrop.plots import canvas
from outcrop.plots.canvas import Axes, Style
from outcrop.plots.space_slice import reader_of
from outcrop.study.trial import Trial, best_of

BUSY = "#4a83a8"  # two thirds as light as waiting, so that they differ in grey too
HEIGHT = 0.74  # of a bar; rows are 1 apart
ROW, FEWEST, MOST = 0.3, 1.0, 6.5  # inches of a row; least and most inches of all rows
SEPARATE = 60  # trials per row up to which there is a gap between them
NAMED = 20  # rows up to which each has its number
# A time without evaluations is a pause if it is longer than any suggestion takes, and a visible
# part of the time with evaluations.
SHORTEST_PAUSE, PART = 60.0, 0.05  # seconds; share
UNITS = (("d", 86400.0), ("h", 3600.0), ("min", 60.0))


@dataclass(frozen=True)
class Span:
    worker: int
    start: float
    end: float
    trial: Trial


@dataclass(frozen=True)
class Pause:
    place: float  # on the axis, where it is cut out
    seconds: float

    def __str__(self) -> str:
        name, unit = next((u for u in UNITS if self.seconds >= 2 * u[1]), UNITS[-1])
        return f"{self.seconds / unit:.3g} {name}"


def timeline(search: Any, *, axes: Axes | None = None) -> Axes:
    """Draw when each worker was busy and when it waited, and return the axes.

        plots.timeline(oc.simulate("branin", n_workers=4, n_trials=40))
        plots.timeline(study)

    `search` is a simulation, a study, an optimizer or a result. A study does not record the worker
    of a trial, so that its trials are placed on as few rows as possible. A trial starts when it was
    asked for; one that still runs ends at the newest time that is recorded. Pauses of a study, in
    which nothing was evaluated, are cut out of the axis and marked with their lengths.
    """
    pauses: list[Pause] = []
    if hasattr(search, "n_workers"):
        spans, rows, label = _simulated(search), search.n_workers, "virtual time (s)"
        title = f"{search.n_workers} workers, {search.mode}: "
    else:
        spans, pauses = without_pauses(measured_spans(reader_of(search).trials))
        rows = 1 + max((span.worker for span in spans), default=0)
        cut = "" if not pauses else f", without {len(pauses)} pause{'s' * (len(pauses) > 1)}"
        label, title = f"time since the first trial was asked for{cut} (s)", ""
    if not spans:
        raise NoBelief("no trial was started yet, so there is nothing to draw")
    end = max(span.end for span in spans)
    height = min(max(ROW * rows, FEWEST), MOST) + 1.1
    drawn = canvas.axes_or_new(axes, (8.0, height))
    _bars(drawn, spans, rows, end)
    busy = sum(span.end - span.start for span in spans) / (rows * end) if end else 0.0
    drawn.set(
        xlim=(0.0, end or 1.0),
        ylim=(rows - 0.4, -0.6),
        xlabel=f"{label}\n{title}busy for {100 * busy:.1f} % of the time",
        ylabel="worker",
    )
    _number_rows(drawn, rows)
    _mark_pauses(drawn, pauses)
    _mark(drawn, spans, 1.0 if reader_of(search).direction == "minimize" else -1.0)
    canvas.legend(drawn, axes is None)
    return drawn


def _simulated(simulation: Any) -> list[Span]:
    return [
        Span(worker, trial.started, trial.finished, trial)
        for trial, worker in zip(simulation.trials, simulation.workers, strict=True)
        if worker is not None
    ]


def measured_spans(trials: Sequence[Trial]) -> list[Span]:
    """Spans of a study's trials, each on the free row that was used most recently."""
    times = [t for trial in trials for t in (trial.started, trial.finished) if t is not None]
    begun = [(trial.started, trial) for trial in trials if trial.started is not None]
    if not begun:
        return []
    zero, latest = min(start for start, _ in begun), max(times)
    free: list[float] = []  # the time from which each row is free
    spans = []
    for start, trial in sorted(begun, key=lambda pair: (pair[0], pair[1].number)):
        end = latest if trial.finished is None else trial.finished
        left = [(since, row) for row, since in enumerate(free) if since <= start]
        row = max(left)[1] if left else len(free)
        free[row : row + 1] = [end]
        spans.append(Span(row, start - zero, end - zero, trial))
    return spans


def without_pauses(spans: Sequence[Span]) -> tuple[list[Span], list[Pause]]:
    """The same spans on an axis without pauses, and the pauses; running trials do not fill them."""
    times = sorted(
        (span.start, span.start if span.trial.state == "running" else span.end) for span in spans
    )
    gaps, last, busy = list[tuple[float, float]](), 0.0, 0.0  # from, to
    for start, end in times:
        if start > last:
            gaps.append((last, start))
        busy += max(end - max(start, last), 0.0)
        last = max(last, end)
    cut = [(low, high) for low, high in gaps if high - low >= max(SHORTEST_PAUSE, PART * busy)]

    def place(time: float) -> float:
        return time - sum(min(max(time - low, 0.0), high - low) for low, high in cut)

    placed = [replace(span, start=place(span.start), end=place(span.end)) for span in spans]
    return placed, [Pause(place(low), high - low) for low, high in cut]


def _bars(axes: Axes, spans: Sequence[Span], rows: int, end: float) -> None:
    """Draw bars for the whole time, and the busy times on top of them."""
    gap = 0.8 if len(spans) <= SEPARATE * rows else 0.0
    axes.barh(
        np.arange(rows),
        np.full(rows, end),
        HEIGHT,
        color=canvas.SHADE,
        lw=0,
        label="waiting",
        zorder=1,
    )
    busy: Style = {"color": BUSY, "ec": canvas.PAPER, "lw": gap}
    still_running: Style = {"color": canvas.PAPER, "ec": BUSY, "hatch": "////", "lw": gap}
    for label, running, look in (("busy", False, busy), ("still running", True, still_running)):
        some = [span for span in spans if (span.trial.state == "running") == running]
        if some:
            axes.barh(
                [span.worker for span in some],
                [span.end - span.start for span in some],
                HEIGHT,
                left=[span.start for span in some],
                label=label,
                zorder=2,
                **look,
            )


def _number_rows(axes: Axes, rows: int) -> None:
    from matplotlib.ticker import MaxNLocator

    if rows <= NAMED:
        axes.set_yticks(range(rows))
    else:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _mark_pauses(axes: Axes, pauses: Sequence[Pause]) -> None:
    """Mark where pauses were cut out, with their lengths above."""
    for index, pause in enumerate(pauses):
        label = None if index else "a pause, cut out"
        axes.axvline(pause.place, color=canvas.INK, lw=1.2, ls=(0, (2, 2)), zorder=3, label=label)
        axes.text(
            pause.place,
            1.0,
            str(pause),
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize="small",
        )


def _mark(axes: Axes, spans: Sequence[Span], sign: float) -> None:
    """Mark failed trials, and the end of the best one."""
    failed = [span for span in spans if span.trial.state == "failed"]
    known = [span for span in spans if span.trial.is_observed]
    if failed:
        middle = [(span.start + span.end) / 2 for span in failed]
        axes.plot(middle, [span.worker for span in failed], label="failed", **canvas.FAILED)
    if known:
        best = best_of((span.trial for span in known), sign).number
        (span,) = [span for span in known if span.trial.number == best]
        style = canvas.BEST | {"clip_on": False}
        axes.plot([span.end], [span.worker], label="best value", **style)
