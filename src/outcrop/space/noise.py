"""Input noise: how far an evaluation may lie from its intended point.

A number has a standard deviation of its own, `input_std`, or shares a covariance with others: a
block, by the names of its numbers. Both are in the units of `Float.input_std`. Models use the
covariance `(D, D)` in units of the unit cube, with zeros for all exact columns.
"""

from __future__ import annotations

__all__ = [
    "InputCovariances",
    "checked_blocks",
    "checked_number",
    "position",
    "restricted",
    "share",
    "unit_covariance",
]

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from outcrop.errors import ParamsError, SpaceError
from outcrop.space.encoding import Interval
from outcrop.space.parameters import Float, Int, Parameter, within
from outcrop.space.plain import exact_float, nearest
from outcrop.space.tree import Column
from outcrop.typing import Matrix

PlainMatrix: TypeAlias = tuple[tuple[float, ...], ...]
# Names to a covariance, in the units of `input_std`.
InputCovariances: TypeAlias = Mapping[tuple[str, ...], PlainMatrix]

EXAMPLE = "{('x', 'y'): [[4.0, 1.0], [1.0, 9.0]]}"
EXPLAINED = 5.0  # standard deviations that noise may explain
LARGEST_EXPONENT = 709.0  # of e, within floats


def checked_blocks(
    given: object, parameters: Mapping[str, Parameter]
) -> dict[tuple[str, ...], PlainMatrix]:
    """Covariances by tuples of flat names, as plain numbers; `SpaceError` if they are invalid."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SpaceError(
            f"input_covariance is {given!r}: expected names and their matrix, such as {EXAMPLE}"
        )
    blocks: dict[tuple[str, ...], PlainMatrix] = {}
    for names, matrix in given.items():
        if not isinstance(names, tuple) or not names:
            raise SpaceError(
                f"input_covariance of {names!r}: expected a tuple of names, as in {EXAMPLE}"
            )
        taken = [name for block in blocks for name in block]
        for place, name in enumerate(names):
            _check_name(name, parameters)
            if name in taken or name in names[:place]:
                raise SpaceError(
                    f"input_covariance: {name!r} is listed twice; use one matrix for it"
                )
        blocks[names] = _checked_matrix(matrix, names, parameters)
    return blocks


def _check_name(name: object, parameters: Mapping[str, Parameter]) -> None:
    if not isinstance(name, str) or name not in parameters:
        raise SpaceError(
            f"input_covariance: {name!r} is not a parameter of the space{nearest(name, parameters)}"
        )
    parameter = parameters[name]
    if not isinstance(parameter, Float | Int):
        raise SpaceError(
            f"input_covariance: {name!r} is {parameter!r}, but only numbers, Float and Int, have "
            "input noise; leave it out"
        )
    if parameter.input_std is not None:
        raise SpaceError(
            f"input_covariance: {name!r} has an input_std of its own; move its variance "
            "into the matrix and drop input_std"
        )


def _checked_matrix(
    given: object, names: Sequence[str], parameters: Mapping[str, Parameter]
) -> PlainMatrix:
    about = f"input_covariance of {tuple(names)!r}"
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise SpaceError(f"{about} is {given!r}: expected a matrix of numbers") from None
    if matrix.shape != (len(names), len(names)):
        raise SpaceError(
            f"{about}: expected a matrix {(len(names),) * 2}, one row per name, got {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise SpaceError(f"{about} is {given!r}: expected finite numbers")
    largest = np.abs(matrix).max()
    if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12 * largest):
        raise SpaceError(f"{about} is {given!r}, not symmetric; average it with its transpose")
    if (negative := matrix.diagonal().min()) < 0:
        raise SpaceError(f"{about}: a variance is {negative:g}; the diagonal must be at least 0")
    stds = np.sqrt(matrix.diagonal())
    # Checked as correlations, since the units of parameters may differ by orders of magnitude.
    scale = np.where(stds > 0, stds, 1.0)
    lowest = np.linalg.eigvalsh(matrix / np.multiply.outer(scale, scale)).min()
    if lowest < -1e-10 * len(names):
        raise SpaceError(
            f"{about} is {given!r}, which is not a covariance: the lowest eigenvalue of its "
            f"correlations is {lowest:.3g}, below 0; lower the entries off the diagonal"
        )
    for name, std in zip(names, stds.tolist(), strict=True):
        number = parameters[name]
        assert isinstance(number, Float | Int)
        if not std <= number.length < math.inf:
            raise SpaceError(
                f"{about}: the standard deviation {std:g} of {name!r} is {within(number)}; "
                "widen the range, or give the covariance of one evaluation"
            )
    matrix = (matrix + matrix.T) / 2
    return tuple(tuple(row) for row in matrix.tolist())


def restricted(
    blocks: InputCovariances, names: Collection[str]
) -> dict[tuple[str, ...], PlainMatrix]:
    """The covariances of some of the names."""
    some: dict[tuple[str, ...], PlainMatrix] = {}
    for block, rows in blocks.items():
        kept = [place for place, name in enumerate(block) if name in names]
        if kept:
            key = tuple(block[place] for place in kept)
            some[key] = tuple(tuple(rows[i][j] for j in kept) for i in kept)
    return some


def unit_covariance(columns: Iterable[Column], blocks: InputCovariances) -> Matrix:
    """The covariance of the noise in units of the unit cube, `(D, D)`."""
    columns = list(columns)
    where = {column.name: column.index for column in columns}
    covariance = np.zeros((len(columns), len(columns)))
    lengths = np.ones(len(columns))
    for column in columns:
        number = column.parameter
        if isinstance(number, Float | Int):
            lengths[column.index] = number.length
            # in units of a power of two near the length: the square itself might overflow
            length, power = math.frexp(number.length)
            std = math.ldexp(number.input_std or 0.0, -power)
            covariance[column.index, column.index] = std**2 / length / length
    for names, rows in blocks.items():
        places = [where[name] for name in names]
        own = lengths[places]
        # one by one: a product might underflow
        covariance[np.ix_(places, places)] = np.array(rows) / own / own[:, None]
    covariance.flags.writeable = False
    return covariance


def position(number: Float | Int, value: float) -> float:
    """The position of a value on the unit interval, or beyond its ends."""
    interval = Interval(float(number.low), float(number.high), number.log)
    is_inside = number.low <= value <= number.high
    if is_inside and interval.low < interval.high:  # large integers may be one float
        return float(interval.units(np.array([value]))[0])
    if number.log:
        ratio = value / number.low
        is_float = 0.0 < ratio < math.inf
        way = math.log(ratio) if is_float else math.log(value) - math.log(number.low)
        return way / number.length
    if math.isfinite(value - number.low):
        return share(number, value - number.low)
    return 2 * share(number, value / 2 - number.low / 2)


def share(number: Float | Int, distance: float) -> float:
    """A distance, in the units of `input_std`, as a part of the range."""
    if math.isfinite(number.length):
        return distance / number.length
    return (distance / 2) / (number.high / 2 - number.low / 2)


def checked_number(number: Float | Int, value: object, name: str, std: float) -> float:
    """The actual value of an evaluation; `ParamsError` if noise of `std` does not explain it."""
    found = exact_float(value)
    if found is None:
        raise ParamsError(f"at: {name!r} is {value!r}, expected a finite number")
    reach = EXPLAINED * std
    if number.log:
        low = number.low * math.exp(-reach)
        high = number.high * math.exp(min(reach, LARGEST_EXPONENT))
    else:
        low, high = number.low - reach, number.high + reach
    if low <= found <= high and not (number.log and found <= 0):
        return found
    bounds = f"the bounds {number.low!r} to {number.high!r}"
    if std == 0:
        raise ParamsError(
            f"at: {name!r} is {found!r}, outside {bounds}, and there is no input noise that would "
            f"explain it; declare it in the space, {type(number).__name__}(…, input_std=…), tell "
            f"at_std={{{name!r}: …}}, or widen the bounds"
        )
    raise ParamsError(
        f"at: {name!r} is {found!r}, outside {bounds} by more than {EXPLAINED:g} standard "
        f"deviations of the input noise ({std:g}), so that {low:g} to {high:g} would be allowed; "
        f"check its unit, tell a larger at_std={{{name!r}: …}}, or widen the bounds"
    )
