"""Discrete parameters: `Categorical`, `Ordinal`, `Fixed`, and the conditional `Choice`.

A group is a read-only mapping of names to parameters: a whole space, or the parameters below one
option of a `Choice`. Values of different types differ: 1, 1.0 and True are three categories.
"""

from __future__ import annotations

__all__ = ["Categorical", "Choice", "Fixed", "Group", "Ordinal", "checked_group"]

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from outcrop.errors import SpaceError
from outcrop.space.parameters import Parameter
from outcrop.space.plain import Mark, Plain, find, listed, mark, nearest, plain, positions

Group: TypeAlias = Mapping[str, Parameter]

KINDS = "strings, numbers, booleans, None or tuples of these"


class _Listed(Parameter):
    """A parameter that lists its values."""

    @property
    @abstractmethod
    def _members(self) -> Sequence[Plain]:
        """The values, in order."""

    @property
    def levels(self) -> int:
        return len(self._members)

    @property
    def allowed(self) -> str:
        return f"one of {listed(self._members)}"

    @cached_property
    def _where(self) -> dict[Mark, int]:
        return positions(self._members)

    def index(self, value: object) -> int | None:
        """The position of `value` in the list, or None if it is not there."""
        return find(self._members, self._where, value)

    def check(self, value: object, name: str) -> Plain:
        index = self.index(value)
        if index is not None:
            return self._members[index]
        hint = nearest(value, [item for item in self._members if isinstance(item, str)])
        raise self.refuse(value, name, "not among its values", hint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._members)!r})"


@dataclass(frozen=True, eq=False, repr=False)
class Categorical(_Listed):
    """One of several unordered values: strings, numbers, booleans, None or tuples of these.

    >>> Categorical(["relu", "tanh", None])
    Categorical(['relu', 'tanh', None])
    """

    choices: Sequence[Plain]  # kept as a tuple

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", _checked_list("Categorical", self.choices))

    @property
    def _members(self) -> Sequence[Plain]:
        return self.choices


