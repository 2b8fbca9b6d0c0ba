"""The parameters that an objective gets: a dict by flat names that short names look up, too.

A short name is an end of a flat name that begins after a dot: `layers` or `mlp.layers` for
`model.mlp.layers`. It stands for the active parameter whose name ends so, if there is only one.
"""

from __future__ import annotations

__all__ = ["ActiveParams", "Names"]

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

from outcrop.errors import NoSuchParameter
from outcrop.space.plain import listed, nearest
from outcrop.typing import Configuration, Params

if TYPE_CHECKING:
    from outcrop.space.tree import Node


@dataclass(frozen=True)
class Names:
    """The flat names that a space declares; small, since parameters are sent along with it."""

    parameters: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # of Choices: "model.linear", "model.mlp"

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Names:
        """The names of all nodes of a space."""
        nodes = list(nodes)
        options = [f"{node.name}.{option}" for node in nodes for option in node.below]
        return cls(tuple(node.name for node in nodes), tuple(options))

    @cached_property
    def known(self) -> frozenset[str]:
        """The parameters, for a fast look-up."""
        return frozenset(self.parameters)

    @cached_property
    def choices(self) -> frozenset[str]:
        """The parameters that are Choices."""
        return frozenset(option.rpartition(".")[0] for option in self.options)


