"""The nearest legal value of a number that is off the grid, or just beyond a bound by rounding.

A grid takes what is nearest to one of its values, so up to half a step beyond its bounds. A
continuum takes what is beyond a bound by at most `NEAR` of its range, on its own scale. Categories
are never changed.
"""

from __future__ import annotations

__all__ = ["snapped"]

import math

from outcrop.errors import ParamsError
from outcrop.space.discrete import Ordinal
from outcrop.space.parameters import Float, Int, Parameter
from outcrop.space.plain import exact_float, exact_int

NEAR = 1e-3  # of the range; numbers that were rounded to three digits or more


def snapped(parameter: Parameter, value: object, name: str) -> object:
    """`value` if it is legal or far from all that is, else the legal value nearest to it.

    >>> snapped(Float(0, 1, step=0.25), 0.6, "x"), snapped(Int(10, 50, step=10), 44.0, "k")
    (0.5, 40)
    >>> snapped(Float(0, 1), 1.0004, "x"), snapped(Float(0, 1), 1.1, "x")
    (1.0, 1.1)
    """
    number = exact_int(value)
    given = exact_float(value) if number is None else number
    if given is None or _is_legal(parameter, value, name):
        return value
    match parameter:
        case Float(step=None):
            bound = min(max(given, parameter.low), parameter.high)
            return bound if _distance(parameter, given, bound) <= NEAR else value
        case Float():
            level: float = parameter.at(parameter.index(given))
            return level if abs(given - level) <= (parameter.step or 0.0) / 2 else value
        case Int():
            steps = round((given - parameter.low) / parameter.step)
            level = parameter.at(min(max(steps, 0), parameter.levels - 1))
            return level if 2 * abs(given - level) <= parameter.step else value
        case Ordinal(values):
            levels = [each for each in values if not isinstance(each, str)]
            if levels and min(levels) <= given <= max(levels):
                return min(levels, key=lambda each: abs(each - given))
    return value


def _is_legal(parameter: Parameter, value: object, name: str) -> bool:
    try:
        parameter.check(value, name)
    except ParamsError:
        return False
    return True


def _distance(parameter: Float, value: float, bound: float) -> float:
    """The distance of a value from a bound, in ranges of the parameter."""
    if not parameter.log:
        return abs(value / 2 - bound / 2) / (parameter.high / 2 - parameter.low / 2)
    return abs(math.log(value) - math.log(bound)) / parameter.length if value > 0 else math.inf
