"""Figures about the belief of a study: slices, maps, and importances."""

from __future__ import annotations

__all__ = ["importance", "maps", "slices"]

from collections.abc import Mapping

import numpy as np

from outcrop.errors import MethodError
from outcrop.plots.canvas import peaks
from outcrop.plots.parameter_axis import Axis
from outcrop.plots.slice_layers import interval
from outcrop.plots.slices import most_important
from outcrop.plots.space_slice import SpaceSlice
from outcrop.reports.figures import some_of
from outcrop.reports.plotly_values import Figure, label, number, numbers
from outcrop.study import Importance
from outcrop.study.importance import Share
from outcrop.study.study_reader import StudyReader
from outcrop.typing import Vector

SLICES = 6  # parameters
BARS = 15  # parameters
BAND = "rgba(49, 130, 189, 0.25)"
LINE, POINT = "#3182bd", "#e69f00"


def slices(study: StudyReader) -> dict[str, Figure]:
    """The belief along each of the most important parameters, through the best trial."""
    return {name: _slice(study, name) for name in most_important(study)[:SLICES]}


def _slice(study: StudyReader, name: str) -> Figure:
    cut = SpaceSlice.of(study, (name,), None)
    (x,), rows = cut.configurations()
    believed = study.belief
    mean, (low, high) = believed.predict(rows)[0], interval(believed, rows)
    data: list[Figure]
    if cut.has_categories:
        spread = {"type": "data", "array": numbers(high - mean), "arrayminus": numbers(mean - low)}
        data = [
            {
                "x": numbers(x),
                "y": numbers(mean),
                "error_y": spread,
                "mode": "markers",
                "name": "mean, 95 %",
                "marker": {"size": 10, "symbol": "line-ew-open", "color": LINE},
            }
        ]
    else:
        data = [
            {
                "x": [*numbers(x), *numbers(x[::-1])],
                "y": [*numbers(high), *numbers(low[::-1])],
                "fill": "toself",
                "fillcolor": BAND,
                "line": {"width": 0},
                "mode": "lines",
                "name": "95 %",
                "hoverinfo": "skip",
            },
            {"x": numbers(x), "y": numbers(mean), "mode": "lines", "name": "mean"}
            | {"line": {"color": LINE}},
        ]
    trials = some_of([t for t in study.trials if cut.shows(t) and t.is_observed], study.direction)
    data.append(
        {
            "x": numbers(cut.places(trials)[:, 0]),
            "y": numbers(trial.value or 0.0 for trial in trials),
            "mode": "markers",
            "name": "trials",
            "marker": {
                "color": POINT,
                "opacity": 0.8,
                "size": [9 if cut.holds(trial) else 5 for trial in trials],
            },
            "text": [f"trial {trial.number}" for trial in trials],
        }
    )
    layout = {"xaxis": _axis(cut.axes[0]), "yaxis": {"title": {"text": "value"}}}
    return {"data": data, "layout": layout | {"showlegend": False}}


def maps(study: StudyReader) -> dict[str, Figure]:
    """Mean, standard deviation and acquisition over the two numbers that matter most."""
    cut = SpaceSlice.of(study, None, None)
    if not cut.is_map:
        raise MethodError("the best configuration has less than two numbers")
    (x, y), rows = cut.configurations()
    believed = study.belief
    mean, std = believed.predict(rows)
    found = {"mean": mean, "standard deviation": std}
    search = believed.search
    if search is not None:
        score = search.score(rows)
        found[f"acquisition ({search.acquisition})"] = np.maximum(score, peaks(score)[0])
    trials = some_of([t for t in study.trials if cut.shows(t) and t.is_observed], study.direction)
    places = cut.places(trials)
    sites = {
        "x": numbers(places[:, 0]),
        "y": numbers(places[:, 1]),
        "mode": "markers",
        "marker": {"color": POINT, "size": 5, "line": {"width": 1, "color": "#ffffff"}},
        "text": [f"trial {t.number}: {t.value:.6g}" for t in trials],
        "hoverinfo": "text",
        "showlegend": False,
    }
    layout = {"xaxis": _axis(cut.axes[0]), "yaxis": _axis(cut.axes[1])}
    return {
        title: {
            "data": [
                {
                    "type": "heatmap",
                    "x": numbers(x),
                    "y": numbers(y),
                    "z": [numbers(row) for row in values.reshape(len(y), len(x))],
                    "colorscale": "Viridis",
                    "reversescale": title == "mean" and study.direction == "minimize",
                },
                sites,
            ],
            "layout": layout,
        }
        for title, values in found.items()
    }


def importance(found: Importance) -> Figure:
    """The share of the variation of each parameter, alone and with its interactions."""
    names = found.ranked[:BARS][::-1]
    layout = {
        "height": 140 + 26 * len(names),
        "barmode": "overlay",
        "xaxis": {
            "title": {"text": f"share ({found.unknown:.0%} unknown)"},
            "range": [0, 1.05],
        },
        "yaxis": {
            "tickvals": [*range(len(names))],
            "ticktext": [label(name, 30) for name in names],
            "automargin": True,
            "ticklabelstandoff": 6,
        },
    }
    data = [
        _bars(names, found.total, "with interactions", 0.7, "#9ecae1"),
        _bars(names, found.first, "alone", 0.35, "#08519c"),
    ]
    return {"data": data, "layout": layout}


def _bars(
    names: list[str], shares: Mapping[str, Share], title: str, width: float, colour: str
) -> Figure:
    return {
        "type": "bar",
        "orientation": "h",
        "x": [number(max(shares[name].mean, 0.0)) for name in names],
        "y": [*range(len(names))],
        "width": width,
        "name": title,
        "marker": {"color": colour},
        "error_x": {
            "type": "data",
            "array": [number(shares[name].std) for name in names],
            "color": "#808080",
        },
    }


def _axis(axis: Axis) -> Figure:
    """A parameter as an axis, on its own scale; categories are named."""
    layout: Figure = {"title": {"text": label(axis.name)}}
    if axis.is_log:
        layout["type"] = "log"
    if axis.is_named:
        values, names = axis.ticks(0)
        places: Vector = axis.places(values)
        layout["tickvals"] = numbers(places)
        layout["ticktext"] = [label(name.replace(r"\$", "$"), 18) for name in names]
        layout["range"] = [-0.5, len(names) - 0.5]
        layout["ticklabeloverflow"] = "allow"
    return layout
