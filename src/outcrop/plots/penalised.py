"""A plot of the acquisition with and without the effect of running trials."""

from __future__ import annotations

__all__ = ["penalised"]

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from outcrop.acquisition import Acquisition
from outcrop.errors import MethodError
from outcrop.plots import canvas
from outcrop.plots.canvas import Axes, AxesGiven
from outcrop.plots.slice_layers import draw_map, mark_sites
from outcrop.plots.space_slice import Drawable, SpaceSlice, reader_of
from outcrop.space import Space
from outcrop.strategies import View
from outcrop.strategies.wrapped_model import model_of, with_model
from outcrop.study.objective_belief import ObjectiveBelief, Search
from outcrop.study.study_reader import StudyReader
from outcrop.surrogates import Mixture
from outcrop.typing import Params, Rng

TITLES = "as if nothing were running", "running trials accounted for"


def penalised(
    study: Drawable,
    names: str | Sequence[str] | None = None,
    at: Params | None = None,
    axes: AxesGiven = None,
) -> tuple[Axes, ...]:
    """Draw the acquisition without and with running trials, and return both axes.

        plots.penalised(study)[0].figure.savefig("penalised.png")

    The two panels are one above the other along one parameter, and side by side along two, each in
    its own units; running trials and the maximum are marked. `names`, `at` and `axes` are as for
    `belief`.
    """
    study = reader_of(study)
    believed = study.belief
    searches = _searches(study, believed)
    cut = SpaceSlice.of(study, names, at)
    draw = _maps if cut.is_map else _curves
    return draw(study, searches, cut, axes)


def _searches(study: StudyReader, believed: ObjectiveBelief) -> tuple[Search, Search]:
    """The acquisitions that are maximised without and with running trials."""
    if not any(trial.state == "running" for trial in study.trials):
        raise MethodError("no trial is running, so that both acquisitions are equal; ask for one")
    unaware, model = believed, model_of(believed.strategy)
    if model is not None:
        ignoring = with_model(believed.strategy, replace(model, pending=_Ignore()))
        unaware = replace(believed, strategy=ignoring)
    before, after = unaware.search, believed.search
    if before is None or after is None:
        raise MethodError(
            "no acquisition is maximised: the initial design is incomplete, or the method has none"
        )
    return before, after


@dataclass(frozen=True)
class _Ignore:
    """A pending policy that ignores running trials."""

    def account(
        self, view: View, space: Space, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> tuple[Mixture, Acquisition]:
        return posterior, acquisition


def _curves(
    study: StudyReader, searches: Sequence[Search], cut: SpaceSlice, axes: AxesGiven
) -> tuple[Axes, ...]:
    (x,), rows = cut.configurations()
    drawn = canvas.panels(axes, 2, 1, (7.0, 5.0), sharex=True)
    busy = [t for t in study.trials if t.state == "running" and cut.shows(t)]
    for panel, search, title in zip(drawn, searches, TITLES, strict=False):
        score = search.score(rows)
        separate = cut.has_categories
        canvas.draw_score(panel, x, score, search.acquisition, separate=separate)
        for place in cut.places(busy)[:, 0] if busy else ():
            panel.axvline(place, color=canvas.FAINT, lw=0.8, ls="--", zorder=1)
        _mark(panel, study, cut, ([x[int(np.argmax(score))]], [score.max()]))
        panel.set_title(title, fontsize="medium")
        cut.dress(panel)
    for panel in drawn[:-1]:
        panel.set_xlabel("")
    cut.label_rest(drawn[-1:])
    canvas.legend(drawn[0], own=axes is None, columns=6)
    return drawn


def _maps(
    study: StudyReader, searches: Sequence[Search], cut: SpaceSlice, axes: AxesGiven
) -> tuple[Axes, ...]:
    (x, y), rows = cut.configurations()
    drawn = canvas.panels(axes, 2, 2, (9.6, 4.2), sharex=True, sharey=True)
    for panel, search, title in zip(drawn, searches, TITLES, strict=False):
        score = search.score(rows)
        limits = canvas.peaks(score)
        draw_map(panel, cut, (x, y), score, "Greens", limits, search.acquisition)
        row, column = divmod(int(np.argmax(score)), len(x))
        panel.set_title(title, fontsize="medium")
        cut.dress(panel)
        _mark(panel, study, cut, ([x[column]], [y[row]]))
        if panel is not drawn[0]:
            panel.set_ylabel("")
    cut.label_rest(drawn)
    canvas.legend(drawn[0], own=axes is None, columns=6)
    return drawn


def _mark(
    panel: Axes, study: StudyReader, cut: SpaceSlice, peak: tuple[list[float], list[float]]
) -> None:
    mark_sites(panel, study, cut)
    panel.plot(*peak, label="maximum", **canvas.on_map(canvas.NEXT))
