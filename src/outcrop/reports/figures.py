"""Figures about the trials of a study: convergence, parallel coordinates, timeline, landscape."""

from __future__ import annotations

__all__ = ["convergence", "landscape", "parallel", "some_of", "timeline"]

from collections.abc import Sequence

import numpy as np

from outcrop.errors import NoBelief
from outcrop.plots.canvas import shown
from outcrop.plots.parallel import INACTIVE, heights_of, parallel_axes
from outcrop.plots.timeline import measured_spans, without_pauses
from outcrop.reports.plotly_values import Figure, label, number, numbers
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial
from outcrop.typing import Vector

LINES = 500  # trials of the parallel coordinates: the best ones
POINTS = 1000  # trials that are drawn over a belief
SPANS = 1000  # trials of the timeline: the last ones
SHADES = [f"rgba(49, 130, 189, {opacity})" for opacity in (0.15, 0.3, 0.5, 0.75, 1.0)]  # to best
TICKS = 3
BUSY, FAILED, BEST = "#3182bd", "#d55e00", "#e69f00"
VALUE = "#3d97d3"  # seen on white and on black


def convergence(study: StudyReader) -> Figure:
    """The values by trial, the best so far, and where trials failed."""
    known = [trial for trial in study.trials if trial.is_observed]
    failed = [trial for trial in study.trials if trial.state == "failed"]
    if not known and not failed:
        raise NoBelief("no trial has finished yet")
    values = _values(known)
    sign = -1.0 if study.direction == "maximize" else 1.0
    best = sign * np.minimum.accumulate(sign * values)
    steps = [index for index in range(len(best)) if _is_corner(best, index)]
    data: list[Figure] = [
        {
            "x": [trial.number for trial in known],
            "y": numbers(values),
            "mode": "markers",
            "name": "value",
            "marker": {"size": 6, "opacity": 0.75, "color": VALUE},
            "hovertemplate": "trial %{x}<br>%{y}<extra></extra>",
        },
        {
            "x": [known[index].number for index in steps],
            "y": numbers(best[steps]),
            "mode": "lines",
            "name": "best so far",
            "hoverinfo": "skip",  # or the label of the trial below would not be seen
            "line": {"shape": "hv", "width": 2.5, "color": BEST},
        },
    ]
    if failed:
        data.append(
            {
                "x": [trial.number for trial in failed],
                "y": [0.02] * len(failed),
                "yaxis": "y2",
                "mode": "markers",
                "name": "failed",
                "marker": {"symbol": "x", "size": 8, "color": FAILED},
                "text": [label(f"trial {t.number}: {t.reason}", 80) for t in failed],
                "hoverinfo": "text",
            }
        )
    hidden = {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True}
    layout = {"xaxis": {"title": {"text": "trial"}}, "yaxis": {"title": {"text": "value"}}}
    return {"data": data, "layout": layout | {"yaxis2": hidden}}


def parallel(study: StudyReader) -> Figure:
    """A line for each trial through its parameters and its value; of many, the best ones."""
    along = parallel_axes(study.space, None)
    known = [trial for trial in study.trials if trial.is_observed]
    if not known:
        raise NoBelief("no trial has finished yet")
    values = _values(known)
    better = "high" if study.direction == "maximize" else "low"
    low, high = shown(values, better)
    span = high - low if high > low else 1.0
    height = np.clip((values - low) / span, 0.0, 1.0)
    good = height if better == "high" else 1.0 - height
    order = np.argsort(good, kind="stable")[-LINES:]
    data = []
    for shade, part in zip(SHADES, np.array_split(order, len(SHADES)), strict=True):
        xs: list[float | None] = []
        ys: list[float | None] = []
        texts: list[str | None] = []
        for index in part:
            line = [*heights_of(along, known[index].params), height[index]]
            xs += [*range(len(line)), None]
            ys += [*numbers(line), None]
            name = f"trial {known[index].number}: {values[index]:.6g}"
            texts += [*[name] * len(line), None]
        data.append(
            {
                "x": xs,
                "y": ys,
                "text": texts,
                "hoverinfo": "text",
                "mode": "lines",
                "line": {"color": shade, "width": 1.4},
                "showlegend": False,
            }
        )
    notes = []
    for place, axis in enumerate(along):
        marked, names = axis.ticks(TICKS)
        for value, name in zip(marked, names, strict=True):
            at = heights_of([axis], {axis.name: value})[0]
            notes.append(_note(place, at, name.replace(r"\$", "$")))
    for value in (low, high) if high > low else (low,):
        notes.append(_note(len(along), (value - low) / span, f"{value:.4g}"))
    names = [*(label(axis.name, 24) for axis in along), "value"]
    lines = [
        {"type": "line", "x0": i, "x1": i, "y0": 0, "y1": 1, "line": {"width": 1, "color": "#888"}}
        for i in range(len(names))
    ]
    layout = {
        "xaxis": {
            "tickvals": [*range(len(names))],
            "ticktext": names,
            "showgrid": False,
            "zeroline": False,
            "range": [-0.3, len(names) - 0.5],
        },
        "yaxis": {"visible": False, "range": [INACTIVE - 0.05, 1.08]},
        "annotations": notes,
        "shapes": lines,
    }
    return {"data": data, "layout": layout}


