"""Random search spaces with every kind of parameter and extreme ranges, and a check of points.

Some declarations are wrong, and must be refused. `is_inside` decides by the declaration alone
whether parameters lie in a space, without any code of the space.
"""

from __future__ import annotations

__all__ = ["is_inside", "random_space"]

import math
from collections.abc import Mapping
from random import Random
from typing import Any

import outcrop as oc
from outcrop.space import Parameter

FLOATS: list[tuple[float, float]] = [
    (0.0, 1.0),
    (-5.0, 10.0),
    (0.0, 300.0),
    (-1e308, 1e308),
    (-1e300, 1e-300),
    (0.0, 5e-324),
    (-5e-324, 5e-324),
    (1e-310, 1e-308),
    (1.0, 1.0 + 1e-12),
    (1.0, math.nextafter(1.0, 2.0)),
    (1e15, 1e15 + 1),
    (1e-5, 1.0000000000000003e-05),
    (1.0, 1e300),
    (0.0, math.inf),
    (math.nan, 1.0),
    (1.0, 0.0),
]
LOGS: list[tuple[float, float]] = [
    (1e-5, 1e-1),
    (1e-5, 1.0000000000000003e-05),
    (5e-324, 1e308),
    (5e-324, 1e-323),
    (1e300, 1e308),
    (1.0, 2.0),
    (1e-300, 1e300),
    (0.0, 1.0),
    (-1.0, 1.0),
]
INTS: list[tuple[int, int]] = [
    (0, 1),
    (1, 4),
    (-3, 3),
    (1, 100),
    (0, 2**49),
    (-(2**48), 2**48),
    (10**18, 10**18 + 7),
    (-(10**30), -(10**30) + 2),
    (0, 2**60),
    (5, 5),
]
LEVELS: list[list[Any]] = [
    ["a", "b", "c"],
    [False, True],
    [1, 1.0, True, "1", None],
    [0.0, -1.5, 1e300, 5e-324],
    [("a", 1), ("b", 2), ()],
    [f"level {i}" for i in range(40)],
    ["", " ", "\n", "é", "=1+1", "{x}", "\x1b[31m"],
    ["only"],
    ["twice", "twice"],
    [math.nan, 1.0],
]
ORDERED: list[list[Any]] = [[1, 2, 8], ["s", "m", "l"], [0.1, 1e300], [1, 10, 100, 1000], [1], []]
NAMES = ["x", "y", "z", "lr", "class", "é", "a b", "'", '"', "0", "value", "number"]
WRONG_NAMES = ["", "a.b", 3, None, "\0"]


def random_space(chance: Random) -> oc.Space:
    """A space, or `SpaceError` where the declaration is wrong."""
    roll = chance.random()
    if roll < 0.02:
        group: dict[Any, Any] = {f"x{i}": _number(chance) for i in range(chance.randint(20, 40))}
    elif roll < 0.08:
        group = {"only": oc.Fixed(chance.choice([0, "a", None, (1, 2)]))}
    else:
        group = _group(chance, depth=3, most=5)
    covariance = {}
    if chance.random() < 0.05:
        names = tuple(chance.sample([*group], min(2, len(group))))
        covariance = {names: chance.choice([[[4.0, 1.5], [1.5, 9.0]], [[1.0]], "no", [[-1.0]]])}
    return oc.Space(group, input_covariance=covariance)


def _group(chance: Random, depth: int, most: int) -> dict[Any, Any]:
    names: list[Any] = chance.sample(NAMES, chance.randint(1, most))
    if chance.random() < 0.02:
        names[0] = chance.choice(WRONG_NAMES)
    return {name: _parameter(chance, depth) for name in names}


def _parameter(chance: Random, depth: int) -> Parameter:
    kind = chance.choices(
        ["number", "categorical", "ordinal", "fixed", "choice"], [6, 2, 1, 1, 2 if depth else 0]
    )[0]
    if kind == "number":
        return _number(chance)
    if kind == "categorical":
        return oc.Categorical(_rarely_wrong(chance, LEVELS, 7))
    if kind == "ordinal":
        return oc.Ordinal(_rarely_wrong(chance, ORDERED, 4))
    if kind == "fixed":
        return oc.Fixed(chance.choice([0, 1.5, "a", None, True, (1, "b"), 1e300]))
    options = chance.sample(["p", "q", "r", "s"], chance.randint(1, 3))
    return oc.Choice(
        {name: _group(chance, depth - 1, 2) if chance.random() < 0.7 else {} for name in options}
    )


def _number(chance: Random) -> Parameter:
    if chance.random() < 0.3:
        low, high = _rarely_wrong(chance, INTS, 8)
        log = chance.random() < 0.3 and low > 0
        step = chance.choice([None, None, None, 1, high - low, 3])
        return oc.Int(low, high, log=log, **({} if step is None else {"step": step}))
    log = chance.random() < 0.3
    low_, high_ = _rarely_wrong(chance, LOGS, 7) if log else _rarely_wrong(chance, FLOATS, 13)
    options: dict[str, Any] = {"log": log}
    if not log and chance.random() < 0.2:
        options["step"] = (high_ - low_) / chance.choice([1, 2, 10, 1000])
    if chance.random() < 0.15:
        width = math.log(high_ / low_) if log and 0 < low_ < high_ < math.inf else high_ - low_
        options["input_std"] = width * chance.choice([1e-300, 1e-3, 0.05, 1.0, 2.0])
    return oc.Float(low_, high_, **options)


def _rarely_wrong(chance: Random, values: list[Any], right: int) -> Any:
    """One of the first `right` values, rarely one of the others."""
    return chance.choice(values if chance.random() < 0.05 else values[:right])


def is_inside(space: oc.Space, params: Mapping[str, Any]) -> bool:
    """Whether flat parameters are exactly the active ones, each with a legal value."""
    expected: dict[str, Parameter] = {}

    def walk(group: Mapping[str, Parameter], prefix: str) -> bool:
        for name, parameter in group.items():
            flat = prefix + name
            expected[flat] = parameter
            if flat not in params or not _is_legal(parameter, params[flat]):
                return False
            if isinstance(parameter, oc.Choice):
                option = params[flat]
                if not walk(parameter.options[option], f"{flat}.{option}."):
                    return False
        return True

    return walk(space.declared, "") and params.keys() == expected.keys()


def _is_legal(parameter: Parameter, value: Any) -> bool:
    match parameter:
        case oc.Float(low=low, high=high, step=step):
            if type(value) is not float or not low <= value <= high:
                return False
            if step is None:
                return True
            steps = value / step - low / step
            return abs(steps - round(steps)) <= 1e-6 * max(1.0, abs(value / step))
        case oc.Int(low=low, high=high, step=step):
            return type(value) is int and low <= value <= high and (value - low) % step == 0
        case oc.Categorical(choices):
            return _is_among(value, choices)
        case oc.Ordinal(values):
            return _is_among(value, values)
        case oc.Choice():
            return value in parameter.options
        case oc.Fixed(fixed):
            return _is_among(value, [fixed])
    return False


def _is_among(value: Any, values: Any) -> bool:
    return any(type(value) is type(each) and value == each for each in values)
