"""Figures, and the style that all pictures share.

All pictures are legible in black and white: shades differ in lightness, marks in shape, and lines
in dashes.
"""

from __future__ import annotations

__all__ = [
    "Axes",
    "AxesGiven",
    "Style",
    "BAR",
    "BEST",
    "CENTRE",
    "DATA",
    "ELSEWHERE",
    "FAILED",
    "FAINT",
    "INK",
    "NEXT",
    "PAPER",
    "RUNNING",
    "SHADE",
    "along_bottom",
    "axes_or_new",
    "draw_score",
    "legend",
    "new_figure",
    "on_map",
    "panels",
    "peaks",
    "shaded",
    "shown",
]

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from outcrop.errors import MethodError, MissingExtra
from outcrop.notebook import in_notebook
from outcrop.typing import Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:
    Axes = Figure = Any  # loaded when the first figure is made

AxesGiven: TypeAlias = "Axes | Sequence[Axes] | None"  # to draw panels on; None for new ones
Style: TypeAlias = dict[str, Any]  # keyword arguments of matplotlib

INK = "#1b1b1b"
PAPER = "#ffffff"
SHADE, FAINT = "0.85", "0.6"  # greys of areas and of secondary lines
LEVELS = 24  # shades of a map
COLOURS = 256  # in a colour map of matplotlib
BAR = 0.5  # width of a bar of a category; categories are 1 apart
FLAT = 1e-6  # relative range below which values are drawn as constant
GROUND = 0.03  # height of marks without a value, as a share of the axes' height
FAR = 4.0  # range that is shown, in distances from the best value to the median
DEPTH = 10.0  # range of an acquisition that is shown, below its peak
TO_FILES = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}  # backends that show nothing

_MARK: Style = {"ls": "", "color": INK, "zorder": 5}
DATA = _MARK | {"marker": "o", "ms": 5.5, "mfc": PAPER, "mew": 1.1}
ELSEWHERE = _MARK | {"marker": "o", "ms": 3.2, "mfc": PAPER, "mew": 0.7, "zorder": 4}
BEST = _MARK | {"marker": "*", "ms": 15, "mfc": PAPER, "mew": 1.2, "zorder": 7}
NEXT = _MARK | {"marker": "D", "ms": 7.5, "mfc": INK, "mec": PAPER, "mew": 1.3, "zorder": 6}
CENTRE = _MARK | {"marker": "P", "ms": 9, "mfc": INK, "mec": PAPER, "mew": 1.0, "zorder": 6}
FAILED = _MARK | {"marker": "x", "ms": 7, "mew": 1.8}
RUNNING = _MARK | {"marker": "|", "ms": 11, "mew": 2.2}


