"""The encoding of the values of one parameter as one column of numbers.

A column is on the unit interval (numbers, ordinals) or holds codes 0, …, k - 1 (categories,
options). Every codec offers, over whole columns of length n:

    encode(values)   legal values to their positions
    decode(column)   positions to the nearest legal values
    spread(u)        uniform numbers to legal positions, whose values are distributed as sampled
    uniform(column)  uniform numbers that `spread` maps to the given legal positions
    snap(column)     positions to the nearest legal positions
    marks(column)    whole numbers that are equal if two positions have the same value
    numbers(column)  what `decode` gives, as an array, if the values are numbers
    between(column)  the same, but values between levels where positions are between them
"""

from __future__ import annotations

__all__ = ["Codec", "Interval", "Lattice", "LogLattice", "codec_of"]

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outcrop.space.discrete import Categorical, Choice, Ordinal
from outcrop.space.parameters import Float, Int, Parameter
from outcrop.typing import Vector

MARK = 2.0**36  # floats closer than 1 / MARK of their range share a key
FINE = 2.0**40  # ranges with fewer representable floats than this are snapped to them
SUBNORMAL = 2.0**-1022
MOST_GRID = 4096  # longer grids are not listed


class Codec(ABC):
    """Encoding of one parameter as one column."""

    @abstractmethod
    def encode(self, values: Sequence[Any]) -> Vector: ...

    @abstractmethod
    def decode(self, column: Vector) -> list[Any]: ...

    @abstractmethod
    def spread(self, u: Vector) -> Vector: ...

    @abstractmethod
    def snap(self, column: Vector) -> Vector: ...

    @abstractmethod
    def uniform(self, column: Vector) -> Vector: ...

    @abstractmethod
    def marks(self, column: Vector) -> NDArray[np.int64]: ...

    @abstractmethod
    def numbers(self, column: Vector) -> Vector: ...

    @abstractmethod
    def between(self, column: Vector) -> Vector: ...

    @property
    def grid(self) -> Vector | None:
        """Every legal position on the unit interval, if they are few."""
        return None


@dataclass(frozen=True)
class Interval(Codec):
    """A continuum from `low` to `high`; u = t(v) / t(high) with t(v) = v - low or log(v / low)."""

    low: float
    high: float
    log: bool

    def encode(self, values: Sequence[float]) -> Vector:
        return self.units(np.array(values, dtype=np.float64))

    def decode(self, column: Vector) -> list[float]:
        values: list[float] = self.values(column).tolist()
        return values

    def spread(self, u: Vector) -> Vector:
        return self.snap(u)

    def snap(self, column: Vector) -> Vector:
        if self._coarse:
            return self.units(self.values(column))
        return np.clip(column, 0.0, 1.0)

    def uniform(self, column: Vector) -> Vector:
        return column

    def marks(self, column: Vector) -> NDArray[np.int64]:
        return np.rint(self.units(self.values(column)) * MARK).astype(np.int64)

    def numbers(self, column: Vector) -> Vector:
        return self.values(column)

    def between(self, column: Vector) -> Vector:
        return self._at_distance(np.clip(column, 0.0, 1.0) * self._length)  # but for an ulp

    def units(self, values: Vector) -> Vector:
        """Positions of values within the bounds."""
        u = np.clip(self._distance(values) / self._length, 0.0, 1.0)
        return np.where(values >= self.high, 1.0, u)

    def values(self, column: Vector) -> Vector:
        """Values at positions, chosen such that encoding them again gives the same positions.

        Rounding alone would sometimes be off by an ulp, and a value could change its key in a
        round trip; so such an error is corrected by an ulp, in t or in the value.
        """
        u = np.clip(column, 0.0, 1.0)
        t = u * self._length
        values = self._at_distance(t)
        missed = self.units(values) != u
        for ulps in (1, -1, 2, -2):
            if not missed.any():
                break
            with np.errstate(over="ignore"):  # the largest float has no next one
                beside = t + ulps * np.spacing(t)
            for nearby in (self._at_distance(beside), self._nudge(values, ulps)):
                mended = missed & (self.units(nearby) == u)
                values = np.where(mended, nearby, values)
                missed &= ~mended
        return np.where(u >= 1.0, self.high, np.where(u <= 0.0, self.low, values))

    def _distance(self, values: Vector) -> Vector:
        """The distance t of each value from `low`."""
        if not self.log:
            return values * self._scale - self.low * self._scale
        if self._narrow:
            return np.asarray(np.log1p((values - self.low) / self.low))
        return np.asarray(np.log(values) - np.log(self.low))

    def _at_distance(self, t: Vector) -> Vector:
        """The value at the distance t from `low`, inverse of `_distance`."""
        with np.errstate(over="ignore"):  # an ulp beyond the largest float is clipped
            if not self.log:
                values = (self.low * self._scale + t) / self._scale
            elif self._narrow:
                values = self.low + self.low * np.expm1(t)
            else:
                values = np.exp(np.log(self.low) + t)
        return np.clip(values, self.low, self.high)

    def _nudge(self, values: Vector, ulps: int) -> Vector:
        with np.errstate(over="ignore"):
            nudged: Vector = values + ulps * np.spacing(values)
        return np.clip(nudged, self.low, self.high)

    @cached_property
    def _length(self) -> float:
        return float(self._distance(np.array([self.high]))[0])

    @cached_property
    def _scale(self) -> float:
        return 1.0 if math.isfinite(self.high - self.low) else 0.5

    @cached_property
    def _narrow(self) -> bool:
        return self.high / 2 <= self.low  # where log v - log low would cancel

    @cached_property
    def _coarse(self) -> bool:
        if self.log and self.low < SUBNORMAL:
            return True  # below it floats are not fine in their logarithm
        ulp = math.ulp(max(abs(self.low), abs(self.high)))
        return self.high / ulp - self.low / ulp < FINE


