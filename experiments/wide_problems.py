"""Functions of 20 to 40 dimensions, half of them with few active directions; one for each seed.

`CONFIRM` are those that results are reported of, and `CHOOSE` those that choices are made on.
"""

from __future__ import annotations

__all__ = ["CHOOSE", "CONFIRM", "WIDE", "wide_problem"]

from collections.abc import Mapping
from typing import NamedTuple

from outcrop import problems
from outcrop.problems import Problem


class Wide(NamedTuple):
    """A function, the dimension of the cube it is embedded in, and whether it is rotated there."""

    function: Problem
    dimension: int
    rotate: bool


CONFIRM = {
    "levy-30": Wide(problems.levy(30), 30, False),
    "ackley-20 rotated": Wide(problems.ackley(20), 20, True),
    "rosenbrock-20 rotated": Wide(problems.rosenbrock(20), 20, True),
    "hartmann-6 in 30": Wide(problems.hartmann6(), 30, False),
    "branin in 25 rotated": Wide(problems.branin(), 25, True),
    "levy-4 in 40 rotated": Wide(problems.levy(4), 40, True),
}
CHOOSE = {
    "rosenbrock-25": Wide(problems.rosenbrock(25), 25, False),
    "levy-20 rotated": Wide(problems.levy(20), 20, True),
    "griewank-40": Wide(problems.griewank(40), 40, False),
    "ackley-4 in 25": Wide(problems.ackley(4), 25, False),
    "camel in 40 rotated": Wide(problems.six_hump_camel(), 40, True),
    "hartmann-6 in 20 rotated": Wide(problems.hartmann6(), 20, True),
}
WIDE: Mapping[str, Wide] = {**CONFIRM, **CHOOSE}


def wide_problem(name: str, seed: int = 0) -> Problem:
    """The function of a name, its minimiser, axes and directions drawn by `seed`."""
    wide = WIDE[name]
    return problems.embedded(wide.function, wide.dimension, seed, wide.rotate)
