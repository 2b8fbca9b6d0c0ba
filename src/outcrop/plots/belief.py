"""What a model believes of a function of one parameter."""

from __future__ import annotations

__all__ = ["belief_1d"]

from collections.abc import Callable
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ShapeError
from outcrop.plots.canvas import INK, axes_or_new
from outcrop.surrogates import Mixture, Standardised
from outcrop.typing import Vector

GRID = 601


def belief_1d(
    belief: Mixture,
    observations: Observations,
    outcome: Standardised,
    truth: Callable[[Vector], Vector] | None = None,
    axes: Any = None,
) -> Any:
    """Draw mean, 95 % band, each component's mean and the data; return the axes.

    `observations` are in the model's units, the picture in the objective's, on the unit interval.
    `truth` maps a vector of points to the objective's values, if they are known.
    """
    if observations.dimension != 1:
        raise ShapeError(f"expected points of 1 dimension, got {observations.dimension}")
    axes = axes_or_new(axes)
    x = np.linspace(0, 1, GRID)
    mean, std = outcome.restore(*belief.moments(x[:, None]))
    low, high = mean - 1.96 * std, mean + 1.96 * std
    axes.fill_between(x, low, high, color="0.85", lw=0, label="95 % of the belief")
    each, _ = belief.predict_each(x[:, None])
    for i, row in enumerate(each):
        label = "mean of each component" if i == 0 else None
        axes.plot(x, outcome.invert(row), color="0.6", lw=0.6, label=label)
    axes.plot(x, mean, color=INK, lw=1.6, label="mean of the belief")
    if truth is not None:
        axes.plot(x, truth(x), color="tab:red", lw=1.0, ls="--", label="truth")
    y = outcome.invert(observations.y)
    axes.plot(observations.X[:, 0], y, "o", color=INK, mfc="white", ms=5, label="data", zorder=5)
    axes.set_xlim(0, 1)
    axes.set_xlabel("x")
    axes.set_ylabel("objective")
    axes.legend(frameon=False, fontsize="small")
    return axes
