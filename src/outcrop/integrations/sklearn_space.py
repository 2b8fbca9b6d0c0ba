"""Parameters of a search over an estimator, as a `Space`, and back to parameters of the estimator.

An estimator's parameter `clf__C` may be an Outcrop parameter, a distribution of SciPy, or a list of
any objects. Objects that a space cannot hold have a label there.
"""

from __future__ import annotations

__all__ = ["ALTERNATIVE", "SearchSpace", "search_space", "without_addresses"]

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from outcrop.errors import SpaceError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Parameter, Space
from outcrop.space.plain import Plain, listed, mark, plain
from outcrop.typing import Configuration, Params

ALTERNATIVE = "alternative"  # the choice among several dictionaries of parameters
TAIL = 0.001  # probability that is cut off an unbounded distribution, at each end
FEWEST_LEVELS = 3  # of a list that is ordered; with two, an order means nothing
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

Values = Callable[[Any], Any]  # from a value in the space to that of the estimator


@dataclass(frozen=True)
class SearchSpace:
    """A space, and how its configurations are set on an estimator."""

    space: Space
    targets: Mapping[str, str]  # the estimator's parameter, by flat name; not all have one
    values: Mapping[str, Values]  # by flat name, for those that differ
    meanings: Mapping[str, str]  # what a value in the space stands for where it does not say so

    def params(self, configuration: Params) -> Configuration:
        """The parameters that `set_params` of the estimator takes."""
        return {
            target: self.values[name](value) if name in self.values else value
            for name, value in configuration.items()
            if (target := self.targets.get(name)) is not None
        }


def search_space(
    distributions: Any, estimators: Mapping[str, Mapping[str, Any]] | None, current: Params
) -> SearchSpace:
    """The search space of `param_distributions`; `current` are the estimator's parameters now."""
    given, values, meanings = _declared(distributions)
    targets = {name: _target(given, name, estimators or {}) for name in given.parameters}
    targets.pop(ALTERNATIVE, None)
    _refuse_two_of_one(given, targets)
    values |= _chosen_objects(given, targets, estimators or {})
    _refuse_names_for_estimators(given, targets, values, current)
    return SearchSpace(given, targets, values, meanings)


def _declared(distributions: Any) -> tuple[Space, dict[str, Values], dict[str, str]]:
    if isinstance(distributions, Space):
        return deepcopy(distributions), {}, {}
    several = [distributions] if isinstance(distributions, Mapping) else distributions
    if not isinstance(several, Sequence) or not several or isinstance(several, str):
        raise _not_a_dictionary(distributions)
    values: dict[str, Values] = {}
    meanings: dict[str, str] = {}
    groups = []
    for number, each in enumerate(several):
        if not isinstance(each, Mapping):
            raise _not_a_dictionary(each)
        prefix = f"{ALTERNATIVE}.{number}." if len(several) > 1 else ""
        group = {}
        for name, distribution in each.items():
            group[name], value, meaning = _parameter(name, distribution)
            if value is not None:
                values[prefix + name] = value
            if meaning:
                meanings[prefix + name] = meaning
        groups.append(group)
    if len(groups) == 1:
        return Space(groups[0]), values, meanings
    options = {str(number): group for number, group in enumerate(groups)}
    return Space({ALTERNATIVE: Choice(options)}), values, meanings


def _not_a_dictionary(given: object) -> SpaceError:
    return SpaceError(
        f"param_distributions: expected a dict, a list of dicts or a Space, got {given!r}; write "
        "{'C': Float(1e-3, 1e3, log=True)}"
    )


def _parameter(name: object, given: Any) -> tuple[Parameter, Values | None, str]:
    """A parameter of a space, how its values become the estimator's, and what they stand for."""
    if isinstance(given, Parameter):  # a copy, since parameters cache what they compute
        return deepcopy(given), None, ""
    if hasattr(given, "ppf"):
        return _of_distribution(given)
    is_list = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes)
    if not is_list or getattr(given, "ndim", 1) != 1 or len(given) == 0:
        raise SpaceError(
            f"param_distributions: {name!r} is {given!r}; expected a parameter such as "
            "Float(0, 1), a distribution with a method ppf, or a list of values"
        )
    return _of_list(str(name), list(given))


# Distributions


def _of_distribution(given: Any) -> tuple[Parameter, Values | None, str]:
    low, high = given.support() if hasattr(given, "support") else (-np.inf, np.inf)
    first = low if np.isfinite(low) else given.ppf(TAIL)
    last = high if np.isfinite(high) else given.ppf(1 - TAIL)
    if first == last:
        return Fixed(plain(first)), None, ""
    kind = getattr(getattr(given, "dist", None), "name", "")
    if hasattr(getattr(given, "dist", None), "pmf"):
        return Int(int(first), int(last)), None, ""
    if kind == "uniform":
        return Float(first, last), None, ""
    # a shift makes another distribution of it
    if kind in ("loguniform", "reciprocal") and np.isclose(given.median(), np.sqrt(first * last)):
        return Float(first, last, log=True), None, ""
    quantiles = Float(0.0 if np.isfinite(low) else TAIL, 1.0 if np.isfinite(high) else 1 - TAIL)
    return quantiles, lambda u: float(given.ppf(u)), f"quantile of {_described(given)}"


