"""A plot of a study's belief and acquisition along one or two parameters."""

from __future__ import annotations

__all__ = ["belief"]

from collections.abc import Sequence

import numpy as np

from outcrop.plots import canvas
from outcrop.plots.canvas import Axes, AxesGiven, Style
from outcrop.plots.slice_layers import (
    draw_curve,
    draw_map,
    mark_sites,
    mark_values,
    mean_shades,
)
from outcrop.plots.space_slice import Drawable, SpaceSlice, reader_of
from outcrop.study import ObjectiveBelief
from outcrop.study.study_reader import StudyReader
from outcrop.typing import Params


def belief(
    study: Drawable,
    names: str | Sequence[str] | None = None,
    at: Params | None = None,
    axes: AxesGiven = None,
) -> tuple[Axes, ...]:
    """Draw the belief along one parameter or two, and return the axes.

        plots.belief(study)[0].figure.savefig("belief.png")
        plots.belief(study, "lr", at={"act": "tanh"})

    Along one parameter: the mean, the central 95 % of the belief, the data, and the acquisition
    below. Along two: mean, standard deviation and acquisition side by side. There is no acquisition
    during the initial design. The other parameters have the values that `at` sets, or else those of
    the best trial; trials that differ in them have small marks. By default, `names` are the numbers
    along which the belief changes fastest. Along a choice, each option has the parameters of its
    best trial. `axes` are axes for the first panels.
    """
    study = reader_of(study)
    believed = study.belief
    cut = SpaceSlice.of(study, names, at)
    draw = _maps if cut.is_map else _curve
    return draw(study, believed, cut, axes)


def _curve(
    study: StudyReader, believed: ObjectiveBelief, cut: SpaceSlice, axes: AxesGiven
) -> tuple[Axes, ...]:
    (x,), rows = cut.configurations()
    search = believed.search
    if axes is None and search is None:
        drawn: tuple[Axes, ...] = (canvas.axes_or_new(),)
    else:
        drawn = canvas.panels(axes, 2, 1, (7.0, 5.0), sharex=True, height_ratios=(4, 1))
    main = drawn[0]
    draw_curve(main, believed, cut, x, rows)
    mark_values(main, study, cut)
    if search is not None:
        score = search.score(rows)
        line: Style = {"color": canvas.INK, "lw": 1.0, "ls": ":", "zorder": 1}
        for panel in drawn:
            panel.axvline(x[int(np.argmax(score))], label="acquisition's maximum", **line)
        if len(drawn) > 1:
            separate = cut.has_categories
            canvas.draw_score(drawn[1], x, score, search.acquisition, separate=separate)
    main.set_ylabel("objective")
    for panel in drawn:
        cut.dress(panel)
    if len(drawn) > 1:
        main.set_xlabel("")
    cut.label_rest(drawn[-1:])
    canvas.legend(main, own=axes is None)
    return drawn


def _maps(
    study: StudyReader, believed: ObjectiveBelief, cut: SpaceSlice, axes: AxesGiven
) -> tuple[Axes, ...]:
    (x, y), rows = cut.configurations()
    search = believed.search
    mean, std = believed.predict(rows)
    maps = [
        ("mean", mean, *mean_shades(mean, believed)),
        ("standard deviation", std, "Oranges", canvas.shown(std, "low")),
    ]
    peak = None
    if search is not None:
        score = search.score(rows)
        peak = divmod(int(np.argmax(score)), len(x))
        limits = canvas.peaks(score)
        maps.append((search.acquisition, score, "Greens", limits))
    size = (4.4 * len(maps), 4.0)
    drawn = canvas.panels(axes, len(maps), len(maps), size, sharex=True, sharey=True)
    for panel, (title, values, shades, limits) in zip(drawn, maps, strict=False):
        draw_map(panel, cut, (x, y), values, shades, limits)
        panel.set_title(title, fontsize="medium")
        cut.dress(panel)
        mark_sites(panel, study, cut)
        if peak is not None:
            style = canvas.on_map(canvas.NEXT)
            panel.plot(x[peak[1]], y[peak[0]], label="acquisition's maximum", **style)
        if panel is not drawn[0]:
            panel.set_ylabel("")
    cut.label_rest(drawn)
    canvas.legend(drawn[0], own=axes is None, columns=6)
    return drawn
