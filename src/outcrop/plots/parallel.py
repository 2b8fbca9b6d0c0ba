"""Parallel coordinates: a line for each trial through an axis for each parameter.

Heights are 0 to 1 along every axis. A parameter that is inactive in a trial has its line pass below
the axis.
"""

from __future__ import annotations

__all__ = ["parallel"]

from collections.abc import Sequence

import numpy as np

from outcrop.errors import NoBelief, ParamsError
from outcrop.plots import canvas
from outcrop.plots.canvas import Axes, Style
from outcrop.plots.parameter_axis import Axis, shortened
from outcrop.plots.space_slice import Drawable, reader_of
from outcrop.space import Space
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial
from outcrop.typing import Vector

WIDTH, HEIGHT = 1.3, 3.6  # inches for an axis, and of the picture
INACTIVE = -0.12  # height of a line where its parameter is inactive
LETTERS = 24  # of a name
FEWEST = 3  # ticks of a number, and of the values
PALEST, DARKEST = 0.25, 1.0  # of the colours of the worst and of the best value


def parallel(study: Drawable, names: Sequence[str] | None = None, axes: Axes | None = None) -> Axes:
    """Draw a line for each trial through its parameters and its value, and return the axes.

        plots.parallel(study).figure.savefig("parallel.png")
        plots.parallel(study, ["act", "lr", "model"])

    Better trials are darker and drawn above the others, the best one is thick, and failed ones are
    dotted and have no value. Lines pass below the axes of parameters that are inactive in their
    trials. `names` are the parameters in their order, by default all that are not fixed. Values far
    worse than the median are drawn at the end of their axis.
    """
    study = reader_of(study)
    along = _axes_of(study.space, names)
    trials = [trial for trial in study.trials if not trial.aside]
    finished = [trial for trial in trials if trial.value is not None]
    failed = [trial for trial in trials if trial.state == "failed"]
    if not finished and not failed:
        raise NoBelief("there is no trial to draw yet; tell or add a value first")
    drawn = canvas.axes_or_new(axes, (WIDTH * (len(along) + 1) + 0.6, HEIGHT))
    _draw_failed(drawn, along, failed)
    if finished:
        _draw_finished(drawn, study, along, finished)
    for place, axis in enumerate(along):
        values, texts = axis.ticks(FEWEST)
        _dress(drawn, place, _height(axis, values), texts)
    if any(axis.name not in trial.params for axis in along for trial in [*finished, *failed]):
        drawn.text(-0.1, INACTIVE, "inactive", ha="right", va="center", fontsize="x-small")
    labels = [*(shortened(axis.name, LETTERS) for axis in along), "value"]
    drawn.set_xticks(range(len(labels)), labels, rotation=20, ha="right", rotation_mode="anchor")
    drawn.set(xlim=(-0.5, len(along) + 0.6), ylim=(INACTIVE - 0.05, 1.05))
    drawn.set_yticks([])
    for side in drawn.spines.values():
        side.set_visible(False)
    canvas.legend(drawn, own=axes is None)
    return drawn


def _axes_of(space: Space, names: Sequence[str] | None) -> list[Axis]:
    known = {column.name: Axis(column) for column in space.columns}
    listed = [*known] if names is None else [names] if isinstance(names, str) else [*names]
    for name in listed:
        if name not in known:
            what = "is fixed" if name in space.parameters else "is not in the space"
            raise ParamsError(f"names: {name!r} {what}; expected some of {[*known]}")
    if not listed or len(set(listed)) < len(listed):
        raise ParamsError(f"names={names!r}: expected different ones of {[*known]}")
    return [known[name] for name in listed]


def _draw_failed(axes: Axes, along: Sequence[Axis], trials: Sequence[Trial]) -> None:
    for index, trial in enumerate(trials):
        label = None if index else "failed"
        look: Style = {"color": canvas.INK, "lw": 1.0, "ls": ":", "zorder": 2.5}
        axes.plot(range(len(along)), _heights(along, trial), label=label, **look)


def _draw_finished(
    axes: Axes, study: StudyReader, along: Sequence[Axis], trials: Sequence[Trial]
) -> None:
    from matplotlib import colormaps

    values = np.array([trial.value for trial in trials], dtype=float)
    better = "high" if study.direction == "maximize" else "low"
    low, high = canvas.shown(values, better)
    span = high - low if high > low else 1.0
    height = np.clip((values - low) / span, 0.0, 1.0)
    good = height if better == "high" else 1.0 - height
    best = study.best_trial.number
    for index in np.argsort(good, kind="stable"):
        line = np.append(_heights(along, trials[index]), height[index])
        look: Style = {
            "color": colormaps["Blues"](PALEST + (DARKEST - PALEST) * good[index]),
            "lw": 1.2,
            "zorder": 2,
        }
        if trials[index].number == best:
            look = {"color": canvas.INK, "lw": 2.8, "zorder": 3, "label": "best"}
        axes.plot(range(len(line)), line, **look)
    ticks = np.linspace(low, high, FEWEST) if high > low else np.array([low])
    _dress(axes, len(along), (ticks - low) / span, [f"{tick:.3g}" for tick in ticks])


def _heights(along: Sequence[Axis], trial: Trial) -> Vector:
    return np.array(
        [
            _height(axis, [trial.params[axis.name]])[0] if axis.name in trial.params else INACTIVE
            for axis in along
        ]
    )


def _height(axis: Axis, values: Sequence[object]) -> Vector:
    """The heights of values along an axis."""
    encoded = axis.column.codec.encode(values)
    levels = axis.column.levels
    if levels == 1:
        return np.full(len(encoded), 0.5)
    return encoded / (levels - 1) if axis.is_category and levels is not None else encoded


def _dress(axes: Axes, place: int, heights: Vector, texts: Sequence[str]) -> None:
    """A vertical axis with ticks and their texts at its right."""
    axes.plot([place, place], [0.0, 1.0], color=canvas.INK, lw=1.0, zorder=4)
    for height, text in zip(heights, texts, strict=True):
        axes.plot([place, place + 0.03], [height, height], color=canvas.INK, lw=1.0, zorder=4)
        box = {"fc": canvas.PAPER, "ec": "none", "alpha": 0.75, "pad": 0.6}
        axes.text(place + 0.05, height, text, va="center", fontsize="x-small", bbox=box, zorder=5)
