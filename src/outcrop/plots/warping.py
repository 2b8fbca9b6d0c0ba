"""A plot of the input warping of a warped model."""

from __future__ import annotations

__all__ = ["warping"]

from collections.abc import Sequence
from math import ceil

import numpy as np

from outcrop.errors import ParamsError
from outcrop.kernels import Warp
from outcrop.plots import canvas
from outcrop.plots.belief_parts import InnerKernel, inner_kernels, warped
from outcrop.plots.canvas import Axes, AxesGiven
from outcrop.plots.parameter_axis import Axis
from outcrop.plots.space_slice import FINE, Drawable, numbers_of, reader_of
from outcrop.space import Column
from outcrop.typing import Matrix, Vector

ACROSS = 4  # panels in a row, at most
HINT = "use method='warped', or oc.Method(surrogate=oc.surrogates.Warped())"


def warping(
    study: Drawable, names: str | Sequence[str] | None = None, axes: AxesGiven = None
) -> tuple[Axes, ...]:
    """Draw the warping of each number, one curve for each chain, and return the axes.

        plots.warping(study)[0].figure.savefig("warping.png")

    Where a curve is steep, the model stretches the parameter's range; where it is flat, the model
    compresses it. The mean of the chains is bold, and the dashed line is the identity. By default,
    `names` are all warped parameters; `axes` are one for each.
    """
    study = reader_of(study)
    found = inner_kernels(study, Warp, HINT)
    chosen = _chosen([Axis(column) for column in numbers_of(study.space)], found, names)
    rows = ceil(len(chosen) / ACROSS)
    columns = ceil(len(chosen) / rows)
    size = (2.6 * columns + 0.6, 2.5 * rows + 0.5)
    drawn = canvas.panels(axes, len(chosen), columns, size, sharey=True)
    u = np.linspace(0.0, 1.0, FINE)
    for panel, axis in zip(drawn, chosen, strict=False):
        x = axis.from_unit(u)
        curves, weights = _curves(found, axis.column, u)
        for index, curve in enumerate(curves):
            label = None if index else "a chain's warping"
            panel.plot(x, curve, color=canvas.FAINT, lw=0.8, label=label)
        panel.plot(x, u, color=canvas.INK, lw=1.0, ls="--", label="no warping")
        panel.plot(x, weights @ curves, color=canvas.INK, lw=2.2, label="mean of the chains")
        axis.dress(panel, "x")
        panel.set_ylim(0.0, 1.0)
        spec = panel.get_subplotspec()
        if spec is None or spec.is_first_col():
            panel.set_ylabel("warped position")
    canvas.legend(drawn[0], own=axes is None)
    return drawn


def _chosen(
    numbers: Sequence[Axis], found: Sequence[InnerKernel], names: str | Sequence[str] | None
) -> list[Axis]:
    warped_ones = {
        axis.name: axis for axis in numbers if any(inner.sees(axis.column) for inner in found)
    }
    wanted = [*warped_ones] if names is None else [names] if isinstance(names, str) else [*names]
    for name in wanted:
        if name not in warped_ones:
            raise ParamsError(f"names: {name!r} is not warped; expected some of {[*warped_ones]}")
    if not wanted:
        raise ParamsError(f"names=[]: nothing to draw; expected some of {[*warped_ones]}")
    return [warped_ones[name] for name in wanted]


def _curves(found: Sequence[InnerKernel], column: Column, u: Vector) -> tuple[Matrix, Vector]:
    """Each kernel's curve of a column, `(kernels, len(u))`, and the kernels' weights."""
    those = [inner for inner in found if inner.sees(column)]
    curves = [
        warped(inner.kernel, inner.seen_along(column, u))[:, inner.columns.index(column.index)]
        for inner in those
    ]
    weights = np.array([inner.weight for inner in those])
    return np.stack(curves), weights / weights.sum()
