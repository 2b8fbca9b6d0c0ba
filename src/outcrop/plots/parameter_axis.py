"""A parameter as an axis of a picture, in the user's units and on its own scale.

The place of a value on an axis is the value itself, or the rank of an ordinal's level, a category
or an option.
"""

from __future__ import annotations

__all__ = ["Axis", "shortened"]

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from outcrop.space import Categorical, Choice, Column, Float, Int, Ordinal
from outcrop.typing import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW_LEVELS = 12  # levels up to which each has a tick
NEAR = 1000  # ratio of bounds up to which a log scale has ticks between powers of ten
ROUND = (1, 2, 5)  # those ticks, in units of the power below
FEWEST = 3  # ticks
LONGEST = 18  # characters of a category
UPRIGHT = 7  # characters per inch of all categories below an axis that are not turned


@dataclass(frozen=True)
class Axis:
    """A free parameter of a space as an axis."""

    column: Column

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def is_log(self) -> bool:
        return bool(getattr(self.column.parameter, "log", False))

    @property
    def is_category(self) -> bool:
        """Whether values have no order, so that nothing is drawn between them."""
        return self.column.is_code

    @property
    def is_choice(self) -> bool:
        """Whether each value opens parameters of its own."""
        return isinstance(self.column.parameter, Choice)

    def values(self, count: int) -> list[Any]:
        """At most `count` legal values, ascending and evenly spaced; of categories, all."""
        if self.is_category:
            return self._listed()
        grid = self.column.grid
        if grid is None or len(grid) > count:
            grid = np.unique(self.column.codec.snap(np.linspace(0.0, 1.0, count)))
        return self.column.codec.decode(grid)

    def ticks(self, count: int) -> tuple[list[Any], list[str]]:
        """Values to mark and their texts: few levels and categories all, else about `count`."""
        levels = self.column.levels
        if self._listed():
            values = self._listed()
            return values, [shortened(str(value)) for value in values]
        if levels is not None and levels <= FEW_LEVELS:
            count = levels
        values = self.values(count)
        return values, [f"{value:.4g}" for value in values]

    def places(self, values: Iterable[Any]) -> Vector:
        """The places of values."""
        parameter = self.column.parameter
        if isinstance(parameter, Ordinal | Categorical | Choice):
            return np.array([parameter.index(value) for value in values], dtype=float)
        return np.array([*values], dtype=float)

    def from_unit(self, u: Vector) -> Vector:
        """The places of positions on the unit interval, which may be illegal or outside of it."""
        low, high = self.places(self.column.codec.decode(np.array([0.0, 1.0])))
        if self.is_log:
            return low * (high / low) ** np.asarray(u)
        return low + (high - low) * np.asarray(u)

    def edges(self, places: Vector) -> Vector:
        """Borders between neighbouring places, and one beyond either end."""
        if self.is_log:
            return np.exp(_edges(np.log(places)))
        return _edges(places)

    def dress(self, axes: Axes, which: str, margin: float = 0.0) -> None:
        """Set scale, limits, ticks and label of the `which` ("x" or "y") axis of `axes`."""
        from matplotlib import ticker

        if self.is_log:
            axes.set(**{f"{which}scale": "log"})
        limits = self.from_unit(np.array([-margin, 1.0 + margin]))
        if self.is_category:
            limits = np.array([-0.5, len(self._listed()) - 0.5])
        axes.set(**{f"{which}lim": limits, f"{which}label": self.name})
        axis = axes.xaxis if which == "x" else axes.yaxis
        parameter, levels = self.column.parameter, self.column.levels
        if isinstance(parameter, Ordinal) or self.is_category:
            self._name_levels(axes, which)
        elif levels is not None and levels <= FEW_LEVELS:
            values = self.values(levels)
            axis.set_ticks(self.places(values), [f"{value:g}" for value in values])
            axis.set_minor_locator(ticker.NullLocator())
        elif isinstance(parameter, Float | Int) and _is_near(parameter):
            ticks = _log_ticks(parameter)
            axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
            axis.set_minor_formatter(ticker.NullFormatter())
        elif isinstance(parameter, Int) and not self.is_log:
            axis.set_major_locator(ticker.MaxNLocator(integer=True))

    def _listed(self) -> list[Any]:
        """The values of an ordinal, a category or a choice."""
        match self.column.parameter:
            case Ordinal(values=listed) | Categorical(choices=listed) | Choice(names=listed):
                return [*listed]
        return []

    def _name_levels(self, axes: Axes, which: str) -> None:
        axis = axes.xaxis if which == "x" else axes.yaxis
        names = [shortened(str(value)) for value in self._listed()]
        axis.set_ticks(range(len(names)), names)
        inches = axes.bbox.width / axes.figure.dpi
        if which == "x" and sum(map(len, names)) > UPRIGHT * inches:
            axes.tick_params(axis="x", rotation=30)
            for label in axis.get_ticklabels():
                label.set(horizontalalignment="right", rotation_mode="anchor")


def _is_near(number: Float | Int) -> bool:
    """Whether it has a log scale of so few decades that ticks between them are labelled."""
    return number.log and number.high / number.low < NEAR


def _log_ticks(number: Float | Int) -> list[float]:
    """Round numbers within the bounds, fewer than a log scale would label."""
    from matplotlib.ticker import MaxNLocator

    powers = range(floor(log10(number.low)), ceil(log10(number.high)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in ROUND]
    inside = [tick for tick in ticks if number.low <= tick <= number.high]
    if len(inside) < FEWEST:
        locator = MaxNLocator(FEWEST + 1, integer=isinstance(number, Int))
        ticks = [*locator.tick_values(number.low, number.high)]
        inside = [tick for tick in ticks if number.low <= tick <= number.high]
    return inside


def _edges(places: Vector) -> Vector:
    if len(places) == 1:
        return places[0] + np.array([-0.5, 0.5])
    inner = 0.5 * (places[1:] + places[:-1])
    return np.concatenate([[2 * places[0] - inner[0]], inner, [2 * places[-1] - inner[-1]]])


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text for a label: of at most `longest` characters, and without formulas of matplotlib."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return short.replace("$", r"\$")
