"""The search space: names, parameters, and their encoding for models.

Notation: a space has D columns, one for each parameter that is not fixed; encoded points `X` are
`(n, D)`, with numbers and ordinals on the unit interval and categories and options as codes.
Entries of inactive parameters are 0.
"""

from __future__ import annotations

__all__ = ["Encoded", "Space"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, overload

import numpy as np

from outcrop.errors import ParamsError, ShapeError, SpaceError
from outcrop.space import constraints, noise, serial, tree, wording
from outcrop.space.active_params import ActiveParams, Names
from outcrop.space.admissible_points import Region
from outcrop.space.checking import checked, flattened
from outcrop.space.discrete import Fixed, Group, checked_group
from outcrop.space.enumeration import MOST_LISTED, every
from outcrop.space.parameters import Parameter
from outcrop.space.tree import Branch, Column, Node
from outcrop.typing import (
    Conditions,
    Configuration,
    JsonDict,
    Mask,
    Matrix,
    Params,
    Points,
    Rng,
    Vector,
)

MOST_BRANCHES = 100_000  # more are not listed


class Encoded(NamedTuple):
    """Configurations as numbers: points `(n, D)`, and which of their entries are active."""

    X: Points
    active: Mask


@dataclass(frozen=True, eq=False, repr=False)
class Space:
    """A search space: a mapping of names to parameters.

    >>> from outcrop.space import Choice, Float, Int
    >>> model = Choice({"linear": {}, "mlp": {"layers": Int(1, 4)}})
    >>> space = Space({"x": Float(0, 1), "model": model})
    >>> space.validate({"x": 1, "model": {"mlp": {"layers": 2}}})
    {'x': 1.0, 'model': 'mlp', 'model.mlp.layers': 2}
    >>> list(space.parameters)
    ['x', 'model', 'model.mlp.layers']

    Inputs with noise have an `input_std`, or a joint covariance by flat names in the units of
    `input_std`:

    >>> area = {"north": Float(0, 500), "east": Float(0, 300)}
    >>> drone = Space(area, input_covariance={("north", "east"): [[4.0, 1.0], [1.0, 9.0]]})
    >>> drone.unit_covariance.diagonal() ** 0.5  # of the unit cube
    array([0.004, 0.01 ])

    `constraints` are expressions, or functions of a configuration, which cannot be stored:

    >>> mixture = {"water": Float(0, 1), "acid": Float(0, 1)}
    >>> mixture = Space(mixture, constraints=["water + acid <= 1", lambda p: p["acid"] > 0.01])
    >>> mixture.validate({"water": 0.75, "acid": 0.5})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    outcrop.errors.ParamsError: the constraint 'water + acid <= 1' is violated: 'water' is ...
    """

    declared: Group
    input_covariance: Mapping[tuple[str, ...], Any] = field(default_factory=dict, kw_only=True)
    constraints: Sequence[Any] = field(default=(), kw_only=True)  # kept as `Constraint` objects

    def __post_init__(self) -> None:
        declared = checked_group(self.declared, "Space")
        if not declared:
            raise SpaceError("Space({}): no parameters; give at least one")
        object.__setattr__(self, "declared", declared)
        blocks = noise.checked_blocks(self.input_covariance, self.parameters)
        object.__setattr__(self, "input_covariance", MappingProxyType(blocks))
        given = constraints.checked_constraints(self.constraints, self.parameters)
        object.__setattr__(self, "constraints", given)
        if any(each.is_declared for each in given) and self.region.is_empty:
            raise self.region.explained()

    # Contents

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """Flat name to parameter in declaration order, conditional ones included."""
        return MappingProxyType({name: node.parameter for name, node in self.nodes.items()})

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The place of every parameter in the tree of choices, by flat name."""
        return MappingProxyType({node.name: node for node in tree.walk(self._roots)})

    @cached_property
    def names(self) -> Names:
        """The flat names of parameters and options, by which configurations are looked up."""
        return Names.of(self.nodes.values())

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """One column for each parameter that is not fixed, in declaration order."""
        return tuple(
            Column(node.name, node.parameter, node.column, node.parameter.levels, node.conditions)
            for node in self.nodes.values()
            if node.column is not None
        )

    @cached_property
    def size(self) -> int | None:
        """The number of distinct configurations, or None if the space holds a continuum.

        With constraints it is None if there are too many configurations to check each.
        """
        size = self.declared_size
        if not self.constraints or size is None:
            return size
        return len(every(self)) if size <= MOST_LISTED else None

    @cached_property
    def declared_size(self) -> int | None:
        """The same without constraints."""
        return tree.count_values(self.declared)

    @cached_property
    def n_branches(self) -> int:
        """The number of `branches`, found without listing them."""
        return tree.count_branches(self.declared)

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """Every combination of options that can be active together, with the names it activates."""
        if self.n_branches > MOST_BRANCHES:
            raise SpaceError(
                f"the space has {self.n_branches} branches, too many to list (at most "
                f"{MOST_BRANCHES}); use n_branches, or fewer Choices side by side"
            )
        return tuple(tree.list_branches(self.declared))

    @cached_property
    def unit_covariance(self) -> Matrix:
        """The covariance `(D, D)` of the input noise, in units of the unit cube.

        It is 0 for exact columns. Inactive parameters are exact.
        """
        return noise.unit_covariance(self.columns, self.input_covariance)

    @property
    def has_input_noise(self) -> bool:
        """Whether any parameter has input noise."""
        return bool(self.unit_covariance.any())

    # Configurations

    def validate(self, params: Params) -> ActiveParams:
        """The flat configuration of active parameters, as plain values, or `ParamsError`.

        Takes the flat and the nested form; fixed parameters may be left out.
        """
        legal = ActiveParams(checked(self._roots, params), self.names)
        if self.constraints:
            constraints.refuse_violations(self, legal)
        return legal

    def nest(self, params: Params) -> Configuration:
        """A configuration in its nested form, `{"model": {"mlp": {"layers": 2}}}`."""
        return self.validate(params).nested

    def flatten(self, params: Params) -> Configuration:
        """A part of a configuration by flat names, from either form; its values are not checked."""
        return flattened(self._roots, params)

    def key(self, params: Params) -> str:
        """A text that is the same for two configurations if and only if they are equal.

        Floats are rounded to 2⁻³⁶ of their range, so that rounding errors do not hide a repetition.
        """
        return self.keys(self.encode([params]).X)[0]

    def keys(self, X: Points) -> list[str]:
        """The keys of the configurations that `decode` gives at the rows of `X`."""
        X = self._checked_points(X)
        marks = np.zeros(X.shape, dtype=np.int64)
        for column in self.columns:
            marks[:, column.index] = column.codec.marks(X[:, column.index])
        text = np.where(self.active(X), marks.astype(np.str_), "-")
        return [",".join(row) for row in text.tolist()]

    @overload
    def sample(self, rng: Rng) -> ActiveParams: ...

    @overload
    def sample(self, rng: Rng, n: int) -> list[ActiveParams]: ...

    def sample(self, rng: Rng, n: int | None = None) -> ActiveParams | list[ActiveParams]:
        """One random configuration, or a list of `n`: uniform, log-uniform where `log` is set.

        Where constraints leave little of the space, `n` of them are not quite independent.
        """
        U = rng.random((1 if n is None else n, len(self.columns)))
        params = self.decode(self.admissible(U, rng))
        return params[0] if n is None else params

    # Constraints

    @cached_property
    def region(self) -> Region:
        """The points that satisfy the constraints, to draw from."""
        return Region(self)

    @cached_property
    def unconstrained(self) -> Space:
        """The same space without constraints."""
        if not self.constraints:
            return self
        return Space(self.declared, input_covariance=self.input_covariance)

    def admits(self, X: Points) -> Mask:
        """Which legal points satisfy all constraints."""
        return constraints.admitted(self, self._checked_points(X))

    def margins(self, X: Points) -> Points:
        """How far points, or those between levels, are from borders `(n, m)`; see `conditions`."""
        return constraints.margins(self, self._checked_points(X))

    def admissible(self, U: Points, rng: Rng) -> Points:
        """Points from uniform numbers; where constraints are violated, random others instead."""
        return self.region.mended(U, rng) if self.constraints else self.from_uniform(U)

    # Encoding

    def encode(self, params: Sequence[Params]) -> Encoded:
        """Points and active mask of a list of configurations, which are validated."""
        if not isinstance(params, Sequence) or isinstance(params, str | bytes):
            raise ParamsError(f"expected a list of configurations, got {params!r}; write [params]")
        legal = []
        for index, each in enumerate(params):
            try:
                legal.append(self.validate(each))
            except ParamsError as error:
                raise ParamsError(f"configuration {index}: {error}") from None
        return self.encode_legal(legal)

    def encode_legal(self, rows: Sequence[Params]) -> Encoded:
        """`encode` for configurations that `validate` returned; they are not checked again."""
        X = np.zeros((len(rows), len(self.columns)))
        active = np.zeros(X.shape, dtype=np.bool_)
        for column in self.columns:
            name, j = column.name, column.index
            if column.conditions:
                active[:, j] = [name in row for row in rows]
                X[active[:, j], j] = column.codec.encode([row[name] for row in rows if name in row])
            else:
                active[:, j] = True
                X[:, j] = column.codec.encode([row[name] for row in rows])
        return Encoded(X, active)

    def decode(self, X: Points) -> list[ActiveParams]:
        """Configurations at the legal points nearest to the rows of `X`."""
        X = self._checked_points(X)
        active = self.active(X)
        rows = [ActiveParams({}, self.names) for _ in X]
        for node in self.nodes.values():
            if isinstance(node.parameter, Fixed):
                values = [node.parameter.value] * len(X)
                present = self.holds(node.conditions, X, active)
            else:
                j = node.column
                assert j is not None  # only a fixed parameter has no column
                values = self.columns[j].codec.decode(X[:, j])
                present = active[:, j]
            for row, value, here in zip(rows, values, present.tolist(), strict=True):
                if here:
                    row[node.name] = value
        return rows

    def active(self, X: Points) -> Mask:
        """Which entries of `X` are active, by the options that its codes choose."""
        X = self._checked_points(X)
        active = np.ones(X.shape, dtype=np.bool_)
        for column in self.columns:
            if column.conditions:
                active[:, column.index] = self.holds(column.conditions, X, active)
        return active

    def holds(self, conditions: Conditions, X: Points, active: Mask) -> Mask:
        """Where the innermost of `conditions` holds and its own column is active."""
        if not conditions:
            return np.ones(len(X), dtype=np.bool_)
        index, code = conditions[-1]
        chosen: Mask = self.columns[index].codec.snap(X[:, index]) == code
        return chosen & active[:, index]

    def from_uniform(self, U: Points) -> Points:
        """Legal points from uniform numbers in [0, 1], `(n, D)`, spread as `sample` spreads them.

        Every value of an `Int` gets the same share of [0, 1], or on a log scale its share of the
        logarithmic interval from low - ½ to high + ½.
        """
        U = np.clip(self._checked_points(U), 0.0, 1.0)
        return self._each(U, lambda column, u: column.codec.spread(u))

    def snap(self, X: Points) -> Points:
        """The legal points nearest to the rows of `X`; idempotent."""
        return self._each(self._checked_points(X), lambda column, x: column.codec.snap(x))

    # Serialisation

    def to_json(self, *, in_process: bool = False) -> JsonDict:
        """The declaration as a JSON object; `from_json` reads it back.

        Constraints that are functions are refused, unless it is read `in_process` only.
        """
        data = {"version": serial.VERSION, "parameters": serial.write_group(self.declared)}
        data |= serial.write_blocks(self.input_covariance)
        return data | serial.write_constraints(self.constraints, in_process)

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | str) -> Space:
        """The space that `to_json` wrote, from the object or its text."""
        declared, blocks, limits = serial.read_space(data)
        return cls(declared, input_covariance=blocks, constraints=limits)

    def difference(self, other: Space) -> list[str]:
        """One line for each difference from `other`; empty if the spaces are equal."""
        lines = wording.differences(self.parameters, other.parameters)
        lines += wording.noise_differences(self.input_covariance, other.input_covariance)
        return lines + wording.constraint_differences(self.constraints, other.constraints)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        noise = frozenset(self.input_covariance.items())
        return tuple(self.declared.items()), noise, frozenset(self.constraints)

    def __reduce__(self) -> tuple[Callable[..., Space], tuple[object, ...]]:
        return _made, (dict(self.declared), dict(self.input_covariance), self.constraints)

    def __repr__(self) -> str:
        return wording.declaration(self.declared, self.input_covariance, self.constraints)

    def _repr_html_(self) -> str:
        from outcrop.space.space_html import space_html  # needed by notebooks alone

        return space_html(tuple(self.nodes.values()), self.size, self.constraints)

    # Helpers

    @cached_property
    def _roots(self) -> tuple[Node, ...]:
        return tree.plant(self.declared)

    def _checked_points(self, X: Points) -> Points:
        try:
            points = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise ShapeError(f"expected an array of numbers (n, {len(self.columns)})") from None
        if points.ndim != 2 or points.shape[1] != len(self.columns):
            raise ShapeError(
                f"expected X (n, {len(self.columns)}), one column for each of "
                f"{[column.name for column in self.columns]}, got {points.shape}"
            )
        if np.isnan(points).any():
            raise ParamsError("X holds NaN; inactive entries are 0, every other one is a number")
        return points

    def _each(self, points: Points, change: Callable[[Column, Vector], Vector]) -> Points:
        """Apply a function to every column, then set inactive entries to 0."""
        X = np.empty_like(points)
        for column in self.columns:
            X[:, column.index] = change(column, points[:, column.index])
        return np.where(self.active(X), X, 0.0)


def _made(declared: Group, blocks: Mapping[tuple[str, ...], Any], limits: Any = ()) -> Space:
    """The constructor for pickle, which passes arguments by position only."""
    return Space(declared, input_covariance=blocks, constraints=limits)