def _described(given: Any) -> str:
    """A distribution with its arguments, the same in every process."""
    kind = getattr(getattr(given, "dist", None), "name", type(given).__name__)
    arguments = [repr(each) for each in getattr(given, "args", ())]
    arguments += [f"{key}={each!r}" for key, each in getattr(given, "kwds", {}).items()]
    return f"{kind}({', '.join(arguments)})"


# Lists


def _of_list(name: str, given: list[Any]) -> tuple[Parameter, Values | None, str]:
    labels: list[Plain] = []
    objects: dict[object, Any] = {}  # by the mark of their label
    for value in given:
        label, is_plain = _label(value)
        if mark(label) in objects:
            if is_plain:
                continue  # listed twice
            label = f"{label} ({len(labels)})"
        labels.append(label)
        objects[mark(label)] = value

    def original(label: Any) -> Any:
        return objects[mark(label)]

    if len(labels) == 1:
        return Fixed(labels[0]), original, ""
    if _is_ordered(name, labels):
        levels: Any = sorted(labels)
        return Ordinal(levels), original, ""
    return Categorical(labels), original, ""


def _label(value: Any) -> tuple[Plain, bool]:
    """A plain value itself, or a text for any other object; whether it is plain."""
    try:
        return plain(value), True
    except ValueError:
        return without_addresses(value), False


def without_addresses(value: object) -> str:
    """The `repr` of an object, the same in every process."""
    return ADDRESS.sub("", repr(value))


def _is_ordered(name: str, labels: Sequence[Any]) -> bool:
    """Whether the values of a list are levels of a quantity.

    They are numbers, and not of both signs: beside positive numbers, -1 is often a code. The seed
    of an estimator is no quantity either.
    """
    if any(type(label) not in (int, float) for label in labels):
        return False
    if len(set(labels)) < max(FEWEST_LEVELS, len(labels)) or name.endswith("random_state"):
        return False
    return min(labels) >= 0 or max(labels) <= 0


# Choices


def _target(space: Space, name: str, estimators: Mapping[str, Any]) -> str:
    """The estimator's parameter that a flat name stands for.

    Below an option that is an estimator, names are those of that estimator; below any other, they
    are as beside the Choice.
    """
    node = space.nodes[name]
    prefix = ""
    for choice, _ in node.above:
        own = prefix + choice.rpartition(".")[2]
        if own in estimators:
            prefix = f"{own}__"
    return prefix + name.rpartition(".")[2]


def _refuse_two_of_one(space: Space, targets: Mapping[str, str]) -> None:
    for branch in space.branches:
        names: dict[str, str] = {}
        for name in branch.names:
            target = targets.get(name)
            if target is None:
                continue
            if target in names:
                raise SpaceError(
                    f"param_distributions: {names[target]!r} and {name!r} are active together and "
                    f"both are the estimator's {target!r}; leave one out"
                )
            names[target] = name


def _chosen_objects(
    space: Space, targets: Mapping[str, str], estimators: Mapping[str, Mapping[str, Any]]
) -> dict[str, Values]:
    """For each parameter whose options are listed in `estimators`, the look-up of its objects."""
    for target in estimators:
        if target not in targets.values():
            raise SpaceError(
                f"estimators: {target!r} is no parameter of the search, which has "
                f"{listed([*dict.fromkeys(targets.values())])}; declare it as a Choice"
            )
    return {
        name: _lookup(target, space.parameters[name], estimators[target])
        for name, target in targets.items()
        if target in estimators
    }


def _lookup(target: str, parameter: Parameter, objects: Mapping[str, Any]) -> Values:
    if not isinstance(parameter, Choice | Categorical):
        raise SpaceError(
            f"estimators: {target!r} is {parameter!r}; only the options of a Choice or Categorical "
            "can stand for objects"
        )
    options: Iterable[Any] = parameter.names if isinstance(parameter, Choice) else parameter.choices
    missing = [option for option in options if option not in objects]
    if missing:
        raise SpaceError(
            f"estimators: {target!r} has no object for {listed(missing)}; it needs one for each "
            f"option, as in {{{target!r}: {{{missing[0]!r}: …}}}}"
        )
    return lambda option: objects[option]


def _refuse_names_for_estimators(
    space: Space, targets: Mapping[str, str], values: Mapping[str, Values], current: Params
) -> None:
    """Refuse a Choice that would set an estimator to the name of an option."""
    for name, target in targets.items():
        parameter = space.parameters[name]
        if not isinstance(parameter, Choice) or name in values:
            continue
        if hasattr(current.get(target), "fit"):
            option = parameter.names[0]
            raise SpaceError(
                f"param_distributions: the options of {target!r}, such as {option!r}, are names, "
                "but it is an estimator now; say what they stand for, as in "
                f"estimators={{{target!r}: {{{option!r}: …}}}}"
            )
