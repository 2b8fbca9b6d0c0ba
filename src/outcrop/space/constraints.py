"""Constraints among parameters, known before anything is evaluated.

A constraint is an `Expression`, which is stored with its space, a `Predicate`, a Python function
that lives in one process, or any other `Constraint`. All are evaluated for many points at once.
"""

from __future__ import annotations

__all__ = [
    "ConfigurationValues",
    "Constraint",
    "Expression",
    "PointValues",
    "Predicate",
    "admitted",
    "checked_constraints",
    "margins",
    "referred",
    "refuse_violations",
]

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import ParamsError, SpaceError
from outcrop.space.active_params import ActiveParams
from outcrop.space.conditions import Condition, Values
from outcrop.space.discrete import Fixed
from outcrop.space.expressions import parsed, values_of
from outcrop.space.parameters import Parameter
from outcrop.space.plain import find, positions
from outcrop.space.tree import Node
from outcrop.typing import Mask, Params, Points, Vector

if TYPE_CHECKING:
    from outcrop.space.space import Space

REFERRED: WeakValueDictionary[str, Predicate] = WeakValueDictionary()
MOST_DRAWS = 1_000_000  # random configurations, until none is taken to satisfy all constraints


class ConstrainedValues(Values, ABC):
    """The values of parameters at n points, in every form that a constraint may need."""

    space: Space

    @property
    @abstractmethod
    def X(self) -> Points:
        """The points `(n, D)`."""

    @abstractmethod
    def configurations(self) -> list[ActiveParams]: ...


class Constraint(ABC):
    """A condition that every configuration must satisfy."""

    most_draws: int = MOST_DRAWS
    is_costly: bool = False  # whether others are checked first
    is_declared: bool = True  # by a user; so it is an error if it is never satisfied

    @property
    @abstractmethod
    def text(self) -> str:
        """The constraint in messages."""

    @property
    def names(self) -> frozenset[str]:
        """The parameters it depends on, for messages; empty if that is not known."""
        return frozenset()

    @abstractmethod
    def admits(self, values: ConstrainedValues) -> Mask:
        """At which points it holds."""

    def margins(self, values: ConstrainedValues) -> list[Vector]:
        """Numbers that are positive where it holds, if it has such; see `conditions`."""
        return []

    def known(self, space: Space) -> Points:
        """Points at which it holds, if some are known without a search."""
        return np.zeros((0, len(space.columns)))


@dataclass(frozen=True)
class Expression(Constraint):
    """A constraint in the language of `expressions`.

    >>> from outcrop.space import Float, Space
    >>> space = Space({"a": Float(0, 1), "b": Float(0, 1)}, constraints=["a + b <= 1"])
    >>> space.validate({"a": 0.5, "b": 0.25})
    {'a': 0.5, 'b': 0.25}
    """

    written: str = field(compare=False)
    condition: Condition

    @property
    def text(self) -> str:
        return repr(self.written)

    @property
    def names(self) -> frozenset[str]:
        return self.condition.names

    def admits(self, values: ConstrainedValues) -> Mask:
        return np.broadcast_to(self.condition.holds(values), len(values.X))

    def margins(self, values: ConstrainedValues) -> list[Vector]:
        return [np.broadcast_to(each, len(values.X)) for each in self.condition.margins(values)]

    def __repr__(self) -> str:
        return repr(self.written)


@dataclass(frozen=True)
class Predicate(Constraint):
    """A Python function of a configuration, as a dict by flat names, that returns True or False."""

    function: Callable[[ActiveParams], bool]

    is_costly = True

    @cached_property
    def reference(self) -> str:
        """A name by which `referred` finds the predicate in this process, while it exists."""
        name = uuid.uuid4().hex
        REFERRED[name] = self
        return name

    @property
    def text(self) -> str:
        return str(getattr(self.function, "__qualname__", repr(self.function)))

    def admits(self, values: ConstrainedValues) -> Mask:
        return np.array([self._holds(row) for row in values.configurations()], dtype=np.bool_)

    def _holds(self, params: ActiveParams) -> bool:
        shown = dict(params)
        try:
            answer: object = self.function(params)
        except Exception as error:
            raise SpaceError(
                f"the constraint {self.text} raised {type(error).__name__}: {error}, at {shown}; "
                "it must answer every configuration, and inactive parameters are absent from it"
            ) from error
        if not isinstance(answer, bool | np.bool_):
            raise SpaceError(
                f"the constraint {self.text} returned {answer!r} at {shown}, expected True or False"
            )
        return bool(answer)

    def __repr__(self) -> str:
        return self.text


