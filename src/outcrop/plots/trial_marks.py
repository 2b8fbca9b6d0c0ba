"""Trials as marks in a picture."""

from __future__ import annotations

__all__ = ["mark_sites", "mark_values"]

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from outcrop.plots import canvas
from outcrop.plots.canvas import Style
from outcrop.plots.space_slice import SpaceSlice
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial
from outcrop.typing import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kinds: TypeAlias = list[tuple[str, list[Trial], Style]]  # label, trials, look


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
