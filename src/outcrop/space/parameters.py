"""The interface of parameters, and the numbers `Float` and `Int`.

A parameter is a frozen value. It checks its own declaration (`SpaceError`) and the values given to
it (`ParamsError`); the encoding of its values is in `encoding`. Bounds are inclusive.

A number may have input noise: `input_std` is the standard deviation of the actual value around the
intended one, in the units of the parameter. On a log scale it is that of the natural logarithm: 0.1
is about a tenth of the value.
"""

from __future__ import annotations

__all__ = ["Float", "Int", "Parameter", "within"]

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from typing import Self

from outcrop.errors import ParamsError, SpaceError
from outcrop.space.plain import Plain, exact_float, exact_int, mark

MOST_LEVELS = 2**50  # i / (levels - 1) in float64 still differs between neighbours, with a margin
MOST_LOG = 2**40  # the same for log(i), whose neighbours are closest at the upper end
STEP_TOLERANCE = 1e-9  # in steps
BOUND_TOLERANCE = 1e-12  # in widths of the range


class Parameter(ABC):
    """A parameter of a space; two are equal if their declarations and types are."""

    input_std: float | None = None  # numbers have a field of this name

    def __new__(cls, *args: object, **options: object) -> Self:
        if "input_std" in options and "input_std" not in cls.__annotations__:
            raise SpaceError(
                f"{cls.__name__}(…, input_std={options['input_std']!r}): only numbers, Float and "
                "Int, have input noise; leave it out"
            )
        return super().__new__(cls)

    @property
    @abstractmethod
    def levels(self) -> int | None:
        """The number of legal values, or None for a continuum."""

    @property
    @abstractmethod
    def allowed(self) -> str:
        """The legal values in words, for messages."""

    @abstractmethod
    def check(self, value: object, name: str) -> Plain:
        """`value` as a plain Python value; `ParamsError` if it is not legal."""

    def refuse(self, value: object, name: str, why: str, hint: str = "") -> ParamsError:
        """The error for a value of parameter `name` that is not legal."""
        return ParamsError(f"{name!r} is {value!r}, {why}: expected {self.allowed}{hint}")

    @property
    def identity(self) -> tuple[object, ...]:
        """The values that equality compares."""
        return tuple(mark(getattr(self, item.name)) for item in fields(self))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameter):
            return NotImplemented
        return type(self) is type(other) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.identity))


class _Number(Parameter):
    """What `Float` and `Int` share."""

    low: float
    high: float
    log: bool
    step: float | None

    @cached_property
    def length(self) -> float:
        """The distance of the bounds, in the units of `input_std`."""
        if not self.log:
            return self.high - self.low
        if self.high / 2 <= self.low:  # the difference of their logarithms would cancel
            return math.log1p((self.high - self.low) / self.low)
        return math.log(self.high) - math.log(self.low)

    def __repr__(self) -> str:
        """The call that declares the number; messages about invalid ones show it too."""
        log = "" if self.log is False else f", log={self.log!r}"
        is_usual = self.step is None or (type(self.step) is int and self.step == type(self).step)
        step = "" if is_usual else f", step={self.step!r}"
        std = "" if self.input_std is None else f", input_std={self.input_std!r}"
        return f"{type(self).__name__}({self.low!r}, {self.high!r}{log}{step}{std})"


@dataclass(frozen=True, eq=False, repr=False)
class Float(_Number):
    """A real number, on a linear or logarithmic scale, or on a grid of `step` that starts at `low`.

    >>> Float(1e-5, 1e-1, log=True)
    Float(1e-05, 0.1, log=True)
    >>> Float(0, 1, step=0.1).at(3)
    0.3
    >>> Float(0, 300, input_std=2.0)  # a temperature that is held to within two degrees
    Float(0.0, 300.0, input_std=2.0)
    """

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    input_std: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        given = repr(self)
        low, high = exact_float(self.low), exact_float(self.high)
        if low is None or high is None:
            raise SpaceError(f"{given}: bounds must be finite numbers; write Float(0.0, 1.0)")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        _check_order(given, low, high)
        _check_log(given, self.log, low, 1e-6)
        if self.log and math.log(low) == math.log(high):
            raise SpaceError(
                f"{given}: the bounds have the same logarithm up to rounding; drop log, or write "
                f"Fixed({low!r})"
            )
        if self.step is not None:
            self._check_step(given)
        object.__setattr__(self, "input_std", _checked_input_std(given, self))

    def _check_step(self, given: str) -> None:
        step = exact_float(self.step)
        if step is None or step <= 0:
            raise SpaceError(
                f"{given}: step must be a number above 0; leave it out for a continuum"
            )
        object.__setattr__(self, "step", step)
        if self.log:
            raise SpaceError(
                f"{given}: log and step cannot be combined; drop one, or list an Ordinal"
            )
        ulp = math.ulp(max(abs(self.low), abs(self.high)))
        if step < 4 * ulp:
            raise SpaceError(
                f"{given}: the step is below the rounding error at these bounds; use a larger one"
            )
        steps = self._steps(self.high)
        if not steps < MOST_LEVELS:
            raise SpaceError(f"{given}: more than 2**50 values; drop step for a continuum")
        tolerance = min(STEP_TOLERANCE * steps, 1e-3) + 2 * ulp / step
        if round(steps) < 1 or abs(steps - round(steps)) > tolerance:
            near = (math.floor(steps), math.ceil(steps))
            tries = " or ".join(f"{self.low + step * n:.12g}" for n in near if n > 0)
            raise SpaceError(
                f"{given}: high - low is not a whole number of steps; try high={tries}"
            )

    @cached_property
    def levels(self) -> int | None:
        return None if self.step is None else round(self._steps(self.high)) + 1

    @property
    def allowed(self) -> str:
        steps = "" if self.step is None else f" in steps of {self.step!r}"
        return f"a number from {self.low!r} to {self.high!r}{steps}"

    def at(self, index: int) -> float:
        """Value number `index` of the grid, as its decimals are written: 0.3, not 3 × 0.1."""
        if index + 1 == self.levels:
            return self.high
        low, step = self._decimals
        return float(low + index * step)

    @cached_property
    def _decimals(self) -> tuple[Decimal, Decimal]:
        return Decimal(repr(self.low)), Decimal(repr(self.step))

    def index(self, value: float) -> int:
        """The number of the grid value nearest to `value`."""
        return min(max(round(self._steps(value)), 0), (self.levels or 1) - 1)

    def _steps(self, value: float) -> float:
        """The distance of `value` from `low` in steps, for a parameter that has them."""
        step = self.step or math.inf
        if math.isfinite(value - self.low):
            return (value - self.low) / step
        return (value / 2 - self.low / 2) / (step / 2)

    def check(self, value: object, name: str) -> float:
        number = value + 0.0 if type(value) is float else exact_float(value)
        if number is None or not math.isfinite(number):
            raise self.refuse(value, name, "not a finite number")
        if not self.low <= number <= self.high:
            slack = BOUND_TOLERANCE * self.high - BOUND_TOLERANCE * self.low
            if number < self.low - slack:
                raise self.refuse(value, name, "below its lower bound")
            if number > self.high + slack:
                raise self.refuse(value, name, "above its upper bound")
            number = min(max(number, self.low), self.high)
        if self.step is None:
            return number
        level = self.at(self.index(number))
        if abs(number - level) > max(STEP_TOLERANCE * self.step, 2 * math.ulp(number)):
            raise self.refuse(value, name, f"off the grid (the nearest value is {level!r})")
        return level


