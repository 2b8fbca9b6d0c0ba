"""Test problems with known minima: `problems.get("branin")`, `problems.ackley(d=6)`.

All problems are minimised. `names()` lists the instances that the experiments use; `rotated` and
`scaled` make new problems from box problems, `box_problem` makes one from a formula.
"""

from __future__ import annotations

__all__ = [
    "Problem",
    "get",
    "names",
    "box_problem",
    "rotated",
    "scaled",
    "ackley",
    "ackley_categorical",
    "balanced_tree",
    "beale",
    "branin",
    "branin02",
    "corrupted_exponential",
    "corrupted_holder_table",
    "cross_in_tray",
    "decaying_sin",
    "deflected_corrugated_spring",
    "egg_holder",
    "exponential",
    "func2c",
    "func3c",
    "gramacy",
    "griewank",
    "hartmann6",
    "holder_table",
    "levy13",
    "matern_draw",
    "michalewicz",
    "rbf_draw",
    "rkhs",
    "rosenbrock",
    "shubert",
    "shubert03",
    "six_hump_camel",
    "unbalanced_tree",
    "weierstrass",
]

from outcrop.problems.base import Problem, box_problem
from outcrop.problems.boxes import (
    ackley,
    beale,
    branin,
    branin02,
    cross_in_tray,
    decaying_sin,
    deflected_corrugated_spring,
    egg_holder,
    exponential,
    gramacy,
    griewank,
    hartmann6,
    holder_table,
    levy13,
    michalewicz,
    rkhs,
    rosenbrock,
    shubert,
    shubert03,
    six_hump_camel,
    weierstrass,
)
from outcrop.problems.draws import matern_draw, rbf_draw
from outcrop.problems.mixed import ackley_categorical, func2c, func3c
from outcrop.problems.registry import get, names
from outcrop.problems.trees import balanced_tree, unbalanced_tree
from outcrop.problems.variants import (
    corrupted_exponential,
    corrupted_holder_table,
    rotated,
    scaled,
)