def referred(reference: object) -> Predicate:
    """The predicate of this process that has a `reference`."""
    found = REFERRED.get(reference) if isinstance(reference, str) else None
    if found is None:
        raise SpaceError(
            "a stored space has a constraint that is a Python function of another process; write "
            "it as an expression, such as 'x1 + x2 <= 1'"
        )
    return found


def checked_constraints(
    given: object, parameters: Mapping[str, Parameter]
) -> tuple[Constraint, ...]:
    """The constraints of a space, from texts, functions and ready ones."""
    if isinstance(given, str | Constraint) or callable(given) or not isinstance(given, Sequence):
        raise SpaceError(
            f"constraints: expected a list, got {given!r}; write constraints=['x1 + x2 <= 1']"
        )
    return tuple(_checked(each, parameters) for each in given)


def _checked(given: Any, parameters: Mapping[str, Parameter]) -> Constraint:
    if isinstance(given, Constraint):
        return given
    if isinstance(given, str):
        text = given.strip()
        return Expression(text, parsed(text, parameters))
    if callable(given):
        return Predicate(given)
    raise SpaceError(
        f"constraints: {given!r} is neither an expression, such as 'x1 + x2 <= 1', nor a function "
        "of a configuration that returns True or False"
    )


def admitted(space: Space, X: Points) -> Mask:
    """Which legal points satisfy all constraints of a space; costly ones are asked last."""
    found = np.ones(len(X), dtype=np.bool_)
    for constraint in sorted(space.constraints, key=lambda each: bool(each.is_costly)):
        left = np.flatnonzero(found)
        found[left] = constraint.admits(PointValues(space, X[left]))
    return found


def margins(space: Space, X: Points) -> Points:
    """The margins of all constraints that have some, `(n, m)`; numbers may be between levels."""
    values = PointValues(space, X, relaxed=True)
    found = [margin for each in space.constraints for margin in each.margins(values)]
    return np.stack(found, axis=1) if found else np.zeros((len(X), 0))


def refuse_violations(space: Space, params: Params) -> None:
    """Raise if a legal configuration violates a constraint."""
    values = ConfigurationValues(space, params)
    for constraint in space.constraints:
        if not constraint.admits(values).all():
            shown = [f"{name!r} is {params[name]!r}" for name in params if name in constraint.names]
            raise ParamsError(
                f"the constraint {constraint.text} is violated: {', '.join(shown) or dict(params)}"
            )


@dataclass(frozen=True, eq=False)
class PointValues(ConstrainedValues):
    """The values at encoded points.

    They are legal points; if `relaxed`, their numbers may be between levels.
    """

    space: Space
    points: Points
    relaxed: bool = False

    @property
    def X(self) -> Points:
        return self.points

    def numbers(self, name: str) -> Vector:
        if name not in self._numbers:
            self._numbers[name] = self._decoded(name)
        return self._numbers[name]

    def codes(self, name: str) -> NDArray[np.int64]:
        column = self.space.nodes[name].column
        if column is None:
            return np.zeros(len(self.points), dtype=np.int64)
        return self.space.columns[column].codec.marks(self.points[:, column])

    def active(self, name: str) -> Mask:
        node = self.space.nodes[name]
        if not node.conditions:
            return np.ones(1, dtype=np.bool_)
        return self.space.holds(node.conditions, self.points, self._active)

    def configurations(self) -> list[ActiveParams]:
        return self.space.decode(self.points)

    def _decoded(self, name: str) -> Vector:
        node: Node = self.space.nodes[name]
        if isinstance(node.parameter, Fixed):
            return np.full(len(self.points), node.parameter.value, dtype=np.float64)
        assert node.column is not None  # only a fixed parameter has no column
        codec, place = self.space.columns[node.column].codec, self.points[:, node.column]
        return codec.between(place) if self.relaxed else codec.numbers(place)

    @cached_property
    def _numbers(self) -> dict[str, Vector]:
        """Values that were decoded, by name."""
        return {}

    @cached_property
    def _active(self) -> Mask:
        return self.space.active(self.points)


@dataclass(frozen=True, eq=False)
class ConfigurationValues(ConstrainedValues):
    """The values of one legal configuration."""

    space: Space
    params: Params

    @cached_property
    def X(self) -> Points:
        return self.space.encode_legal([self.params]).X

    def numbers(self, name: str) -> Vector:
        return np.array([self.params.get(name, 0.0)], dtype=np.float64)

    def codes(self, name: str) -> NDArray[np.int64]:
        values = values_of(self.space.parameters[name]) or ()
        return np.array([find(values, positions(values), self.params.get(name)) or 0])

    def active(self, name: str) -> Mask:
        return np.array([name in self.params])

    def configurations(self) -> list[ActiveParams]:
        return [ActiveParams(self.params)]