@dataclass(frozen=True, eq=False, repr=False)
class Int(_Number):
    """A whole number, on a linear or logarithmic scale; `Int(0, 100, step=5)` takes every fifth.

    >>> Int(16, 512, log=True)
    Int(16, 512, log=True)
    """

    low: int
    high: int
    log: bool = field(default=False, kw_only=True)
    step: int = field(default=1, kw_only=True)
    input_std: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        given = repr(self)
        low, high = exact_int(self.low), exact_int(self.high)
        if low is None or high is None:
            raise SpaceError(
                f"{given}: bounds must be whole numbers; write Int(1, 10), or use Float"
            )
        step = 1 if self.step is None else exact_int(self.step)
        if step is None or step <= 0:
            raise SpaceError(f"{given}: step must be a whole number above 0; leave it out for 1")
        for name, number in (("low", low), ("high", high), ("step", step)):
            object.__setattr__(self, name, number)
        _check_order(given, low, high)
        _check_log(given, self.log, low, 1)
        if self.log and step != 1:
            raise SpaceError(
                f"{given}: log and step cannot be combined; drop one, or list an Ordinal"
            )
        if (high - low) % step:
            below = high - (high - low) % step
            tries = " or ".join(str(fit) for fit in (below, below + step) if fit > low)
            raise SpaceError(
                f"{given}: high - low is not a whole number of steps; try high={tries}"
            )
        if self.levels > MOST_LEVELS:
            raise SpaceError(f"{given}: more than 2**50 values; use a larger step, or Float")
        if self.log and high > MOST_LOG:
            raise SpaceError(f"{given}: high is above 2**40 on a log scale; use Float(log=True)")
        object.__setattr__(self, "input_std", _checked_input_std(given, self))

    @property
    def levels(self) -> int:
        return (self.high - self.low) // self.step + 1

    @property
    def allowed(self) -> str:
        steps = "" if self.step == 1 else f" in steps of {self.step}"
        return f"a whole number from {self.low} to {self.high}{steps}"

    def at(self, index: int) -> int:
        """Value number `index`."""
        return self.low + index * self.step

    def index(self, value: int) -> int:
        """The number of a legal value."""
        return (value - self.low) // self.step

    def check(self, value: object, name: str) -> int:
        number = value if type(value) is int else exact_int(value)
        if number is None:
            raise self.refuse(value, name, "not a whole number")
        if not self.low <= number <= self.high:
            side = "below its lower" if number < self.low else "above its upper"
            raise self.refuse(value, name, f"{side} bound")
        if (number - self.low) % self.step:
            raise self.refuse(value, name, "off the grid")
        return number


def _checked_input_std(given: str, number: Float | Int) -> float | None:
    """The standard deviation of the input noise; None for 0."""
    if number.input_std is None:
        return None
    std = exact_float(number.input_std)
    if std is None or std < 0:
        raise SpaceError(
            f"{given}: input_std must be a finite number of at least 0; leave it out for an input "
            "that is exact"
        )
    if not std <= number.length < math.inf:
        raise SpaceError(
            f"{given}: input_std is {within(number)}; widen the range, or give the "
            "standard deviation of one evaluation"
        )
    return std or None


def within(number: Float | Int) -> str:
    """How a standard deviation compares with the range, for messages."""
    scale = " in natural logarithms, as log=True has it" if number.log else ""
    return f"wider than the range, which is {number.length:g}{scale}"


def _check_order(given: str, low: float, high: float) -> None:
    if low == high:
        raise SpaceError(f"{given}: low equals high; write Fixed({low!r}) for a constant")
    if low > high:
        raise SpaceError(f"{given}: low is above high; swap them")


def _check_log(given: str, log: object, low: float, example: float) -> None:
    if not isinstance(log, bool):
        raise SpaceError(f"{given}: log must be True or False")
    if log and low <= 0:
        raise SpaceError(
            f"{given}: a log scale needs low above 0; try low={example!r} or log=False"
        )
