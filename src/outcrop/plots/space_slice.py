"""Slices of a space: one or two parameters as axes of a picture, the others constant.

The place of a value on an axis is the value itself, or the rank of an ordinal's level.
"""

from __future__ import annotations

__all__ = ["FINE", "Axis", "Drawable", "SpaceSlice", "numbers_of", "reader_of"]

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from outcrop.errors import MethodError, NoBelief, ParamsError
from outcrop.space import Column, Int, Ordinal, Space
from outcrop.strategies.model_based import UnitBelief, scales_of
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial
from outcrop.typing import Params, Points, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from outcrop.study.running import Result
    from outcrop.study.simulation import Simulation

Drawable: TypeAlias = "StudyReader | Result | Simulation"

MARGIN = 0.02  # of the range, left and right of a curve
FEW_LEVELS = 12  # levels up to which each has a tick
LETTERS = 13  # per inch
IS = "\u00a0=\u00a0"  # with non-breaking spaces
FINE, COARSE = 401, 61  # points along the axis of a curve, and along each axis of a map


def reader_of(study: Drawable) -> StudyReader:
    """The study to draw: the argument itself, or that of a result."""
    found = getattr(study, "study", study)
    if not isinstance(found, StudyReader):
        raise MethodError(
            f"expected a Study, an Optimizer or a Result to draw, got {type(study).__name__}"
        )
    return found


def numbers_of(space: Space) -> list[Column]:
    """The columns that can be an axis: numbers and ordinals."""
    return [column for column in space.columns if not column.is_code]


@dataclass(frozen=True)
class Axis:
    """A number or ordinal as an axis, in the user's units and on its own scale."""

    column: Column

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def is_log(self) -> bool:
        return bool(getattr(self.column.parameter, "log", False))

    def values(self, count: int) -> list[Any]:
        """At most `count` legal values, ascending and evenly spaced on the axis's scale."""
        grid = self.column.grid
        if grid is None or len(grid) > count:
            grid = np.unique(self.column.codec.snap(np.linspace(0.0, 1.0, count)))
        return self.column.codec.decode(grid)

    def places(self, values: Iterable[object]) -> Vector:
        """The places of values."""
        parameter = self.column.parameter
        if isinstance(parameter, Ordinal):
            return np.array([parameter.index(value) for value in values], dtype=float)
        return np.array([*values], dtype=float)

    def from_unit(self, u: Vector) -> Vector:
        """The places of positions on the unit interval, which may be illegal or outside of it."""
        low, high = self.places(self.column.codec.decode(np.array([0.0, 1.0])))
        if self.is_log:
            return low * (high / low) ** np.asarray(u)
        return low + (high - low) * np.asarray(u)

    def dress(self, axes: Axes, which: str, margin: float = 0.0) -> None:
        """Set scale, limits, ticks and label of the `which` ("x" or "y") axis of `axes`."""
        from matplotlib import ticker

        if self.is_log:
            axes.set(**{f"{which}scale": "log"})
        axes.set(
            **{
                f"{which}lim": self.from_unit(np.array([-margin, 1.0 + margin])),
                f"{which}label": self.name,
            }
        )
        axis = axes.xaxis if which == "x" else axes.yaxis
        parameter, levels = self.column.parameter, self.column.levels
        if isinstance(parameter, Ordinal):
            axis.set_ticks(range(len(parameter.values)), [str(v) for v in parameter.values])
        elif levels is not None and levels <= FEW_LEVELS:
            axis.set_ticks(
                self.places(self.values(levels)), [f"{v:g}" for v in self.values(levels)]
            )
            axis.set_minor_locator(ticker.NullLocator())
        elif isinstance(parameter, Int) and not self.is_log:
            axis.set_major_locator(ticker.MaxNLocator(integer=True))