@dataclass(frozen=True, eq=False, repr=False)
class Ordinal(_Listed):
    """One of several ordered levels; their distances count as equal.

    >>> Ordinal(["small", "medium", "large"])
    Ordinal(['small', 'medium', 'large'])
    """

    values: Sequence[int | float | str]  # kept as a tuple

    def __post_init__(self) -> None:
        values = _checked_list("Ordinal", self.values)
        for value in values:
            if type(value) not in (int, float, str):
                raise SpaceError(
                    f"Ordinal: {value!r} is not a number or a string; put levels without an "
                    "order in a Categorical"
                )
        if len(set(values)) < len(values):
            raise SpaceError(f"Ordinal({[*values]!r}): two levels are equal; list each value once")
        object.__setattr__(self, "values", values)

    @property
    def _members(self) -> Sequence[Plain]:
        return self.values

    def at(self, index: int) -> int | float | str:
        """Level number `index`."""
        return self.values[index]


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Parameter):
    """A constant that is passed to the objective with the other parameters.

    >>> Fixed("adam")
    Fixed('adam')
    """

    value: Plain

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _checked_plain("Fixed", self.value))

    @property
    def levels(self) -> int:
        return 1

    @property
    def allowed(self) -> str:
        return f"{self.value!r}, as declared by {self!r}"

    def check(self, value: object, name: str) -> Plain:
        if find((self.value,), positions((self.value,)), value) is None:
            raise self.refuse(value, name, "but it is fixed")
        return self.value

    def __repr__(self) -> str:
        return f"Fixed({self.value!r})"


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Parameter):
    """A conditional parameter: each option has parameters of its own, nested to any depth.

    >>> Choice({"linear": {}, "forest": {"depth": Fixed(4)}})
    Choice({'linear': {}, 'forest': {'depth': Fixed(4)}})

    In a space that declares `"model": Choice({"linear": {}, "mlp": {"layers": Int(1, 4)}})`, an
    objective gets the flat names of active parameters, and may write less:

        p["model"]                      # "mlp"
        p["model.mlp.layers"]           # 2; there is no such key if the model is linear
        p["layers"], p["mlp.layers"]    # the same, if no other active parameter's name ends so
        MLP(**p.kwargs("model.mlp"))    # MLP(layers=2)
        p.nested                        # {"model": {"mlp": {"layers": 2}}}
    """

    options: Mapping[str, Group]

    def __post_init__(self) -> None:
        if not isinstance(self.options, Mapping):
            raise SpaceError(
                f"Choice: {self.options!r} is not a dict; write Choice({{'linear': {{}}, …}}), or "
                "Categorical for values without parameters of their own"
            )
        if not self.options:
            raise SpaceError(
                "Choice({}): no options; give at least one, as in Choice({'linear': {}})"
            )
        options = {}
        for option, group in self.options.items():
            _check_name(option, "option of a Choice")
            options[option] = checked_group(group, f"option {option!r} of a Choice")
        object.__setattr__(self, "options", MappingProxyType(options))

    @property
    def levels(self) -> int:
        return len(self.options)

    @property
    def allowed(self) -> str:
        return f"one of the options {listed(self.names)}"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Options in declaration order; the code of an option is its index here."""
        return tuple(self.options)

    def index(self, option: str) -> int:
        """The code of an option."""
        return self._codes[option]

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {option: code for code, option in enumerate(self.options)}

    def check(self, value: object, name: str) -> str:
        option = str.__str__(value) if isinstance(value, str) else value
        if not isinstance(option, str) or option not in self.options:
            raise self.refuse(value, name, "not an option", nearest(value, self.names))
        return option

    @property
    def identity(self) -> tuple[object, ...]:
        return tuple((option, tuple(group.items())) for option, group in self.options.items())

    def __reduce__(self) -> tuple[Callable[..., Choice], tuple[object, ...]]:
        return Choice, ({option: dict(group) for option, group in self.options.items()},)

    def __repr__(self) -> str:
        return f"Choice({ {option: dict(group) for option, group in self.options.items()}!r})"


def checked_group(group: object, owner: str) -> Group:
    """A read-only copy of `group`; `SpaceError` if a name or parameter is invalid."""
    if not isinstance(group, Mapping):
        raise SpaceError(
            f"{owner}: expected a dict of names and parameters, got {group!r}; "
            "write {'lr': Float(1e-5, 1e-1, log=True)}, or {} for no parameters"
        )
    for name, parameter in group.items():
        _check_name(name, f"name in {owner}")
        if not isinstance(parameter, Parameter):
            raise SpaceError(
                f"{owner}: {name!r} is {parameter!r}, which is not a parameter; "
                f"{_remedy(parameter)}"
            )
    return MappingProxyType(dict(group))


def _check_name(name: object, what: str) -> None:
    if not isinstance(name, str) or not name:
        raise SpaceError(f"{name!r} as a {what}: must be a string that is not empty; rename it")
    if "." in name:
        raise SpaceError(
            f"{name!r} as a {what}: dots are reserved for names such as 'model.mlp.layers'; "
            f"try {name.replace('.', '_')!r}"
        )


def _remedy(value: object) -> str:
    """A hint for a value that is not a parameter."""
    if isinstance(value, type):
        return f"call it, as in {value.__name__}(…)"
    if isinstance(value, Mapping):
        return "for parameters that belong to an option write Choice({'option': {…}})"
    if isinstance(value, list | set | range):
        return f"write Categorical({list(value)!r})"
    if isinstance(value, tuple) and len(value) == 2 and all(type(v) in (int, float) for v in value):
        kind = "Int" if all(type(v) is int for v in value) else "Float"
        return f"write {kind}({value[0]!r}, {value[1]!r})"
    return f"write Fixed({value!r}) for a constant"


def _checked_plain(kind: str, value: object) -> Plain:
    try:
        return plain(value)
    except ValueError as error:
        hint = "write a tuple" if isinstance(value, list) else "try its name as a string"
        raise SpaceError(f"{kind}: {error}; values are {KINDS}; {hint}") from None


def _checked_list(kind: str, given: object) -> tuple[Plain, ...]:
    if isinstance(given, np.ndarray) and given.ndim == 1:
        given = list(given)
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise SpaceError(
            f"{kind}: expected a list of values, got {given!r}; write {kind}(['a', 'b'])"
        )
    values = tuple(_checked_plain(kind, value) for value in given)
    if not values:
        raise SpaceError(f"{kind}([]): nothing to choose from; give at least two values")
    if len(values) == 1:
        raise SpaceError(f"{kind}({[*values]!r}): only one value; write Fixed({values[0]!r})")
    first = positions(values)
    if len(first) < len(values):
        twice = next(value for i, value in enumerate(values) if first[mark(value)] != i)
        raise SpaceError(f"{kind}: {twice!r} is listed more than once; list each value once")
    return values