def new_figure(size: tuple[float, float]) -> Figure:
    """A figure of pyplot in a notebook, elsewhere one without a window.

    A notebook shows the figures of pyplot below the cell that made them, and closes them. Nobody
    closes them elsewhere, so that pyplot does not get to know of them. `MissingExtra` without
    matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("pictures need matplotlib: pip install 'outcrop[plot]'") from None
    make = _pyplot_figure if in_notebook() and _shows_figures() else Figure
    return make(figsize=size, layout="constrained", facecolor=PAPER)


def _shows_figures() -> bool:
    from matplotlib import get_backend

    return get_backend().lower() not in TO_FILES


def _pyplot_figure(**look: Any) -> Figure:
    """A figure of pyplot, without its warning if a cell draws many: they are closed at its end."""
    from matplotlib import pyplot, rcParams

    most = rcParams["figure.max_open_warning"]
    rcParams["figure.max_open_warning"] = 0
    try:
        return pyplot.figure(**look)
    finally:
        rcParams["figure.max_open_warning"] = most


def axes_or_new(axes: Axes | None = None, size: tuple[float, float] = (7.0, 4.2)) -> Axes:
    """`axes` itself, or the axes of a new figure."""
    return new_figure(size).add_subplot() if axes is None else axes


def panels(
    axes: AxesGiven, count: int, columns: int, size: tuple[float, float], **layout: Any
) -> tuple[Axes, ...]:
    """The axes a user gave, at most `count`, or `count` of a new figure with so many columns.

    `layout` are further arguments of `Figure.subplots`.
    """
    if axes is None:
        rows = ceil(count / columns)
        drawn = tuple(new_figure(size).subplots(rows, columns, squeeze=False, **layout).flat)
        for empty in drawn[count:]:
            empty.remove()
        return drawn[:count]
    given = tuple(np.atleast_1d(np.asarray(axes, dtype=object)).flat)
    if not 1 <= len(given) <= count:
        raise MethodError(
            f"axes: this picture has {count} panels, got {len(given)} axes; give one for each, or "
            "leave axes out"
        )
    return given


def legend(axes: Axes | Sequence[Axes], own: bool, columns: int = 4) -> None:
    """A legend above the figure if it is our own, otherwise inside the user's axes.

    `axes` are one or several; each has entries.
    """
    several = np.atleast_1d(np.asarray(axes, dtype=object))
    if own:
        found = [panel.get_legend_handles_labels() for panel in several]
        several[0].figure.legend(
            [handle for handles, _ in found for handle in handles],
            [label for _, labels in found for label in labels],
            loc="outside upper left",
            ncols=columns,
            frameon=False,
            fontsize="small",
        )
        return
    for panel in several:
        if panel.get_legend_handles_labels()[0]:
            panel.legend(fontsize="small")


def along_bottom(axes: Axes, x: Vector, label: str, style: Style) -> None:
    """Marks at the bottom of the axes, of trials without a value."""
    ground = axes.get_xaxis_transform()
    axes.plot(x, np.full(len(x), GROUND), transform=ground, label=label, **style)


def on_map(style: Style) -> Style:
    """A mark that is not clipped at the edge of a map and is visible on dark areas."""
    from matplotlib.patheffects import withStroke

    whole = style | {"clip_on": False}
    if "mfc" in style:
        return whole
    return whole | {"path_effects": [withStroke(linewidth=style["mew"] + 2, foreground=PAPER)]}


def shown(values: Matrix, better: str) -> tuple[float, float]:
    """The range of `values` to show, from their `better` end ("low" or "high").

    A heavy tail on the other side is cut off.
    """
    low, middle, high = (float(value) for value in np.quantile(values, (0.0, 0.5, 1.0)))
    if better == "low":
        return low, min(high, low + FAR * (middle - low)) if middle > low else high
    return max(low, high - FAR * (high - middle)) if middle < high else low, high


def draw_score(axes: Axes, x: Vector, score: Vector, label: str, *, separate: bool = False) -> None:
    """Draw an acquisition as a curve over a filled area, or as bars where `x` are categories."""
    bottom, _ = peaks(score)
    shown = np.maximum(score, bottom)
    if separate:
        axes.bar(x, shown - bottom, BAR, bottom=bottom, color=SHADE, ec=INK, lw=1.0)
    else:
        axes.fill_between(x, bottom, shown, color=SHADE, lw=0)
        axes.plot(x, shown, color=INK, lw=1.0)
    axes.set_ylabel(label)


def peaks(score: Vector) -> tuple[float, float]:
    """The range of an acquisition to show."""
    top = float(score.max())
    return max(float(score.min()), top - DEPTH), top


def shaded(
    axes: Axes,
    x: Vector,
    y: Vector,
    values: Matrix,
    shades: str,
    limits: tuple[float, float],
    label: str = "",
    *,
    cells: bool = False,
) -> None:
    """A map of `values` at all `x` for each of `y`, clipped to `limits`, with a colour bar.

    With `cells`, each value fills a cell, and `x` and `y` are the cells' edges.
    """
    from matplotlib.colors import BoundaryNorm
    from matplotlib.ticker import MaxNLocator

    low, high = limits
    beyond = bool(values.min() < low), bool(values.max() > high)
    high = max(high, low + FLAT * max(abs(low), FLAT))
    levels = np.linspace(low, high, LEVELS + 1)
    clipped = np.clip(values, low, high)
    extend = {(True, False): "min", (False, True): "max"}.get(beyond, "neither")
    filled: Any
    if cells:
        grid = clipped.reshape(len(y) - 1, len(x) - 1)
        filled = axes.pcolormesh(x, y, grid, cmap=shades, norm=BoundaryNorm(levels, COLOURS))
    else:
        grid = clipped.reshape(len(y), len(x))
        filled = axes.contourf(x, y, grid, levels=levels, cmap=shades, extend=extend)
    ticks = np.asarray(MaxNLocator(6).tick_values(low, high))
    within = ticks[(ticks >= low) & (ticks <= high)]  # others would be drawn at the ends
    axes.figure.colorbar(filled, ax=axes, ticks=within, label=label).minorticks_off()
