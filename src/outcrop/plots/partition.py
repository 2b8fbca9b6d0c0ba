"""A plot of the leaves of a treed model: the boxes into which it divides the space."""

from __future__ import annotations

__all__ = ["partition"]

from collections import Counter
from collections.abc import Sequence

import numpy as np

from outcrop.plots import canvas
from outcrop.plots.belief_parts import lacking, parts_of
from outcrop.plots.canvas import Axes, Style
from outcrop.plots.slice_layers import draw_mean, mark_sites, mark_values
from outcrop.plots.space_slice import Drawable, SpaceSlice, reader_of
from outcrop.study.study_reader import StudyReader
from outcrop.surrogates import LeafwisePosterior
from outcrop.surrogates.partition import LEAF, Partition
from outcrop.typing import Matrix, Params, Points

HINT = "use method='treed', or oc.Method(surrogate=oc.surrogates.Treed())"
BORDER: Style = {"color": canvas.INK, "zorder": 3}
ROUND = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]  # which corner of x and of y, around a box


def partition(
    study: Drawable,
    names: str | Sequence[str] | None = None,
    at: Params | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw the leaves of a treed model over its belief, and return the axes.

        plots.partition(study).figure.savefig("partition.png")

    Each leaf is a box with its own Gaussian process, and the belief may be discontinuous between
    two of them. Along two parameters, leaves are boxes over the mean; along one, their borders are
    vertical lines. In a space of more parameters, only leaves that intersect the slice are drawn.
    `names` and `at` are as for `belief`; by default, `names` are the parameters that are split most
    often.
    """
    study = reader_of(study)
    trees = _trees(study)
    cut = SpaceSlice.of(study, names, at, only_numbers=True)
    if names is None:
        cut = SpaceSlice.of(study, _most_cut(trees, cut), at, only_numbers=True)
    drawn = canvas.axes_or_new(axes, (5.6, 4.4) if cut.is_map else (7.0, 4.2))
    draw_mean(drawn, study.belief, cut)
    for tree, weight in trees:
        boxes = _passed(tree, cut)
        some = "" if len(boxes) == len(tree) else f"{len(boxes)} of "
        share = "" if len(trees) == 1 else f" ({100 * weight:.0f} % of the belief)"
        label = f"{some}{len(tree)} {'leaf' if len(tree) == 1 else 'leaves'}{share}"
        (_boxes if cut.is_map else _borders)(drawn, cut, boxes, label)
    (mark_sites if cut.is_map else mark_values)(drawn, study, cut)
    cut.label_rest([drawn])
    canvas.legend(drawn, own=axes is None)
    return drawn


def _trees(study: StudyReader) -> list[tuple[Partition, float]]:
    """The different partitions in a study's belief, usually one, and their weights."""
    parts = [
        (part.division, weight)
        for part, weight in parts_of(study.belief)
        if isinstance(part, LeafwisePosterior) and isinstance(part.division, Partition)
    ]
    if not parts:
        raise lacking(study, "partition", HINT)
    different: list[Partition] = []
    for tree, _ in parts:
        if not any(map(tree.same_as, different)):
            different.append(tree)
    return [(tree, sum(w for own, w in parts if own.same_as(tree))) for tree in different]


def _most_cut(trees: Sequence[tuple[Partition, float]], cut: SpaceSlice) -> list[str]:
    """As many names as `cut` has: those split most often, completed with those of `cut`."""
    columns = cut.space.columns
    counts = Counter(int(column) for tree, _ in trees for column in tree.columns if column != LEAF)
    names = [columns[column].name for column, _ in counts.most_common()]
    chosen = [*dict.fromkeys([*names, *cut.names])][: len(cut.names)]
    return [column.name for column in columns if column.name in chosen]


def _passed(tree: Partition, cut: SpaceSlice) -> Points:
    """Corners, along the axes, of the leaves that intersect a slice, `(leaves, 2, axes)`."""
    point = cut.space.unconstrained.encode([cut.through]).X[0]
    boxes = tree.boxes(len(point))
    along = [axis.column.index for axis in cut.axes]
    probes = np.tile(point, (len(boxes), 1))
    probes[:, along] = boxes[:, :, along].mean(1)  # the point of the slice nearest to each centre
    return boxes[tree.leaf_of(probes) == np.arange(len(boxes))][:, :, along]


def _borders(axes: Axes, cut: SpaceSlice, boxes: Points, label: str) -> None:
    """A vertical line between neighbouring leaves."""
    inner = np.unique(boxes[:, 0, 0])[1:]
    x = _broken(np.repeat(cut.axes[0].from_unit(inner)[:, None], 2, axis=1))
    y = _broken(np.tile([0.0, 1.0], (len(inner), 1)))
    ground = axes.get_xaxis_transform()
    axes.plot(x, y, transform=ground, ls="--", lw=1.1, label=label, **BORDER)


def _boxes(axes: Axes, cut: SpaceSlice, boxes: Points, label: str) -> None:
    """The outline of each leaf on a map."""
    from matplotlib.patheffects import withStroke

    corner_x, corner_y = np.transpose(ROUND)
    x, y = (axis.from_unit(boxes[:, :, i]) for i, axis in enumerate(cut.axes))
    pale = [withStroke(linewidth=2.8, foreground=canvas.PAPER)]
    outline: Style = {"lw": 1.2, "clip_on": False, "path_effects": pale}
    axes.plot(_broken(x[:, corner_x]), _broken(y[:, corner_y]), label=label, **outline, **BORDER)


def _broken(lines: Matrix) -> Matrix:
    """Rows of coordinates as one line with a gap after each row."""
    return np.column_stack([lines, np.full(len(lines), np.nan)]).ravel()
