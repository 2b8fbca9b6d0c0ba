"""Axes to draw on, or a hint on how to get them."""

from __future__ import annotations

__all__ = ["INK", "PAPER", "axes_or_new"]

from typing import Any

from outcrop.errors import MissingExtra

# Legible in black and white: shades differ in lightness, and markers differ in shape.
INK = "#1b1b1b"
PAPER = "#ffffff"


def axes_or_new(axes: Any = None, size: tuple[float, float] = (7.0, 4.2)) -> Any:
    """`axes` itself, or the axes of a new figure that belongs to no window."""
    if axes is not None:
        return axes
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("pictures need matplotlib: pip install 'outcrop[plot]'") from None
    return Figure(figsize=size, layout="constrained", facecolor=PAPER).add_subplot()