class ActiveParams(dict[str, Any]):
    """The active parameters of a configuration: a dict by flat names, with short names for reading.

    >>> from outcrop.space import Choice, Float, Int, Space
    >>> space = Space({"lr": Float(0, 1), "model": Choice({"mlp": {"layers": Int(1, 4)}})})
    >>> p = space.validate({"lr": 0.1, "model": {"mlp": {"layers": 2}}})
    >>> p["model.mlp.layers"], p["mlp.layers"], p["layers"], "layers" in p
    (2, 2, 2, True)
    >>> p.kwargs("model.mlp"), p.nested
    ({'layers': 2}, {'lr': 0.1, 'model': {'mlp': {'layers': 2}}})

    Iteration, `**p`, equality and JSON have flat names only. A look-up (`[]`, `get`, `in`, `pop`,
    `setdefault`) of a short name that several active parameters have is a `NoSuchParameter`, which
    is a `KeyError`; one of a parameter that is not active is as of any key that is missing.
    `copy()` is an `ActiveParams` that can be changed, `dict(p)` a plain dict.
    """

    def __init__(self, params: Params, names: Names | None = None) -> None:
        super().__init__(params)
        if names is None:
            names = params._names if isinstance(params, ActiveParams) else Names()
        self._names: Names = names

    # Looking up

    def __missing__(self, key: object) -> Any:
        name = self._full(key)
        if name is None:
            raise self._unknown(key)
        return dict.__getitem__(self, name)

    def __contains__(self, key: object) -> bool:
        return self._found(key) is not None

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a flat or short name, or `default` if it is not active."""
        name = self._found(key)
        return default if name is None else dict.__getitem__(self, name)

    def pop(self, key: str, *default: Any) -> Any:
        """Remove a parameter by its flat or short name; its value."""
        name = self._found(key)
        if name is None and not default:
            raise self._unknown(key)
        return super().pop(key if name is None else name, *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a flat or short name; a key that is missing gets `default`."""
        return super().setdefault(self._found(key) or key, default)

    # Other forms

    @property
    def nested(self) -> Configuration:
        """The parameters in nested form, `{"model": {"mlp": {"layers": 2}}}`."""
        tree: Configuration = {}
        for name, value in self.items():
            *above, last = name.split(".")
            group = tree
            for part in above:
                group = group.setdefault(part, {})
            if name in self._names.choices:
                group.setdefault(last, {}).setdefault(value, {})
            else:
                group[last] = value
        return tree

    def kwargs(self, option: str | None = None) -> Configuration:
        """The parameters below an option by their own names, for a call as `MLP(**p.kwargs(…))`.

        `option` is that of a Choice, as in `p.kwargs("model.mlp")`, or the Choice, for the option
        that is taken: `p.kwargs("model")`. Without it they are those at the root of the space.
        Of a Choice among them the option is the value; `kwargs` of that one has its parameters.
        """
        prefix = "" if option is None else f"{self._taken(option)}."
        return {
            name.removeprefix(prefix): value
            for name, value in self.items()
            if name.startswith(prefix) and "." not in name.removeprefix(prefix)
        }

    # Copies

    def copy(self) -> ActiveParams:
        """A copy that can be changed."""
        return ActiveParams(self)

    def __or__(self, other: Any) -> Any:
        return _joined(self, other, self._names)

    def __ror__(self, other: Any) -> Any:
        return _joined(other, self, self._names)

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[object, ...]]:
        return type(self), (dict(self), self._names)

    # Helpers

    def _found(self, key: object) -> str | None:
        """The name that a flat or short name stands for, or None."""
        return cast(str, key) if dict.__contains__(self, key) else self._full(key)

    def _full(self, key: object) -> str | None:
        """The active name that a short name stands for, or None."""
        if not isinstance(key, str) or key in self._names.known:
            return None
        return _only(key, _ending(self, key))

    def _taken(self, given: str) -> str:
        """The flat name of an option that is taken; `given` is an option or a Choice."""
        taken = {name: f"{name}.{self[name]}" for name in self if name in self._names.choices}
        options = list(taken.values())
        if given in self._names.options or given in self._names.known:
            found = given if given in options else taken.get(given)
        else:
            of_choices = [taken[name] for name in _ending(taken, given)]
            found = _only(given, [*dict.fromkeys([*of_choices, *_ending(options, given)])])
        if found is None:
            raise self._not_taken(given, options)
        return found

    def _unknown(self, key: object) -> NoSuchParameter:
        """The error for a key that no active parameter has."""
        names = _meant(self._names.parameters, key)
        if reasons := [reason for name in names if (reason := self._inactive(name))]:
            return NoSuchParameter(
                f"{key!r} is inactive: {'; '.join(reasons)}; active are {listed([*self])}"
            )
        if options := _meant(self._names.options, key):
            hint = f"; the parameters of an option are p.kwargs({options[0]!r})"
        else:
            hint = nearest(key, [*self, *(name.rpartition(".")[2] for name in self)])
        return NoSuchParameter(f"{key!r} is unknown: expected {listed([*self])}{hint}")

    def _not_taken(self, given: str, taken: list[str]) -> NoSuchParameter:
        """The error for what is no option that is taken."""
        meant = _meant(self._names.options, given)
        if given in self:
            why = f"{given!r} is a parameter without options; its value is p[{given!r}]"
        elif reasons := [self._inactive(option) for option in meant]:
            why = "; ".join(reasons)
        else:
            why = f"there is no such option{nearest(given, self._names.options)}"
        options = listed(taken) if taken else "none"
        return NoSuchParameter(f"kwargs({given!r}): {why}; options that are taken: {options}")

    def _inactive(self, name: str) -> str:
        """Why a declared parameter or option is not active; empty if it is."""
        parts = name.split(".")
        for depth in range(1, len(parts), 2):
            choice, option = ".".join(parts[:depth]), parts[depth]
            chosen = dict.get(self, choice, option)
            if chosen != option:
                return f"{name!r} needs {choice!r} = {option!r}, but it is {chosen!r}"
        return ""


def _ending(names: Iterable[str], short: str) -> list[str]:
    return [name for name in names if name.endswith(f".{short}")]


def _meant(names: Sequence[str], key: object) -> list[str]:
    """The declared names that a key may stand for: itself, or else those that end so."""
    if not isinstance(key, str):
        return []
    return [key] if key in names else _ending(names, key)


def _only(key: str, names: Sequence[str]) -> str | None:
    """The only one of `names`, None if there is none; an error if there are several."""
    if len(names) > 1:
        raise NoSuchParameter(f"{key!r} is ambiguous: write {' or '.join(map(repr, names))}")
    return names[0] if names else None


def _joined(first: object, second: object, names: Names) -> Any:
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return NotImplemented
    return ActiveParams({**first, **second}, names)
