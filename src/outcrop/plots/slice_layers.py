"""What pictures of a slice share: the mean of the belief, and the trials as marks.

The mean is a curve with a band along one parameter, and a map along two.
"""

from __future__ import annotations

__all__ = [
    "draw_curve",
    "draw_map",
    "draw_mean",
    "interval",
    "mark_sites",
    "mark_values",
    "mean_shades",
]

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from outcrop.plots import canvas
from outcrop.plots.canvas import Axes, Style
from outcrop.plots.space_slice import SpaceSlice
from outcrop.special import ndtr
from outcrop.strategies.model_based import UnitBelief
from outcrop.study import ObjectiveBelief
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial
from outcrop.typing import Matrix, Params, Vector

Kinds: TypeAlias = list[tuple[str, list[Trial], Style]]  # label, trials, look

Z = 1.959964  # standard deviations to either side that hold 95 % of a normal distribution
HALVINGS = 60


def draw_mean(axes: Axes, believed: ObjectiveBelief, cut: SpaceSlice) -> None:
    """Draw a curve with its band, or a map with its scale, and label the axes."""
    places, rows = cut.configurations()
    if cut.is_map:
        mean, _ = believed.predict(rows)
        draw_map(axes, cut, places, mean, *mean_shades(mean, believed), "believed mean")
    else:
        draw_curve(axes, believed, cut, places[0], rows)
        axes.set_ylabel("objective")
    cut.dress(axes)


def draw_map(
    axes: Axes,
    cut: SpaceSlice,
    places: Sequence[Vector],
    values: Vector,
    shades: str,
    limits: tuple[float, float],
    label: str = "",
) -> None:
    """Draw values at the configurations of a slice as a map; categories are rows of cells."""
    x, y = places
    cells = cut.has_categories
    if cells:
        x, y = (axis.edges(along) for axis, along in zip(cut.axes, places, strict=True))
    canvas.shaded(axes, x, y, values, shades, limits, label, cells=cells)


def draw_curve(
    axes: Axes, believed: ObjectiveBelief, cut: SpaceSlice, x: Vector, rows: Sequence[Params]
) -> None:
    """Draw the mean and the central 95 % of the belief at configurations placed at `x`.

    They are a curve and a band, or a line and a bar for each category.
    """
    low, high = interval(believed, rows)
    mean, _ = believed.predict(rows)
    look: Style = {"color": canvas.SHADE, "lw": 0, "label": "95 % of the belief"}
    if cut.has_categories:
        axes.bar(x, high - low, canvas.BAR, bottom=low, **look)
        axes.use_sticky_edges = False  # a margin below the bars too, as around a curve
        half = canvas.BAR / 2
        x = np.column_stack([x - half, x + half, np.full(len(x), np.nan)]).ravel()
        mean = np.repeat(mean, 3)
    else:
        axes.fill_between(x, low, high, **look)
    axes.plot(x, mean, color=canvas.INK, lw=1.8, label="mean")


def mean_shades(mean: Vector, believed: ObjectiveBelief) -> tuple[str, tuple[float, float]]:
    """A colour map in which better values are darker, and the range of means to show."""
    if believed.sign < 0:
        return "Blues", canvas.shown(mean, "high")
    return "Blues_r", canvas.shown(mean, "low")


def interval(believed: ObjectiveBelief, rows: Sequence[Params]) -> tuple[Vector, Vector]:
    """The central 95 % of the belief at each configuration, in the objective's units."""
    if not isinstance(believed.believed, UnitBelief):
        mean, std = believed.predict(rows)
        return mean - Z * std, mean + Z * std
    mixture, outcome = believed.believed.mixture, believed.believed.outcome
    means, variances = mixture.predict_each(believed.space.unconstrained.encode(rows).X)
    stds = np.sqrt(variances)
    lower, upper = (
        believed.sign * outcome.invert(_quantile(means, stds, mixture.weights, z)) for z in (-Z, Z)
    )
    return np.minimum(lower, upper), np.maximum(lower, upper)


def _quantile(means: Matrix, stds: Matrix, weights: Vector, z: float) -> Vector:
    """The quantile of probability Φ(z) of a mixture of normal distributions, by bisection."""
    ends = means + z * stds  # quantiles of the components, between which the mixture's lies
    low, high = ends.min(0), ends.max(0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = weights @ ndtr((middle - means) / stds) < ndtr(np.array(z))
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def mark_values(axes: Axes, study: StudyReader, cut: SpaceSlice) -> None:
    """Mark values along the one axis of `cut`; trials without a value are at the bottom."""
    for label, trials, style in _kinds(study, cut):
        x = cut.places(trials)[:, 0]
        if trials[0].value is None:
            canvas.along_bottom(axes, x, label, style)
        else:
            axes.plot(x, _values(trials), label=label, **style)
    told = [trial for trial in study.trials if trial.std and cut.shows(trial) and cut.holds(trial)]
    if told:
        axes.errorbar(
            cut.places(told)[:, 0],
            _values(told),
            yerr=np.array([trial.std for trial in told], dtype=float),
            fmt="none",
            ecolor=canvas.INK,
            elinewidth=1.0,
            capsize=3,
            zorder=4,
            label="± told std",
        )


def mark_sites(axes: Axes, study: StudyReader, cut: SpaceSlice) -> None:
    """Mark the positions of trials on a map, or along the bottom if `cut` has one axis."""
    for label, trials, style in _kinds(study, cut):
        places = cut.places(trials)
        if places.shape[1] == 2:
            axes.plot(*places.T, label=label, **canvas.on_map(style))
        else:
            canvas.along_bottom(axes, places[:, 0], label, style)


def _values(trials: Sequence[Trial]) -> Vector:
    return np.array([trial.value for trial in trials], dtype=float)


def _kinds(study: StudyReader, cut: SpaceSlice) -> Kinds:
    """The kinds of trials in a slice, with their labels and styles."""
    trials = [trial for trial in study.trials if cut.shows(trial)]
    finished = [trial for trial in trials if trial.value is not None]
    inside = [trial for trial in finished if cut.holds(trial)]
    best = study.best_trial.number
    kinds: Kinds = [
        ("data", [trial for trial in inside if trial.number != best], canvas.DATA),
        ("data elsewhere", [t for t in finished if not cut.holds(t)], canvas.ELSEWHERE),
        ("best", [trial for trial in inside if trial.number == best], canvas.BEST),
        ("failed", [trial for trial in trials if trial.state == "failed"], canvas.FAILED),
        ("running", [trial for trial in trials if trial.state == "running"], canvas.RUNNING),
    ]
    return [kind for kind in kinds if kind[1]]