def timeline(study: StudyReader) -> Figure:
    """When each trial was evaluated, by named workers or by rows that were busy at once."""
    spans, _ = without_pauses(measured_spans(study.trials))
    if not spans:
        raise NoBelief("no trial was asked for yet")
    spans = sorted(spans, key=lambda span: span.start)[-SPANS:]
    named = all(span.trial.worker for span in spans)
    data: list[Figure] = []
    for state, colour in (("finished", BUSY), ("failed", FAILED), ("running", "#999999")):
        some = [span for span in spans if span.trial.state == state]
        if some:
            data.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "base": numbers(span.start for span in some),
                    "x": numbers(span.end - span.start for span in some),
                    "y": [label(s.trial.worker) if named else f"row {s.worker}" for s in some],
                    "name": state,
                    "marker": {"color": colour},
                    "text": [f"trial {span.trial.number}" for span in some],
                    "textposition": "none",
                }
            )
    rows = len({row for bars in data for row in bars["y"]})
    layout = {
        "height": min(140 + 26 * rows, 700),
        "barmode": "overlay",
        "xaxis": {"title": {"text": "seconds since the first trial, without pauses"}},
        "yaxis": {"type": "category", "automargin": True},
    }
    return {"data": data, "layout": layout}


def landscape(study: StudyReader) -> Figure:
    """How probable each kind of landscape was at every suggestion."""
    found = study.landscape()
    at = sorted(found.history)
    data = [
        {
            "x": at,
            "y": numbers(found.history[n].get(kind, 0.0) for n in at),
            "name": label(kind),
            "mode": "lines",
            "stackgroup": "one",
        }
        for kind in found.kinds
    ]
    layout = {
        "xaxis": {"title": {"text": "trial"}},
        "yaxis": {"title": {"text": "probability"}, "range": [0, 1]},
    }
    return {"data": data, "layout": layout}


def some_of(trials: Sequence[Trial], direction: str) -> list[Trial]:
    """At most `POINTS` trials with values: the better half of them the best, the others evenly."""
    if len(trials) <= POINTS:
        return list(trials)
    sign = -1.0 if direction == "maximize" else 1.0
    ranked = sorted(trials, key=lambda trial: sign * (trial.value or 0.0))
    half = POINTS // 2
    others = np.linspace(half, len(ranked) - 1, POINTS - half).astype(int)
    return ranked[:half] + [ranked[index] for index in others]


def _is_corner(best: Vector, index: int) -> bool:
    """Whether the line of the best value so far turns at a trial, or begins or ends there."""
    return index in (0, len(best) - 1) or best[index] != best[index - 1]


def _note(x: float, y: float, text: str) -> Figure:
    """A text at the right of a place."""
    return {
        "x": x,
        "y": number(y),
        "text": label(text, 20),
        "showarrow": False,
        "xanchor": "left",
        "xshift": 3,
        "font": {"size": 10},
    }


def _values(trials: Sequence[Trial]) -> Vector:
    return np.array([trial.value for trial in trials], dtype=float)
