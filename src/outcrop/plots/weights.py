"""A plot of how probable each kind of landscape was over the trials."""

from __future__ import annotations

__all__ = ["weights"]

import numpy as np

from outcrop.plots import canvas
from outcrop.plots.canvas import Axes
from outcrop.plots.convergence import COLOURS
from outcrop.plots.space_slice import Drawable, reader_of


def weights(study: Drawable, axes: Axes | None = None) -> Axes:
    """Draw the probability of each kind of landscape at every suggestion, and return the axes.

        plots.weights(study).figure.savefig("weights.png")

    The probabilities are stacked, so that they fill the plot from 0 to 1; the most probable kind at
    the end is the lowest layer. See `study.landscape()`.
    """
    found = reader_of(study).landscape()
    drawn = canvas.axes_or_new(axes, (7.0, 3.8))
    numbers = np.array(sorted(found.history))
    labels = found.kinds
    layers = [[found.history[number].get(label, 0.0) for number in numbers] for label in labels]
    colours = [COLOURS[1 + i % (len(COLOURS) - 1)] for i in range(len(labels))]
    drawn.stackplot(numbers, layers, labels=labels, colors=colours, alpha=0.75, step="mid")
    drawn.set(xlabel="trial number", ylabel="probability", ylim=(0.0, 1.0))
    if len(numbers) > 1:
        drawn.set_xlim(numbers[0], numbers[-1])
    canvas.legend(drawn, own=axes is None)
    return drawn
