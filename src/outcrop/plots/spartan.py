"""A plot of the weight of the local kernels of a Spartan model."""

from __future__ import annotations

__all__ = ["spartan_weight"]

from collections.abc import Sequence

import numpy as np

from outcrop.kernels import LocalGlobal
from outcrop.plots import canvas
from outcrop.plots.belief_parts import InnerKernel, inner_kernels
from outcrop.plots.canvas import Axes
from outcrop.plots.parameter_axis import Axis
from outcrop.plots.slice_layers import mark_sites
from outcrop.plots.space_slice import FINE, Drawable, SpaceSlice, reader_of
from outcrop.typing import Matrix, Params, Vector

HINT = "use method='spartan', or oc.Method(surrogate=oc.surrogates.Spartan())"
TOP = 1.02  # height of the centres of regions above a curve


def spartan_weight(
    study: Drawable,
    names: str | Sequence[str] | None = None,
    at: Params | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw the local weight λ² along one parameter or two, and return the axes.

        plots.spartan_weight(study).figure.savefig("weight.png")

    The weight is 1 where only the local kernels count, and 0 where only the global one does; the
    weights of several regions are added. The plot has the mean over the chains of the sampler, the
    centres of the regions, and the trials. A region without observations has no weight. `names` and
    `at` are as for `belief`.
    """
    study = reader_of(study)
    found = inner_kernels(study, LocalGlobal, HINT)
    cut = SpaceSlice.of(study, names, at, only_numbers=True)
    places, rows = cut.configurations()
    X = study.space.unconstrained.encode(rows).X
    each = np.stack([(inner.kernel.weights(inner.seen(X))[:-1] ** 2).sum(0) for inner in found])
    mean = np.array([inner.weight for inner in found]) @ each
    drawn = canvas.axes_or_new(axes, (5.6, 4.4) if cut.is_map else (7.0, 3.8))
    if cut.is_map:
        x, y = places
        canvas.shaded(drawn, x, y, mean, "Greys", (0.0, 1.0), "local weight λ²")
    else:
        _curves(drawn, places[0], each, mean)
    cut.dress(drawn)
    mark_sites(drawn, study, cut)
    _mark_centres(drawn, found, cut.axes)
    cut.label_rest([drawn])
    canvas.legend(drawn, own=axes is None)
    return drawn


def _curves(axes: Axes, x: Vector, each: Matrix, mean: Vector) -> None:
    for index, curve in enumerate(each):
        label = None if index else "a chain's weight"
        axes.plot(x, curve, color=canvas.FAINT, lw=0.8, label=label)
    axes.plot(x, mean, color=canvas.INK, lw=2.0, label="mean of the chains")
    axes.set(ylabel="local weight λ²", ylim=(-0.02, 1.08))


def _mark_centres(axes: Axes, found: Sequence[InnerKernel], along: Sequence[Axis]) -> None:
    """Mark the centres of regions, above a curve or on a map; unused regions have none."""
    centres = [
        (inner, region.centre)
        for inner in found
        for region in inner.kernel.regions
        if all(inner.sees(axis.column) for axis in along)
    ]
    points = np.array(
        [
            [_place(inner, centre, axis) for axis in along]
            for inner, centre in centres
            if ((centre >= 0) & (centre <= 1)).all()
        ]
    )
    if len(points):
        heights = points[:, 1] if len(along) == 2 else np.full(len(points), TOP)
        some = "" if len(points) == len(centres) else f" ({len(points)} of {len(centres)} in use)"
        style = canvas.on_map(canvas.CENTRE)
        axes.plot(points[:, 0], heights, label=f"centres of the chains{some}", **style)


def _place(inner: InnerKernel, centre: Vector, axis: Axis) -> float:
    """The position along an axis of a centre, which is given in the kernel's inputs."""
    own, u = inner.columns.index(axis.column.index), np.linspace(0.0, 1.0, FINE)
    seen = inner.seen_along(axis.column, u)[:, own]  # increasing, also through a warp
    return float(axis.from_unit(np.interp(centre[own], seen, u)))
