"""Construction of parameter trees: from inferred conditions, or from a declared space."""

from __future__ import annotations

__all__ = ["chooser_of", "declared_tree", "grown", "labelled", "value_item"]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from outcrop.integrations.conditions import Chooser, Condition
from outcrop.integrations.parameter_tree import ChoiceItem, Item, OptionGroup, Tree, ValueItem
from outcrop.space import Categorical, Choice, Fixed, Int, Ordinal, Parameter, Space
from outcrop.space.discrete import Group

Opened: TypeAlias = Sequence[tuple[str, frozenset[float]]]  # parameters, and what activates them

MOST_VALUES = 10  # of an integer that others may depend on, such as a number of layers


def labelled(choices: Sequence[object]) -> Categorical:
    """A categorical parameter; its choices may be of any type and are replaced by labels."""
    return Categorical(_distinct([_plain(str(choice)) for choice in choices]))


def chooser_of(parameter: Parameter) -> Chooser | None:
    """The values that other parameters may depend on, if they are discrete and few."""
    match parameter:
        case Categorical():
            return Chooser(range(parameter.levels))
        case Int() if parameter.levels <= MOST_VALUES:
            return Chooser([parameter.at(i) for i in range(parameter.levels)], ordered=True)
    return None


def value_item(key: str, name: str, parameter: Parameter) -> ValueItem:
    """The item of a parameter; the raw value of a category is its index."""
    if isinstance(parameter, Categorical | Ordinal | Fixed):
        return ValueItem(key, (name,), parameter, tuple(range(parameter.levels)))
    return ValueItem(key, (name,), parameter)


def grown(parameters: Mapping[str, Parameter], conditions: Mapping[str, Condition]) -> Tree:
    """The tree in which every parameter is below the options that it depends on.

    `parameters` are numbers, and categories as `labelled` makes them.

    Options that activate the same parameters form a group, and groups within groups, if the sets of
    options are nested or disjoint. If two sets overlap otherwise, every option is its own group,
    and a parameter of several options is declared in each.
    """
    keys = dict(zip(parameters, _distinct([_plain(name) for name in parameters]), strict=True))
    below: dict[str, list[tuple[str, frozenset[float]]]] = {}
    for name, condition in conditions.items():
        below.setdefault(condition.parent, []).append((name, condition.values))

    def items_of(names: Iterable[str]) -> list[Item]:
        return [
            split(name, frozenset(chooser.values), below[name])
            if name in below and (chooser := chooser_of(parameters[name])) is not None
            else value_item(keys[name], name, parameters[name])
            for name in names
        ]

    def split(name: str, values: frozenset[float], opened: Opened) -> ChoiceItem:
        """The choice among `values`, which do not all activate the same parameters."""
        groups = _option_groups(values, [each for _, each in opened])
        label = partial(_label, parameters[name])
        labels = _distinct(["|".join(map(label, group)) for group in groups])
        return ChoiceItem(
            keys[name],
            (name,),
            tuple(
                OptionGroup(label, frozenset(group), tuple(inside(name, group, opened)))
                for label, group in zip(labels, groups, strict=True)
            ),
        )

    def inside(name: str, group: Sequence[float], opened: Opened) -> list[Item]:
        items = items_of(other for other, each in opened if each.issuperset(group))
        if len(group) == 1:
            return items
        some = [(other, each & frozenset(group)) for other, each in opened]
        some = [(other, each) for other, each in some if each and len(each) < len(group)]
        if some:
            return [split(name, frozenset(group), some), *items]
        return [_restricted(keys[name], name, parameters[name], group), *items]

    return Tree(tuple(items_of(name for name in parameters if name not in conditions)))


def declared_tree(space: Space) -> Tree:
    """The tree of a space, with flat names and, where they are unambiguous, also last names.

    A last name is unambiguous if it is not the flat name of a parameter, and if all parameters that
    share it are declared alike and no two of them can be active together.
    """
    tree = Tree(tuple(_declared_items(space.declared, "")))
    owners: dict[str, list[tuple[Parameter, dict[str, str]]]] = {}
    for item, above in tree.walk():
        chosen = {choice.names[0]: group.label for choice, group in above}
        owners.setdefault(item.key, []).append((space.parameters[item.names[0]], chosen))
    clear = {name for name, places in owners.items() if _is_clear(places)}
    return Tree(_with_last_names(tree.items, clear - space.parameters.keys()))


def _label(parameter: Parameter, raw: float) -> str:
    if isinstance(parameter, Categorical):
        return str(parameter.choices[int(raw)])
    return str(int(raw))


def _restricted(key: str, name: str, parameter: Parameter, values: Sequence[float]) -> ValueItem:
    """The item with only some of a chooser's values, at least two, in ascending order."""
    codes = tuple(int(value) for value in values)
    if isinstance(parameter, Int):
        step, log = parameter.step, parameter.log
        if codes == tuple(range(codes[0], codes[-1] + 1, step)):
            return ValueItem(key, (name,), Int(codes[0], codes[-1], step=step, log=log))
        return ValueItem(key, (name,), Ordinal(codes), codes)
    return ValueItem(key, (name,), Categorical([_label(parameter, code) for code in codes]), codes)


def _option_groups(values: frozenset[float], sets: Sequence[frozenset[float]]) -> list[list[float]]:
    """`values` in groups: the largest of `sets`, and single values; single ones if sets overlap."""
    largest = {each for each in sets if not any(each < other for other in sets)}
    together = frozenset().union(*largest)
    if sum(map(len, largest)) > len(together):  # some overlap
        largest, together = set(), frozenset()
    return sorted([*map(sorted, largest), *([value] for value in values - together)])


def _declared_items(group: Group, prefix: str) -> list[Item]:
    items: list[Item] = []
    for key, parameter in group.items():
        name = prefix + key
        if isinstance(parameter, Choice):
            groups = [
                OptionGroup(
                    option,
                    frozenset({float(code)}),
                    tuple(_declared_items(inner, f"{name}.{option}.")),
                )
                for code, (option, inner) in enumerate(parameter.options.items())
            ]
            items.append(ChoiceItem(key, (name,), tuple(groups)))
        else:
            items.append(value_item(key, name, parameter))
    return items


def _is_clear(places: Sequence[tuple[Parameter, dict[str, str]]]) -> bool:
    return all(
        one == other
        and any(above.get(choice, option) != option for choice, option in aside.items())
        for i, (one, above) in enumerate(places)
        for other, aside in places[:i]
    )


def _with_last_names(items: Sequence[Item], clear: set[str]) -> tuple[Item, ...]:
    found: list[Item] = []
    for item in items:
        names = (*item.names, item.key) if item.key in clear else item.names
        if isinstance(item, ValueItem):
            found.append(replace(item, names=names))
        else:
            groups = [replace(g, items=_with_last_names(g.items, clear)) for g in item.groups]
            found.append(replace(item, names=names, groups=tuple(groups)))
    return tuple(found)


def _plain(name: str) -> str:
    return name.replace(".", "_") or "_"


def _distinct(labels: Sequence[str]) -> list[str]:
    """The labels in order; repeated ones get a number."""
    found: list[str] = []
    for label in labels:
        each, number = label, 2
        while each in found:
            each, number = f"{label}_{number}", number + 1
        found.append(each)
    return found
