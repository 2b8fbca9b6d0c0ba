"""Random search spaces with constraints, and a check of configurations by Python alone.

The numbers in a constraint are chosen by a random sample of the space, so that a share of the
configurations satisfies it, between a half and a ten-thousandth.
"""

from __future__ import annotations

__all__ = ["Constrained", "random_constrained"]

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import outcrop as oc
from outcrop.space import Parameter
from outcrop.typing import Params

Check: TypeAlias = Callable[[Params], bool]

ROUNDING = 1e-9  # by which a value may exceed its limit, relatively
SAMPLE = 4000
SHARES = (0.5, 0.2, 0.05, 0.01)
PREDICATES = 0.15  # of the spaces have a Python function among their constraints
THIN = 0.1  # of the spaces have two numbers that must nearly agree


class Constrained(NamedTuple):
    """A space, and what its constraints mean."""

    space: oc.Space
    checks: tuple[Check, ...]

    def is_satisfied(self, params: Params) -> bool:
        return all(check(params) for check in self.checks)


def random_constrained(seed: int) -> Constrained:
    """A space with one to three constraints."""
    chance = Random(seed)
    group: dict[str, Parameter] = {"x": oc.Float(0, 1), "y": _number(chance)}
    for name in chance.sample(["n", "c", "o", "m", "z", "w"], chance.randint(1, 4)):
        group[name] = _parameter(chance, name)
    bare = oc.Space(group)
    sample = bare.sample(np.random.default_rng(seed), SAMPLE)
    limits: list[Any] = []
    checks: list[Check] = []
    for _ in range(chance.randint(1, 3)):
        text, check = chance.choice([_sum, _product, _implication])(chance, bare, sample)
        left = [params for params in sample if check(params)]
        if len(left) >= 4:  # the rest of the constraints is satisfied by some of these
            limits.append(text)
            checks.append(check)
            sample = left
    if chance.random() < PREDICATES:
        middle = sorted(params["x"] for params in sample)[len(sample) // 2]

        def below(params: Params) -> bool:
            return bool(params["x"] <= middle)

        limits.append(below)
        checks.append(below)
    elif chance.random() < THIN and "z" in group:
        limits = ["0 <= x - z <= 0.0002"]
        checks = [lambda p: -ROUNDING <= p["x"] - p["z"] <= 0.0002 + ROUNDING]
    return Constrained(oc.Space(group, constraints=limits), tuple(checks))


def _number(chance: Random) -> Parameter:
    return chance.choice(
        [
            oc.Float(-5, 10),
            oc.Float(1e-4, 1, log=True),
            oc.Float(0, 2, step=0.05),
            oc.Int(0, 40),
            oc.Int(1, 500, log=True),
        ]
    )


def _parameter(chance: Random, name: str) -> Parameter:
    match name:
        case "c":
            return oc.Categorical(["a", "b", "c"])
        case "o":
            return oc.Ordinal([1, 2, 4, 8])
        case "m":
            inner = {"k": _number(chance), "r": oc.Float(0, 1)}
            deep = {"d": oc.Choice({"u": {}, "v": {"t": oc.Float(0, 3)}})}
            return oc.Choice({"p": {}, "q": inner, "s": deep})
        case "z" | "w":
            return oc.Float(0, 1)
    return _number(chance)


def _numbers(space: oc.Space) -> list[str]:
    kinds = (oc.Float, oc.Int)
    names = [name for name, each in space.parameters.items() if isinstance(each, kinds)]
    return names + (["o"] if "o" in space.parameters else [])


def _limit(values: Sequence[float | None], chance: Random) -> float:
    """A number that a random share of the values does not exceed."""
    given = [value for value in values if value is not None]
    return float(np.quantile(given, chance.choice(SHARES))) if given else 0.0


def _at_most(value: float | None, limit: float, size: float) -> bool:
    """Whether a value does not exceed its limit, or is missing since a part of it is inactive."""
    return value is None or value <= limit + ROUNDING * size


def _sum(chance: Random, space: oc.Space, sample: Sequence[Params]) -> tuple[str, Check]:
    names = chance.sample(_numbers(space), min(3, len(_numbers(space))))
    factors = [chance.choice([-1.0, 0.5, 1.0, 2.0]) for _ in names]

    def value(params: Params) -> float | None:
        if not all(name in params for name in names):
            return None
        return sum(f * params[name] for f, name in zip(factors, names, strict=True))

    limit = _limit([value(params) for params in sample], chance)
    terms = " + ".join(f"{f} * {name}" for f, name in zip(factors, names, strict=True))
    return f"{terms} <= {limit!r}", lambda p: _at_most(value(p), limit, 1000.0)


def _product(chance: Random, space: oc.Space, sample: Sequence[Params]) -> tuple[str, Check]:
    one, two = chance.sample(_numbers(space), 2)

    def value(params: Params) -> float | None:
        return params[one] * params[two] if {one, two} <= params.keys() else None

    limit = _limit([value(params) for params in sample], chance)
    return f"{one} * {two} <= {limit!r}", lambda p: _at_most(value(p), limit, 1000.0)


def _implication(chance: Random, space: oc.Space, sample: Sequence[Params]) -> tuple[str, Check]:
    if "m" in space.parameters:
        left, first = "m != 'q'", lambda p: p["m"] != "q"
    elif "c" in space.parameters:
        left, first = "c == 'b'", lambda p: p["c"] == "b"
    else:
        left, first = "not (x > 0.5)", lambda p: p["x"] <= 0.5
    right, second = _sum(chance, space, sample)
    return f"{left} or {right}", lambda p: first(p) or second(p)
