"""The tree of choices of a conditional space: its nodes and its leaves.

The nodes of a conditional space are the groups of parameters that are declared together. A branch
contains some of them; a group on one branch only belongs to its leaf, the others are shared.
"""

from __future__ import annotations

__all__ = ["MOST_LEAVES", "SpaceNode", "has_leaves", "nodes_of"]

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from outcrop.space import Choice, Column, Space
from outcrop.typing import Conditions

MOST_LEAVES = 128  # branches beyond which leaves have too little data each


class SpaceNode(NamedTuple):
    """A node or a leaf of the tree of choices."""

    conditions: Conditions
    own: tuple[Column, ...]  # the parameters declared there
    seen: tuple[Column, ...]  # these and those of all nodes above


@lru_cache(maxsize=16)
def nodes_of(space: Space) -> tuple[tuple[SpaceNode, ...], tuple[SpaceNode, ...]]:
    """The nodes on several branches, from the root on, and the leaves, one for each branch."""
    index = {column.name: column for column in space.columns}
    taken_by: list[Conditions] = [  # the options of each branch
        tuple(
            (index[name].index, cast(Choice, index[name].parameter).names.index(option))
            for name, option in branch.options
        )
        for branch in space.branches
    ]
    groups: dict[Conditions, list[Column]] = {(): []}
    for column in space.columns:
        groups.setdefault(column.conditions, [])
        if isinstance(column.parameter, Choice):
            for code in range(column.levels or 0):
                groups.setdefault((*column.conditions, (column.index, code)), [])
        else:
            groups[column.conditions].append(column)
    on_branches = {
        group: sum(set(group) <= set(options) for options in taken_by) for group in groups
    }
    shared = tuple(
        SpaceNode(group, tuple(own), _sorted(groups, [g for g in groups if group[: len(g)] == g]))
        for group, own in groups.items()
        if on_branches[group] > 1
    )
    leaves = []
    for options in taken_by:
        active = [group for group in groups if set(group) <= set(options)]
        own = _sorted(groups, [group for group in active if on_branches[group] == 1])
        leaves.append(SpaceNode(options, own, _sorted(groups, active)))
    return shared, tuple(leaves)


def _sorted(
    groups: dict[Conditions, list[Column]], some: Sequence[Conditions]
) -> tuple[Column, ...]:
    return tuple(sorted((c for group in some for c in groups[group]), key=lambda c: c.index))


def has_leaves(space: Space) -> bool:
    """Whether the space has several branches, and not too many."""
    return 1 < space.n_branches <= MOST_LEAVES
