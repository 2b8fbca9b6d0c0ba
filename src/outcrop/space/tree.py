"""The tree of a space: flat names, conditions, columns, branches and counts.

Each option of a `Choice` has parameters below it, which are active only if that option is chosen.
Flat names list the options from the root: `model.mlp.layers`. Columns are numbered in declaration
order, so a condition always points to an earlier column.
"""

from __future__ import annotations

__all__ = [
    "Column",
    "Node",
    "Branch",
    "count_branches",
    "count_values",
    "list_branches",
    "plant",
    "walk",
]

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, product
from typing import TypeAlias

from outcrop.space.discrete import Categorical, Choice, Fixed, Group
from outcrop.space.encoding import Codec, codec_of
from outcrop.space.parameters import Parameter
from outcrop.typing import Conditions, Vector

Options: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Node:
    """A parameter and its position in the tree."""

    name: str  # flat
    parameter: Parameter
    column: int | None  # None if fixed
    above: Options  # (flat name of a Choice, option), outermost first
    conditions: Conditions  # the same as (column, code)
    below: Mapping[str, tuple[Node, ...]]  # the nodes below each option of a Choice; else empty


@dataclass(frozen=True)
class Column:
    """One column of an encoded point.

    `levels` counts the legal values and is None for a continuum. `conditions` are the pairs (column
    of a Choice, code of an option) that must all hold for the column to be active.
    """

    name: str
    parameter: Parameter
    index: int
    levels: int | None
    conditions: Conditions

    @property
    def is_code(self) -> bool:
        """Whether the column holds codes 0, …, levels - 1 rather than positions in [0, 1]."""
        return isinstance(self.parameter, Categorical | Choice)

    @property
    def grid(self) -> Vector | None:
        """All legal positions of a discrete unit column, ascending; None if over 4096 or codes."""
        return self.codec.grid

    @cached_property
    def codec(self) -> Codec:
        """How the column's values are encoded."""
        return codec_of(self.parameter)


@dataclass(frozen=True)
class Branch:
    """One way through the choices: the option taken at each Choice, and all names then active."""

    options: Options  # (flat name of a Choice, option)
    names: tuple[str, ...]


def plant(group: Group) -> tuple[Node, ...]:
    """The nodes at the root of the tree, with the others below them."""
    numbers = count()

    def grow(group: Group, prefix: str, above: Options, conditions: Conditions) -> tuple[Node, ...]:
        nodes = []
        for short, parameter in group.items():
            name = prefix + short
            column = None if isinstance(parameter, Fixed) else next(numbers)
            below: dict[str, tuple[Node, ...]] = {}
            if isinstance(parameter, Choice) and column is not None:
                for code, (option, inner) in enumerate(parameter.options.items()):
                    taken, holds = (*above, (name, option)), (*conditions, (column, code))
                    below[option] = grow(inner, f"{name}.{option}.", taken, holds)
            nodes.append(Node(name, parameter, column, above, conditions, below))
        return tuple(nodes)

    return grow(group, "", (), ())


def walk(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Every node, in declaration order."""
    for node in nodes:
        yield node
        for inner in node.below.values():
            yield from walk(inner)


def count_values(group: Group) -> int | None:
    """The number of distinct configurations, or None if something is continuous."""
    total = 1
    for parameter in group.values():
        if isinstance(parameter, Choice):
            parts = [count_values(inner) for inner in parameter.options.values()]
        else:
            parts = [parameter.levels]
        finite = [part for part in parts if part is not None]
        if len(finite) < len(parts):
            return None
        total *= sum(finite)
    return total


def count_branches(group: Group) -> int:
    """The number of branches of the tree, without listing them."""
    total = 1
    for parameter in group.values():
        if isinstance(parameter, Choice):
            total *= sum(count_branches(inner) for inner in parameter.options.values())
    return total


def list_branches(group: Group, prefix: str = "") -> Iterator[Branch]:
    """Every branch of the tree; Choices side by side multiply."""

    def branches_of(name: str, parameter: Parameter) -> Iterator[Branch]:
        if not isinstance(parameter, Choice):
            yield Branch((), (name,))
            return
        for option, inner in parameter.options.items():
            for below in list_branches(inner, f"{name}.{option}."):
                yield Branch(((name, option), *below.options), (name, *below.names))

    for parts in product(*(branches_of(prefix + short, each) for short, each in group.items())):
        yield Branch(
            tuple(chain.from_iterable(part.options for part in parts)),
            tuple(chain.from_iterable(part.names for part in parts)),
        )
