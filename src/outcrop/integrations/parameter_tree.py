"""Conversion between flat assignments of names to raw values and configurations of a space.

Raw values are numbers: the value of a numeric parameter, the index of a category. In other tools, a
parameter has one flat name wherever it is in the tree. If groups of a choice's options activate
different parameters, the groups are the options of a `Choice`, and the choice within a group is a
parameter below it, so that parameters shared by a group are declared once.
"""

from __future__ import annotations

__all__ = ["ChoiceItem", "Item", "ValueItem", "OptionGroup", "Tree"]

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from outcrop.errors import ParamsError
from outcrop.space import Categorical, Choice, Fixed, Ordinal, Parameter, Space
from outcrop.space.plain import Plain
from outcrop.typing import Params, Rng

Raw: TypeAlias = Mapping[str, float]


@dataclass(frozen=True)
class ValueItem:
    """A parameter that activates no others."""

    key: str  # in its group
    names: tuple[str, ...]  # its names in the other tool; the first is the main one
    parameter: Parameter
    codes: tuple[int, ...] = ()  # the raw value of each level; none if raw values are values

    def value(self, raw: float) -> float | Plain:
        """The value of a raw value; `ParamsError` if it is not legal."""
        if not self.codes:
            return self.parameter.check(raw, self.names[0])
        if raw not in self.codes:
            raise self.parameter.refuse(raw, self.names[0], "not the index of a level")
        place = self.codes.index(int(raw))
        match self.parameter:
            case Categorical(choices=levels) | Ordinal(values=levels):
                return levels[place]
            case Fixed(value=value):
                return value
        raise TypeError(f"{self.parameter!r} has no levels")

    def raw(self, value: float | Plain) -> float:
        """The inverse of `value`."""
        match self.parameter:
            case Categorical() | Ordinal():
                place = self.parameter.index(value)
                assert place is not None  # `value` is legal
                return self.codes[place]
            case Fixed():
                return self.codes[0]
        assert isinstance(value, int | float)  # the parameter is a number
        return float(value)

    def draw(self, rng: Rng) -> float:
        """A random raw value."""
        return self.raw(Space({"it": self.parameter}).sample(rng)["it"])

    @cached_property
    def middle(self) -> float:
        """The raw value in the middle of the range, or the first category."""
        if self.codes:
            return self.codes[0]
        space = Space({"it": self.parameter})
        return float(space.decode(space.from_uniform(np.array([[0.5]])))[0]["it"])


@dataclass(frozen=True)
class OptionGroup:
    """Options of a choice that activate the same parameters."""

    label: str
    codes: frozenset[float]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class ChoiceItem:
    """A parameter whose value determines which others are active."""

    key: str
    names: tuple[str, ...]
    groups: tuple[OptionGroup, ...]

    def group(self, raw: float) -> OptionGroup:
        """The group that an option belongs to."""
        for group in self.groups:
            if raw in group.codes:
                return group
        raise ParamsError(f"{self.names[0]!r}: option {raw!r} is unknown")

    def draw(self, rng: Rng) -> float:
        """A random option."""
        return float(rng.choice(sorted(code for group in self.groups for code in group.codes)))

    @property
    def middle(self) -> float:
        """The option that is used if it is unknown which one was chosen."""
        return min(self.groups[0].codes)


Item: TypeAlias = ValueItem | ChoiceItem
Above: TypeAlias = tuple[tuple[ChoiceItem, OptionGroup], ...]  # choices, and groups within them


@dataclass(frozen=True)
class Tree:
    """The parameters of a space under the flat names of another tool."""

    items: tuple[Item, ...]

    @cached_property
    def space(self) -> Space:
        return Space(_group(self.items))

    def configuration(
        self, layers: Sequence[Raw], otherwise: Callable[[Item], float]
    ) -> dict[str, Any]:
        """The nested configuration; each value is from the first of `layers` that has it.

        `otherwise` gives values that no layer has. Values of inactive parameters are ignored.
        """
        nested: dict[str, Any] = {}
        for item in self.items:
            given = [layer[n] for layer in layers for n in item.names if n in layer]
            raw = given[0] if given else otherwise(item)
            if isinstance(item, ValueItem):
                nested[item.key] = item.value(raw)
            else:
                group = item.group(raw)
                chosen = [{item.names[0]: raw}, *layers]  # the same option inside the group
                nested[item.key] = {group.label: Tree(group.items).configuration(chosen, otherwise)}
        return nested

    def assignment(self, params: Params) -> dict[str, float]:
        """The raw values of a configuration, under all names of each parameter."""
        found: dict[str, float] = {}

        def collect(items: Sequence[Item], nested: Params) -> None:
            for item in items:
                value = nested[item.key]
                if isinstance(item, ValueItem):
                    found.update(dict.fromkeys(item.names, item.raw(value)))
                    continue
                ((label, below),) = value.items()
                group = next(group for group in item.groups if group.label == label)
                if len(group.codes) == 1:
                    found.update(dict.fromkeys(item.names, min(group.codes)))
                collect(group.items, below)

        collect(self.items, self.space.nest(params))
        return found

    def walk(self) -> Iterator[tuple[Item, Above]]:
        """Every item with the choices and option groups above it, outermost first."""

        def within(items: Sequence[Item], above: Above) -> Iterator[tuple[Item, Above]]:
            for item in items:
                yield item, above
                if isinstance(item, ChoiceItem):
                    for group in item.groups:
                        yield from within(group.items, (*above, (item, group)))

        return within(self.items, ())


def _group(items: Sequence[Item]) -> dict[str, Parameter]:
    return {
        item.key: item.parameter
        if isinstance(item, ValueItem)
        else Choice({group.label: _group(group.items) for group in item.groups})
        for item in items
    }
