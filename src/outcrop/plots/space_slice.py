"""Slices of a space: one or two parameters as axes of a picture, the others constant.

If a choice is an axis, each of its options is seen with the other parameters of its best trial.
"""

from __future__ import annotations

__all__ = ["FINE", "Drawable", "SpaceSlice", "numbers_of", "reader_of"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from outcrop.errors import MethodError, NoBelief, ParamsError
from outcrop.plots.parameter_axis import Axis
from outcrop.space import Column, Space
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
    """The columns that hold numbers and ordinals."""
    return [column for column in space.columns if not column.is_code]


@dataclass(frozen=True, eq=False)
class SpaceSlice:
    """A line or plane through one configuration of a space, along one or two parameters."""

    space: Space
    axes: tuple[Axis, ...]  # one or two, at most one of them a choice
    through: Params  # flat and whole
    by_option: Mapping[str, Params] = field(default_factory=dict)  # instead, if one is a choice

    @classmethod
    def of(
        cls,
        study: StudyReader,
        names: str | Sequence[str] | None,
        at: Params | None,
        *,
        only_numbers: bool = False,
    ) -> SpaceSlice:
        """The slice through the best trial that is consistent with `at`, along `names`.

        By default, `names` are the numbers along which the belief changes fastest, or else a
        category. `only_numbers` is for pictures of what categories do not have.
        """
        space = study.space
        drawable = numbers_of(space) if only_numbers else list(space.columns)
        if not drawable:
            raise MethodError(
                "the space has no number or ordinal for an axis, only "
                f"{', '.join(space.parameters)}"
            )
        chosen = None if names is None else _checked_names(space, names, drawable)
        through = _configuration(study, dict(at or {}), chosen or ())
        if chosen is None:
            chosen = _most_sensitive(study, [c for c in drawable if c.name in through])
        axes = tuple(Axis(column) for column in chosen)
        return cls(space, axes, through, _options(study, axes, dict(at or {})))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def rest(self) -> dict[str, Any]:
        """The values of the free parameters that are not axes and are the same everywhere."""
        everywhere = [*self.by_option.values()] or [self.through]
        return {
            name: value
            for name, value in self._held(self.through).items()
            if all(name in params and params[name] == value for params in everywhere)
        }

    @property
    def is_map(self) -> bool:
        """Whether functions on the slice are drawn as maps, over two axes, instead of curves."""
        return len(self.axes) == 2

    @property
    def has_categories(self) -> bool:
        """Whether an axis is a category, so that nothing is drawn between its values."""
        return any(axis.is_category for axis in self.axes)

    def configurations(self) -> tuple[list[Vector], list[dict[str, Any]]]:
        """Places along each axis, and the configurations on their grid, the first axis fastest."""
        values = [axis.values(COARSE if self.is_map else FINE) for axis in self.axes]
        places = [axis.places(along) for axis, along in zip(self.axes, values, strict=True)]
        names = self.names
        rows = []
        for reverse in product(*reversed(values)):
            along = dict(zip(names, reversed(reverse), strict=True))
            rows.append({**self._seen(along), **along})
        return places, rows

    def shows(self, trial: Trial) -> bool:
        """Whether a trial fits the space and the parameters of the axes are active in it."""
        return not trial.aside and all(name in trial.params for name in self.names)

    def holds(self, trial: Trial) -> bool:
        """Whether a trial lies in the slice: its other parameters are those of the slice."""
        held = self._held(self._seen(trial.params))
        return all(trial.params.get(name, self) == value for name, value in held.items())

    def _seen(self, params: Params) -> Params:
        """The configuration through which the slice goes at the option that `params` have."""
        option = next((params.get(axis.name) for axis in self.axes if axis.is_choice), None)
        return self.by_option.get(str(option), self.through)

    def _held(self, params: Params) -> dict[str, Any]:
        free = {column.name for column in self.space.columns} - {*self.names}
        return {name: value for name, value in params.items() if name in free}

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
        parts = [f"{name}{IS}{_worded(value)}" for name, value in self.rest.items()]
        if self.by_option:
            parts.append("each option at its best trial")
        if not parts:
            return
        middle = panels[len(panels) // 2]
        figure_inches = middle.figure.bbox.width / middle.figure.dpi
        inches = figure_inches * sum(panel.get_position().width for panel in panels)
        text = fill(", ".join(parts), int(LETTERS * inches))
        middle.set_xlabel(f"{middle.get_xlabel()}\n{text}")


def _worded(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _checked_names(
    space: Space, names: str | Sequence[str], columns: Sequence[Column]
) -> tuple[Column, ...]:
    listed = (names,) if isinstance(names, str) else tuple(names)
    drawable = {column.name: column for column in columns}
    for name in listed:
        if name not in drawable:
            what = "cannot be an axis" if name in space.parameters else "is not in the space"
            raise ParamsError(f"names: {name!r} {what}; expected one or two of {[*drawable]}")
    if len(listed) not in (1, 2) or len(set(listed)) < len(listed):
        raise ParamsError(f"names={names!r}: expected one or two different ones of {[*drawable]}")
    return tuple(drawable[name] for name in listed)


def _options(
    study: StudyReader, axes: Sequence[Axis], at: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """For each option of a choice that is an axis, the configuration in which it is seen."""
    choice = next((axis for axis in axes if axis.is_choice), None)
    if choice is None:
        return {}
    others = [axis for axis in axes if axis is not choice]
    for other in others:
        below = any(column == choice.column.index for column, _ in other.column.conditions)
        if other.is_choice or below:
            raise ParamsError(
                f"names: {other.name!r} cannot be an axis beside {choice.name!r}, of which each "
                "option opens parameters of its own; draw it for one option, which at= sets"
            )
    return {option: _at_option(study, choice, option, others, at) for option in choice.values(0)}


def _at_option(
    study: StudyReader, choice: Axis, option: str, others: Sequence[Axis], at: dict[str, Any]
) -> dict[str, Any]:
    """The best trial with an option; if there is none, the middle of its ranges."""
    own, any_option = f"{choice.name}.{option}.", f"{choice.name}."
    fitting = {
        name: value
        for name, value in at.items()
        if name.startswith(own) or not name.startswith(any_option)
    }
    try:
        columns = [other.column for other in others]
        return _configuration(study, {**fitting, choice.name: option}, columns)
    except ParamsError:
        point = np.full((1, len(study.space.columns)), 0.5)
        for column, code in choice.column.conditions:
            point[0, column] = code
        point[0, choice.column.index] = choice.places([option])[0]
        middle = study.space.decode(point)[0]
        return middle | {name: value for name, value in fitting.items() if name in middle}


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
            found = study.space.unconstrained.validate({**params, **at})
        except ParamsError:
            continue  # `at` sets an option that this trial does not have
        if all(axis.name in found for axis in axes):
            return found
    names = [axis.name for axis in axes]
    raise ParamsError(
        f"no finished trial is consistent with at={at!r}{f' and names={names}' if names else ''}; "
        "pass a whole configuration as at="
    )


def _most_sensitive(study: StudyReader, columns: Sequence[Column]) -> tuple[Column, ...]:
    """The two numbers along which the belief changes fastest, in the order of the space.

    If there are none, it is the first category.
    """
    numbers = [column for column in columns if not column.is_code]
    if not numbers and columns:
        return (columns[0],)
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
