"""Problems by name: `get("ackley-2")`, `names()`.

A name that ends in a number is the problem of a family in that dimension (`"ackley-20"`), listed or
not.
"""

from __future__ import annotations

__all__ = ["get", "names"]

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial

from outcrop.errors import ParamsError
from outcrop.problems import boxes, draws, mixed, trees, variants
from outcrop.problems.base import Problem

# Families that exist in any dimension, and the dimensions the experiments use.
FAMILIES: dict[str, tuple[Callable[[int], Problem], tuple[int, ...]]] = {
    "ackley": (boxes.ackley, (2, 6)),
    "griewank": (boxes.griewank, (2,)),
    "michalewicz": (boxes.michalewicz, (2, 5, 10)),
    "rosenbrock": (boxes.rosenbrock, (2,)),
    "exponential": (boxes.exponential, (8,)),
    "weierstrass": (boxes.weierstrass, (8,)),
    "deflected-corrugated-spring": (boxes.deflected_corrugated_spring, (2, 10)),
    "corrupted-exponential": (variants.corrupted_exponential, (8,)),
    "ack": (variants.ack, (2, 4, 5, 8, 10)),
    "mic": (variants.mic, (2, 4, 5, 8, 10)),
    "mat": (draws.matern_draw, (2, 6)),
    "rbf": (draws.rbf_draw, (2, 3, 4)),
    "tree-unbalanced": (trees.unbalanced_tree, (4, 8, 16)),
}

SINGLES: dict[str, Callable[[], Problem]] = {
    "branin": boxes.branin,
    "branin02": boxes.branin02,
    "beale": boxes.beale,
    "hartmann-6": boxes.hartmann6,
    "levy-2": boxes.levy13,
    "six-hump-camel": boxes.six_hump_camel,
    "exp-2d": boxes.gramacy,
    "exp-2d-wide": partial(boxes.gramacy, high=18.0),
    "shubert": boxes.shubert,
    "shubert03": boxes.shubert03,
    "holder-table": boxes.holder_table,
    "cross-in-tray": boxes.cross_in_tray,
    "egg-holder": boxes.egg_holder,
    "rkhs-1d": boxes.rkhs,
    "decaying-sin": boxes.decaying_sin,
    "corrupted-holder-table": variants.corrupted_holder_table,
    "bra-2": variants.bra,
    "cam-2": variants.cam,
    "egg-2": variants.egg,
    "ros-2": variants.ros,
    "func-2C": mixed.func2c,
    "func-3C": mixed.func3c,
    **{f"ackley-{c}C": partial(mixed.ackley_categorical, c) for c in (2, 3, 4, 5)},
    "ackley-5C5": partial(mixed.ackley_categorical, 5, levels=5),
    "tree-small": partial(trees.balanced_tree, 2),
    "tree-small-shared": partial(trees.balanced_tree, 2, shared=True),
    "tree-small-quadratic": partial(trees.balanced_tree, 2, shared=True, quadratic=True),
    "tree-large": partial(trees.balanced_tree, 3),
    "tree-large-shared": partial(trees.balanced_tree, 3, shared=True),
    "tree-large-quadratic": partial(trees.balanced_tree, 3, shared=True, quadratic=True),
}


def names() -> list[str]:
    """Every listed problem, in alphabetical order."""
    families = [f"{family}-{d}" for family, (_, dims) in FAMILIES.items() for d in dims]
    return sorted([*SINGLES, *families], key=str.lower)


def get(name: str) -> Problem:
    """The problem called `name`; upper and lower case are not distinguished."""
    key = name.lower()
    for single, build in SINGLES.items():
        if single.lower() == key:
            return build()
    family, _, dimension = key.rpartition("-")
    if family in FAMILIES and dimension.isdecimal() and int(dimension) > 0:
        return FAMILIES[family][0](int(dimension))
    spelling = {known.lower(): known for known in names()}
    near = [spelling[known] for known in get_close_matches(key, spelling, n=3, cutoff=0.4)]
    raise ParamsError(
        f"no problem is called {name!r}; "
        + (f"did you mean {', '.join(near)}?" if near else "problems.names() lists them all")
    )
