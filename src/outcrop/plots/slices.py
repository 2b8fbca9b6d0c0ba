"""A plot of a study's belief along each parameter, through one configuration."""

from __future__ import annotations

__all__ = ["slices"]

from collections.abc import Sequence
from math import ceil

from outcrop.plots import canvas
from outcrop.plots.canvas import Axes, AxesGiven
from outcrop.plots.slice_layers import draw_mean, mark_values
from outcrop.plots.space_slice import Drawable, SpaceSlice, reader_of
from outcrop.study.study_reader import StudyReader
from outcrop.typing import Params

MOST = 9  # panels, unless `names` lists more
COLUMNS = 3
SIZE = 4.0, 2.8  # inches of a panel


def slices(
    study: Drawable,
    names: Sequence[str] | None = None,
    at: Params | None = None,
    axes: AxesGiven = None,
) -> tuple[Axes, ...]:
    """Draw the belief along each parameter, one panel each, and return the axes.

        plots.slices(study)[0].figure.savefig("slices.png")
        plots.slices(study, ["lr", "act"], at={"depth": 3})

    A panel has the mean, the central 95 % of the belief and the trials, along one parameter; the
    others have the values of the best trial, except those that `at` sets. Trials that differ in
    them have small marks. By default, `names` are the parameters of the best trial, the most
    important first, at most nine. `axes` are axes for the first panels.
    """
    study = reader_of(study)
    believed = study.belief
    listed = (
        _most_important(study) if names is None else [names] if isinstance(names, str) else names
    )
    cuts = [SpaceSlice.of(study, (name,), at) for name in listed]
    columns = min(len(cuts), COLUMNS)
    size = (SIZE[0] * columns, SIZE[1] * ceil(len(cuts) / columns))
    drawn = canvas.panels(axes, len(cuts), columns, size, sharey=True)
    for index, (panel, cut) in enumerate(zip(drawn, cuts, strict=False)):
        draw_mean(panel, believed, cut)
        mark_values(panel, study, cut)
        panel.use_sticky_edges = False  # a margin below bars too, the same in all panels
        if index % columns and axes is None:
            panel.set_ylabel("")
    canvas.legend(drawn[0], own=axes is None, columns=6)
    return drawn


def _most_important(study: StudyReader) -> list[str]:
    """The free parameters of the best trial, by their importance."""
    best = study.best_trial.params
    return [name for name in study.importance().ranked if name in best][:MOST]
