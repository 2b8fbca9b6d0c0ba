"""A plot of the importance of parameters."""

from __future__ import annotations

__all__ = ["importance"]

import numpy as np

from outcrop.plots import canvas
from outcrop.plots.canvas import Axes, AxesGiven, Style
from outcrop.plots.parameter_axis import shortened
from outcrop.plots.space_slice import Drawable, reader_of
from outcrop.study import Importance
from outcrop.study.importance import Share

MOST = 12  # parameters of a panel
COLUMNS = 3
WIDTH, ROW, REST = 5.0, 0.28, 1.2  # inches of a panel, of a parameter, and of a panel's labels
THICK, THIN = 0.7, 0.34  # bars of the total share and of the one alone; parameters are 1 apart
LETTERS = 32  # of a name


def importance(study: Drawable, region: str = "all", axes: AxesGiven = None) -> tuple[Axes, ...]:
    """Draw the share of the variation that each parameter causes, and return the axes.

        plots.importance(study, region="best")[0].figure.savefig("importance.png")

    Bars are total shares, with interactions; the dark bars inside are those of the parameter alone.
    Lines are standard deviations under the belief. A conditional space has a panel for all of it,
    and one for each branch. `region` is as for `study.importance`; `axes` are axes for the
    first panels.
    """
    whole = reader_of(study).importance(region)
    found = [whole, *whole.branches]
    rows = max(min(len(each.total), MOST) for each in found)
    columns = min(len(found), COLUMNS)
    size = (WIDTH * columns, (ROW * rows + REST) * -(-len(found) // columns))
    drawn = canvas.panels(axes, len(found), columns, size)
    for panel, each in zip(drawn, found, strict=False):
        _draw(panel, each)
    canvas.legend(drawn[0], own=axes is None)
    return drawn


def _draw(axes: Axes, found: Importance) -> None:
    names = found.ranked[:MOST]
    places = np.arange(len(names), dtype=float)
    spread: Style = {"ecolor": canvas.INK, "elinewidth": 1.0}
    whole: Style = {"color": canvas.SHADE, "ec": canvas.FAINT, "label": "with interactions"}
    own: Style = {"color": canvas.FAINT, "ec": canvas.INK, "label": "alone"}
    for shares, thick, look in ((found.total, THICK, whole), (found.first, THIN, own)):
        means, stds = _numbers([shares[name] for name in names])
        axes.barh(places, np.maximum(means, 0.0), thick, xerr=stds, error_kw=spread, **look)
    axes.set_yticks(places, [shortened(name, LETTERS) for name in names])
    axes.invert_yaxis()
    held = ", ".join(f"{choice} = {option}" for choice, option in found.branch.items())
    axes.set_title(shortened(held, LETTERS), fontsize="medium")
    where = {"all": "", "best": " in the best quarter"}[found.region]
    axes.set(
        xlim=(0.0, 1.02), xlabel=f"share of the variation{where} ({found.unknown:.0%} unknown)"
    )


def _numbers(shares: list[Share]) -> tuple[list[float], list[float]]:
    return [share.mean for share in shares], [share.std for share in shares]
