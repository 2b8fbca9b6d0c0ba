"""Conditions on the values of parameters, as trees that are evaluated for many points at once.

A term is a number for each of n points, a condition is true or false for each. Terms are evaluated
to their value and their size, the sum of the magnitudes that were added up: two sides of a
comparison that differ by less than `ROUNDING` of their sizes count as equal, so that 0.1 + 0.2 is
0.3. A comparison with an inactive parameter is true, whatever is compared.

The margin of a condition is positive where it holds and negative where it does not; searches that
move along a border follow it. It is ±∞ where no number could change the condition.
"""

from __future__ import annotations

__all__ = [
    "Alike",
    "All",
    "Among",
    "Any",
    "Comparison",
    "Condition",
    "Name",
    "Number",
    "Product",
    "Sum",
    "Term",
    "Values",
    "negated",
]

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from outcrop.typing import Mask, Vector

ROUNDING = 1e-12  # relative to the sizes of both sides; exact arithmetic is off by 1e-16
OPPOSITE = {"<=": ">", ">": "<=", "<": ">=", ">=": "<", "==": "!=", "!=": "=="}


class Values(Protocol):
    """The values of parameters at n points, by flat names."""

    def numbers(self, name: str) -> Vector:
        """Of a parameter whose values are numbers; anything where it is inactive."""
        ...

    def codes(self, name: str) -> NDArray[np.int64]:
        """Positions in the list of values of a discrete parameter; likewise."""
        ...

    def active(self, name: str) -> Mask:
        """Where the parameter is active."""
        ...


# Terms


class Measured(NamedTuple):
    """Values of a term, and the magnitudes that were added up to them."""

    values: Vector
    sizes: Vector


class Term(ABC):
    """A number that depends on parameters."""

    @property
    @abstractmethod
    def names(self) -> frozenset[str]:
        """The parameters it depends on."""

    @abstractmethod
    def measured(self, values: Values) -> Measured: ...


@dataclass(frozen=True)
class Number(Term):
    """A constant."""

    value: float

    @property
    def names(self) -> frozenset[str]:
        return frozenset()

    def measured(self, values: Values) -> Measured:
        return Measured(np.array([self.value]), np.array([abs(self.value)]))


@dataclass(frozen=True)
class Name(Term):
    """The value of a parameter, by its flat name."""

    name: str

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.name})

    def measured(self, values: Values) -> Measured:
        found = values.numbers(self.name)
        return Measured(found, np.abs(found))


@dataclass(frozen=True)
class Sum(Term):
    """Terms with their signs, 1 or −1."""

    terms: tuple[tuple[int, Term], ...]

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset().union(*(term.names for _, term in self.terms))

    def measured(self, values: Values) -> Measured:
        parts = [(sign, term.measured(values)) for sign, term in self.terms]
        (sign, first), *others = parts
        total, size = sign * first.values, first.sizes
        for sign, part in others:
            total, size = total + sign * part.values, size + part.sizes
        return Measured(total, size)


@dataclass(frozen=True)
class Product(Term):
    """A term multiplied by others, and divided by those that are marked."""

    first: Term
    others: tuple[tuple[bool, Term], ...]  # whether it divides

    @cached_property
    def names(self) -> frozenset[str]:
        return self.first.names.union(*(term.names for _, term in self.others))

    def measured(self, values: Values) -> Measured:
        total, size = self.first.measured(values)
        for divides, term in self.others:
            part = term.measured(values)
            if divides:
                total, size = total / part.values, size / np.abs(part.values)
                size = size * (part.sizes / np.abs(part.values))
            else:
                total, size = total * part.values, size * part.sizes
        return Measured(total, size)


# Conditions


class Condition(ABC):
    """True or false at each point."""

    @property
    @abstractmethod
    def names(self) -> frozenset[str]:
        """The parameters it depends on."""

    @abstractmethod
    def holds(self, values: Values) -> Mask: ...

    @abstractmethod
    def margins(self, values: Values) -> list[Vector]:
        """One margin for each part that must hold; all are positive where the condition holds."""


