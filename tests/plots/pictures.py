"""Pictures as a test sees them: rendered, and what is in them."""

from __future__ import annotations

import io

import numpy as np

__all__ = ["labelled", "lightness", "pixels", "render"]


def render(axes):
    """The picture as a PNG; anything that matplotlib warns of is an error."""
    buffer = io.BytesIO()
    axes.figure.savefig(buffer, format="png", dpi=60)
    assert buffer.getvalue()[:4] == b"\x89PNG"
    return buffer.getvalue()


def pixels(axes):
    """The rendered picture, `(height, width, 3)` from 0 to 1, first row on top."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(axes.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3] / 255.0


def lightness(axes, x, y):
    """How light the picture is at places given in the units of its axes."""
    picture = pixels(axes)
    columns, rows = axes.transData.transform(np.column_stack([x, y])).T
    colours = picture[len(picture) - 1 - rows.astype(int), columns.astype(int)]
    return colours @ [0.3, 0.59, 0.11]


def labelled(axes, label):
    """The line that the legend calls `label`."""
    (line,) = [line for line in axes.lines if line.get_label() == label]
    return line
