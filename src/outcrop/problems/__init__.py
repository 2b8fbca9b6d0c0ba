"""Test problems with known minima: `problems.get("branin")`, `problems.ackley(d=6)`.

All problems are minimised. `names()` lists the instances that the experiments use; `rotated`,
`embedded` and `scaled` make new problems from box problems, `box_problem` makes one from a formula.
All problems of `boxes` are here too.
"""

from __future__ import annotations

__all__ = [
    "Problem",
    "get",
    "names",
    "box_problem",
    "embedded",
    "rotated",
    "scaled",
    "ackley_categorical",
    "balanced_tree",
    "corrupted_exponential",
    "corrupted_holder_table",
    "func2c",
    "func3c",
    "matern_draw",
    "rbf_draw",
    "unbalanced_tree",
]

from outcrop.problems import boxes
from outcrop.problems.base import Problem, box_problem
from outcrop.problems.boxes import *  # noqa: F403 - exactly its `__all__`
from outcrop.problems.draws import matern_draw, rbf_draw
from outcrop.problems.mixed import ackley_categorical, func2c, func3c
from outcrop.problems.registry import get, names
from outcrop.problems.trees import balanced_tree, unbalanced_tree
from outcrop.problems.variants import (
    corrupted_exponential,
    corrupted_holder_table,
    embedded,
    rotated,
    scaled,
)

__all__ += boxes.__all__