@dataclass(frozen=True, eq=False)
class SpaceSlice:
    """A line or plane through one configuration of a space, along one or two parameters."""

    space: Space
    axes: tuple[Axis, ...]  # one or two
    through: Params  # flat and whole

    @classmethod
    def of(
        cls, study: StudyReader, names: str | Sequence[str] | None, at: Params | None
    ) -> SpaceSlice:
        """The slice through the best trial that is consistent with `at`, along `names`.

        By default, `names` are the parameters along which the belief changes fastest.
        """
        space = study.space
        if not numbers_of(space):
            raise MethodError(
                f"the space has no number or ordinal for an axis, only "
                f"{', '.join(space.parameters)}; use study.belief.predict for each category"
            )
        chosen = None if names is None else _checked_names(space, names)
        through = _configuration(study, dict(at or {}), chosen or ())
        if chosen is None:
            chosen = _most_sensitive(study, [n for n in numbers_of(space) if n.name in through])
        return cls(space, tuple(Axis(column) for column in chosen), through)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def rest(self) -> dict[str, Any]:
        """The values of the free parameters that are not axes."""
        free = {column.name for column in self.space.columns} - {*self.names}
        return {name: value for name, value in self.through.items() if name in free}

    @property
    def is_map(self) -> bool:
        """Whether functions on the slice are drawn as maps, over two axes, instead of curves."""
        return len(self.axes) == 2

    def configurations(self) -> tuple[list[Vector], list[dict[str, Any]]]:
        """Places along each axis, and the configurations on their grid, the first axis fastest."""
        values = [axis.values(COARSE if self.is_map else FINE) for axis in self.axes]
        places = [axis.places(along) for axis, along in zip(self.axes, values, strict=True)]
        rows: list[dict[str, Any]] = [dict(self.through)]
        for name, along in zip(reversed(self.names), reversed(values), strict=True):
            rows = [{**row, name: value} for row in rows for value in along]
        return places, rows

    def shows(self, trial: Trial) -> bool:
        """Whether a trial fits the space and the parameters of the axes are active in it."""
        return not trial.aside and all(name in trial.params for name in self.names)

    def holds(self, trial: Trial) -> bool:
        """Whether a trial lies in the slice: its other parameters are those of the slice."""
        return all(trial.params.get(name, self) == value for name, value in self.rest.items())

    def places(self, trials: Sequence[Trial]) -> Points:
        """The places of trials, `(n, axes)`."""
        along = [axis.places(t.params[axis.name] for t in trials) for axis in self.axes]
        return np.column_stack(along)

    def dress(self, axes: Axes) -> None:
        """Set the scales, limits, ticks and labels of `axes` to those of the slice."""
        for axis, which in zip(self.axes, "xy", strict=False):
            axis.dress(axes, which, 0.0 if self.is_map else MARGIN)

    def label_rest(self, panels: Sequence[Axes]) -> None:
        """Write the constant parameters below the label of the middle one of `panels`."""
        if not self.rest:
            return
        middle = panels[len(panels) // 2]
        figure_inches = middle.figure.bbox.width / middle.figure.dpi
        inches = figure_inches * sum(panel.get_position().width for panel in panels)
        parts = (f"{name}{IS}{_worded(value)}" for name, value in self.rest.items())
        text = fill(", ".join(parts), int(LETTERS * inches))
        middle.set_xlabel(f"{middle.get_xlabel()}\n{text}")


def _worded(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _checked_names(space: Space, names: str | Sequence[str]) -> tuple[Column, ...]:
    listed = (names,) if isinstance(names, str) else tuple(names)
    drawable = {column.name: column for column in numbers_of(space)}
    for name in listed:
        if name not in drawable:
            what = "cannot be an axis" if name in space.parameters else "is not in the space"
            raise ParamsError(f"names: {name!r} {what}; expected one or two of {[*drawable]}")
    if len(listed) not in (1, 2) or len(set(listed)) < len(listed):
        raise ParamsError(f"names={names!r}: expected one or two different ones of {[*drawable]}")
    return tuple(drawable[name] for name in listed)


def _configuration(
    study: StudyReader, at: dict[str, Any], axes: Sequence[Column]
) -> dict[str, Any]:
    """The parameters of the best trial that is legal with `at`, with those of `at` replaced."""
    for name, value in at.items():
        if name not in study.space.parameters:
            raise ParamsError(
                f"at: {name!r} is not in the space; expected {list(study.space.parameters)}"
            )
        study.space.parameters[name].check(value, name)
    sign = -1.0 if study.direction == "maximize" else 1.0
    finished = [trial for trial in study.trials if trial.is_observed]
    if not finished:
        raise NoBelief("there is no belief before the first value; tell or add one")
    ranked = sorted(finished, key=lambda trial: sign * (trial.value or 0.0))
    middle = {axis.name: axis.codec.decode(np.array([0.5]))[0] for axis in axes}
    for params in [*(trial.params for trial in ranked), middle]:
        try:
            found = study.space.validate({**params, **at})
        except ParamsError:
            continue  # `at` sets an option that this trial does not have
        if all(axis.name in found for axis in axes):
            return found
    names = [axis.name for axis in axes]
    raise ParamsError(
        f"no finished trial is consistent with at={at!r}{f' and names={names}' if names else ''}; "
        "pass a whole configuration as at="
    )


def _most_sensitive(study: StudyReader, numbers: Sequence[Column]) -> tuple[Column, ...]:
    """The two numbers along which the belief changes fastest, in the order of the space."""
    if not numbers:
        raise MethodError(
            "the best configuration has no number or ordinal for an axis; choose another with at="
        )
    believed = study.belief.believed
    scales = scales_of(believed.mixture) if isinstance(believed, UnitBelief) else None
    if scales is None or len(numbers) < 3:
        return tuple(numbers[:2])
    shortest = sorted(numbers, key=lambda column: float(scales[column.index]))[:2]
    return tuple(sorted(shortest, key=lambda column: column.index))
