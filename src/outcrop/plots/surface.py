"""A map of a function of two parameters with the trials of a search."""

from __future__ import annotations

__all__ = ["surface_2d"]

from collections.abc import Callable

import numpy as np

from outcrop.errors import ShapeError
from outcrop.plots import canvas
from outcrop.plots.canvas import Axes
from outcrop.typing import Matrix, Points, Vector

GRID = 121


def surface_2d(
    function: Callable[[Points], Vector],
    bounds: Matrix,
    points: Points,
    best: int | None = None,
    names: tuple[str, str] = ("x1", "x2"),
    axes: Axes | None = None,
) -> Axes:
    """Draw `function` as a shaded map, the trials at `points` in order, and the best of them.

    `function` maps `(n, 2)` points in native units to values, smaller is better. The first trials
    are white, the last ones black.
    """
    bounds, points = np.asarray(bounds, dtype=float), np.asarray(points, dtype=float)
    if bounds.shape != (2, 2) or points.ndim != 2 or points.shape[1] != 2:
        shapes = f"{bounds.shape} and {points.shape}"
        raise ShapeError(f"expected bounds (2, 2) and points (n, 2), got {shapes}")
    axes = canvas.axes_or_new(axes, (6.4, 5.2))
    x, y = (np.linspace(low, high, GRID) for low, high in bounds)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    values = function(grid.reshape(-1, 2))
    limits = float(values.min()), float(values.max())
    canvas.shaded(axes, x, y, values, "Blues_r", limits, "objective")
    order = np.arange(len(points))
    axes.scatter(
        points[:, 0],
        points[:, 1],
        c=order,
        cmap="Greys",
        vmin=0,
        vmax=max(len(points) - 1, 1),  # no points, no scale, with older versions of matplotlib
        edgecolors=canvas.INK,
        linewidths=0.7,
        s=28,
        zorder=3,
    )
    if best is not None:
        axes.plot(
            *points[best],
            marker="*",
            ms=18,
            mfc="tab:red",
            mec="white",
            ls="",
            label="best",
            zorder=4,
        )
        axes.legend(loc="upper right")
    axes.set(xlabel=names[0], ylabel=names[1], xlim=bounds[0], ylim=bounds[1])
    return axes
