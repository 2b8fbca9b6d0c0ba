"""Flat assignments of names to raw values, as configurations of a tree-shaped space and back.

Raw values are numbers: those of numeric parameters as they are, categories by their place. Other
tools know a parameter by one flat name wherever it is in the tree. Where one choice opens different
things for groups of its options, the groups are options of a `Choice` and the choice within a group
is a parameter below it: what a group shares is then declared once.
"""

from __future__ import annotations

__all__ = ["ChoiceItem", "Item", "ValueItem", "OptionGroup", "Tree"]

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from outcrop.errors import ParamsError
from outcrop.space import Categorical, Choice, Fixed, Ordinal, Parameter, Space
from outcrop.space.plain import Plain
from outcrop.typing import Params, Rng

Raw: TypeAlias = Mapping[str, float]


@dataclass(frozen=True)
class ValueItem:
    """A parameter that opens nothing."""

    key: str  # in its group
    names: tuple[str, ...]  # what it is called elsewhere; the first is the main one
    parameter: Parameter
    codes: tuple[int, ...] = ()  # the raw value of each level; none if values are raw already

    def value(self, raw: float) -> float | Plain:
        """What a raw value stands for; `ParamsError` if it is not legal."""
        if not self.codes:
            return self.parameter.check(raw, self.names[0])
        if raw not in self.codes:
            raise self.parameter.refuse(raw, self.names[0], "not the place of a level")
        place = self.codes.index(int(raw))
        match self.parameter:
            case Categorical(choices=levels) | Ordinal(values=levels):
                return levels[place]
            case Fixed(value=value):
                return value
        raise TypeError(f"{self.parameter!r} has no levels")

    def raw(self, value: Any) -> float:
        """The inverse of `value`."""
        match self.parameter:
            case Categorical() | Ordinal():
                place = self.parameter.index(value)
                assert place is not None  # `value` is legal
                return self.codes[place]
            case Fixed():
                return self.codes[0]
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
        return float(space.decode(space.from_uniform([[0.5]]))[0]["it"])  # type: ignore[arg-type]


@dataclass(frozen=True)
class OptionGroup:
    """Options of a choice that open the same things."""

    label: str
    codes: frozenset[float]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class ChoiceItem:
    """A parameter whose value decides which others there are."""

    key: str
    names: tuple[str, ...]
    parts: tuple[OptionGroup, ...]

    def part(self, raw: float) -> OptionGroup:
        """The part that an option belongs to."""
        for part in self.parts:
            if raw in part.codes:
                return part
        raise ParamsError(f"{self.names[0]!r}: option {raw!r} is not known here")

    def draw(self, rng: Rng) -> float:
        """A random option."""
        return float(rng.choice(sorted(code for part in self.parts for code in part.codes)))

    @property
    def middle(self) -> float:
        """The option that stands in where it is not known which was meant."""
        return min(self.parts[0].codes)


Item: TypeAlias = ValueItem | ChoiceItem


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
        """The nested configuration of the first of `layers` that has a value, or else `otherwise`.

        Values that are not active by what is chosen above them do not count.
        """
        return self._walk(self.items, layers, otherwise)

    def _walk(
        self, items: Sequence[Item], layers: Sequence[Raw], otherwise: Callable[[Item], float]
    ) -> dict[str, Any]:
        nested: dict[str, Any] = {}
        for item in items:
            given = [layer[n] for layer in layers for n in item.names if n in layer]
            raw = given[0] if given else otherwise(item)
            if isinstance(item, ValueItem):
                nested[item.key] = item.value(raw)
            else:
                part = item.part(raw)
                chosen = [{item.names[0]: raw}, *layers]  # the same for what is in the part
                nested[item.key] = {part.label: self._walk(part.items, chosen, otherwise)}
        return nested

    def assignment(self, params: Params) -> dict[str, float]:
        """The raw values of a configuration, under every name that a parameter has."""
        found: dict[str, float] = {}

        def collect(items: Sequence[Item], nested: Params) -> None:
            for item in items:
                value = nested[item.key]
                if isinstance(item, ValueItem):
                    found.update(dict.fromkeys(item.names, item.raw(value)))
                    continue
                ((label, below),) = value.items()
                part = next(part for part in item.parts if part.label == label)
                if len(part.codes) == 1:
                    found.update(dict.fromkeys(item.names, min(part.codes)))
                collect(part.items, below)

        collect(self.items, self.space.nest(params))
        return found

    def walk(self) -> Iterator[tuple[Item, tuple[tuple[ChoiceItem, OptionGroup], ...]]]:
        """Every item with the branches above it, outermost first."""

        def within(
            items: Sequence[Item], above: tuple[tuple[ChoiceItem, OptionGroup], ...]
        ) -> Iterator[tuple[Item, tuple[tuple[ChoiceItem, OptionGroup], ...]]]:
            for item in items:
                yield item, above
                if isinstance(item, ChoiceItem):
                    for part in item.parts:
                        yield from within(part.items, (*above, (item, part)))

        return within(self.items, ())


def _group(items: Sequence[Item]) -> dict[str, Parameter]:
    return {
        item.key: item.parameter
        if isinstance(item, ValueItem)
        else Choice({part.label: _group(part.items) for part in item.parts})
        for item in items
    }