@dataclass(frozen=True)
class Comparison(Condition):
    """Two terms, compared up to rounding."""

    left: Term
    sign: str
    right: Term

    @cached_property
    def names(self) -> frozenset[str]:
        return self.left.names | self.right.names

    def holds(self, values: Values) -> Mask:
        with np.errstate(all="ignore"):
            left, right = self.left.measured(values), self.right.measured(values)
            ahead = left.values - right.values
            slack = ROUNDING * (left.sizes + right.sizes)
        slack = np.where(np.isfinite(slack), slack, 0.0)
        holds: Mask
        match self.sign:
            case "<=":
                holds = ahead <= slack
            case "<":
                holds = ahead < -slack
            case ">=":
                holds = ahead >= -slack
            case ">":
                holds = ahead > slack
            case "==":
                holds = np.abs(ahead) <= slack
            case _:
                holds = np.abs(ahead) > slack
        return holds | self._is_idle(values)

    def margins(self, values: Values) -> list[Vector]:
        with np.errstate(all="ignore"):
            left, right = self.left.measured(values), self.right.measured(values)
            ahead = left.values - right.values
        if self.sign == "==":
            margin = -np.abs(ahead)
        elif self.sign == "!=":  # no border to follow
            margin = np.where(ahead == 0.0, -np.inf, np.inf)
        else:
            margin = ahead if self.sign in (">", ">=") else -ahead
        margin = np.where(np.isnan(margin), -np.inf, margin)
        return [np.where(self._is_idle(values), np.inf, margin)]

    def _is_idle(self, values: Values) -> Mask:
        """Where a parameter of the comparison is inactive."""
        idle: Mask = np.zeros(1, dtype=np.bool_)
        for name in self.names:
            idle = idle | ~values.active(name)
        return idle


@dataclass(frozen=True)
class Among(Condition):
    """Whether the value of a discrete parameter is one of some; true where it is inactive."""

    name: str
    accepted: tuple[bool, ...]  # for each of its values

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.name})

    def holds(self, values: Values) -> Mask:
        found: Mask = np.array(self.accepted)[values.codes(self.name)]
        return found | ~values.active(self.name)

    def margins(self, values: Values) -> list[Vector]:
        return _unbordered(self.holds(values))


@dataclass(frozen=True)
class Alike(Condition):
    """Whether two discrete parameters have values that go together; true if one is inactive."""

    left: str
    right: str
    accepted: tuple[tuple[bool, ...], ...]  # for each value of the left one and of the right one

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.left, self.right})

    def holds(self, values: Values) -> Mask:
        found: Mask = np.array(self.accepted)[values.codes(self.left), values.codes(self.right)]
        return found | ~values.active(self.left) | ~values.active(self.right)

    def margins(self, values: Values) -> list[Vector]:
        return _unbordered(self.holds(values))


@dataclass(frozen=True)
class _Joined(Condition):
    parts: tuple[Condition, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset().union(*(part.names for part in self.parts))


@dataclass(frozen=True)
class All(_Joined):
    """Conditions that must all hold."""

    def holds(self, values: Values) -> Mask:
        return reduce(np.logical_and, [part.holds(values) for part in self.parts])

    def margins(self, values: Values) -> list[Vector]:
        return [margin for part in self.parts for margin in part.margins(values)]


@dataclass(frozen=True)
class Any(_Joined):
    """Conditions of which one must hold."""

    def holds(self, values: Values) -> Mask:
        return reduce(np.logical_or, [part.holds(values) for part in self.parts])

    def margins(self, values: Values) -> list[Vector]:
        each = [reduce(np.minimum, part.margins(values)) for part in self.parts]
        return [reduce(np.maximum, each)]


def negated(condition: Condition) -> Condition:
    """The condition that holds where the given one does not, but for inactive parameters.

    A negation is moved inwards to the comparisons, which are true for them either way.
    """
    match condition:
        case Comparison():
            return replace(condition, sign=OPPOSITE[condition.sign])
        case Among():
            return replace(condition, accepted=tuple(not each for each in condition.accepted))
        case Alike():
            rows = tuple(tuple(not each for each in row) for row in condition.accepted)
            return replace(condition, accepted=rows)
        case All(parts):
            return Any(tuple(map(negated, parts)))
        case Any(parts):
            return All(tuple(map(negated, parts)))
    raise TypeError(f"{condition!r} cannot be negated")


def _unbordered(holds: Mask) -> list[Vector]:
    return [np.where(holds, np.inf, -np.inf)]