@dataclass(frozen=True)
class Lattice(Codec):
    """Equally spaced levels; `index` maps a value to its number, and `at` is the inverse."""

    levels: int
    is_code: bool  # whether the position of a level is its number, not a part of [0, 1]
    index: Callable[[Any], int | None]
    at: Callable[[int], Any]

    def encode(self, values: Sequence[Any]) -> Vector:
        return np.array([self.index(value) for value in values], np.float64) / self._scale

    def decode(self, column: Vector) -> list[Any]:
        return [self.at(index) for index in self.marks(column).tolist()]

    def spread(self, u: Vector) -> Vector:
        return np.clip(np.floor(u * self.levels), 0, self.levels - 1) / self._scale

    def snap(self, column: Vector) -> Vector:
        return self.marks(column) / self._scale

    def uniform(self, column: Vector) -> Vector:
        return (self.marks(column) + 0.5) / self.levels

    def marks(self, column: Vector) -> NDArray[np.int64]:
        within = np.clip(column, 0.0, (self.levels - 1) / self._scale)
        return np.rint(within * self._scale).astype(np.int64)

    def numbers(self, column: Vector) -> Vector:
        marks = self.marks(column)
        if self._values is not None:
            return self._values[marks]
        levels, where = np.unique(marks, return_inverse=True)
        values = np.array([self.at(level) for level in levels.tolist()], dtype=np.float64)
        return values[where.reshape(-1)]

    def between(self, column: Vector) -> Vector:
        place = np.clip(column, 0.0, (self.levels - 1) / self._scale) * self._scale
        if self._values is not None:
            return np.interp(place, np.arange(self.levels), self._values)
        below = np.minimum(np.floor(place), self.levels - 2)
        low, high = (self.numbers((below + side) / self._scale) for side in (0, 1))
        return low + (place - below) * (high - low)

    @cached_property
    def grid(self) -> Vector | None:
        if self.is_code or self.levels > MOST_GRID:
            return None
        return np.arange(self.levels) / self._scale

    @cached_property
    def _values(self) -> Vector | None:
        """Every value of a column of numbers, if they are few."""
        if self.levels > MOST_GRID:
            return None
        return np.array([self.at(level) for level in range(self.levels)], dtype=np.float64)

    @cached_property
    def _scale(self) -> int:
        return 1 if self.is_code else self.levels - 1


@dataclass(frozen=True)
class LogLattice(Codec):
    """Whole numbers on a log scale; sampling gives each its share of log [low - ½, high + ½]."""

    low: int
    high: int

    def encode(self, values: Sequence[int]) -> Vector:
        return self._interval.encode(values)

    def decode(self, column: Vector) -> list[int]:
        values: list[int] = self.marks(column).tolist()
        return values

    def spread(self, u: Vector) -> Vector:
        wide = np.log(self.low - 0.5), np.log(self.high + 0.5)
        values = np.rint(np.exp(wide[0] + np.clip(u, 0.0, 1.0) * (wide[1] - wide[0])))
        return self._interval.units(np.clip(values, self.low, self.high))

    def uniform(self, column: Vector) -> Vector:
        wide = np.log(self.low - 0.5), np.log(self.high + 0.5)
        return (np.log(self.marks(column)) - wide[0]) / (wide[1] - wide[0])

    def snap(self, column: Vector) -> Vector:
        return self._interval.units(self.marks(column).astype(np.float64))

    def marks(self, column: Vector) -> NDArray[np.int64]:
        u = np.clip(column, 0.0, 1.0)
        below = np.clip(np.floor(self._interval.values(u)), self.low, self.high - 1)
        nearer_above = self._interval.units(below + 1) - u < u - self._interval.units(below)
        return (below + nearer_above).astype(np.int64)

    def numbers(self, column: Vector) -> Vector:
        return self.marks(column).astype(np.float64)

    def between(self, column: Vector) -> Vector:
        return self._interval.between(column)

    @cached_property
    def grid(self) -> Vector | None:
        if self.high - self.low >= MOST_GRID:
            return None
        return self._interval.units(np.arange(self.low, self.high + 1, dtype=np.float64))

    @cached_property
    def _interval(self) -> Interval:
        return Interval(float(self.low), float(self.high), log=True)


def codec_of(parameter: Parameter) -> Codec:
    """The codec of every parameter but `Fixed`, which has no column."""
    match parameter:
        case Float(low, high, log=log, step=None):
            return Interval(low, high, log)
        case Int(low, high, log=True):
            return LogLattice(low, high)
        case Float() | Int() | Ordinal():
            return Lattice(parameter.levels or 1, False, parameter.index, parameter.at)
        case Categorical(choices):
            return Lattice(parameter.levels, True, parameter.index, choices.__getitem__)
        case Choice():
            return Lattice(parameter.levels, True, parameter.index, parameter.names.__getitem__)
    raise TypeError(f"{parameter!r} has no column")
