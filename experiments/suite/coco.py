"""Problems of COCO: BBOB on [−5, 5]^d and its mixed-integer version [Hansen et al. 2021].

Names are `bbob-f03-d5`, `mixint-f03-d5`. Values are in COCO's units; the minimum is that at the
optimal point of the instance, which `cocoex` discloses. The package is `coco-experiment`.
"""

from __future__ import annotations

__all__ = ["BBOB", "MIXINT", "coco_problem"]

import tempfile
from contextlib import chdir
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.suite.instances import require_open
from outcrop.problems import Problem
from outcrop.space import Float, Int, Parameter, Space
from outcrop.typing import Params, Vector

FUNCTIONS = range(1, 25)
IN_TEN = (1, 8, 12, 15, 20, 21)  # sphere, Rosenbrock, bent cigar, Rastrigin, Schwefel, Gallagher
SUITES = {"bbob": "bbob", "mixint": "bbob-mixint"}
BBOB = [
    *(f"bbob-f{function:02}-d{d}" for d in (2, 5) for function in FUNCTIONS),
    *(f"bbob-f{function:02}-d10" for function in IN_TEN),
]
MIXINT = [f"mixint-f{function:02}-d5" for function in FUNCTIONS]
OPTIMUM_FILE = "._bbob_problem_best_parameter.txt"  # that cocoex writes to the working directory


def coco_problem(name: str, instance: int) -> Problem:
    """An instance of a problem; those that are reserved are refused before anything is made."""
    require_open(instance)
    kind, function, dimension = name.split("-")
    where = Coco(SUITES[kind], int(function[1:]), int(dimension[1:]), instance)
    problem, optimum = where.loaded()
    integers = problem.number_of_integer_variables
    parameters: dict[str, Parameter] = {}
    for i, (low, high) in enumerate(zip(problem.lower_bounds, problem.upper_bounds, strict=True)):
        made = Int(int(low), int(high)) if i < integers else Float(float(low), float(high))
        parameters[f"x{i + 1}"] = made
    point = {
        label: round(float(x)) if isinstance(parameter, Int) else float(x)
        for (label, parameter), x in zip(parameters.items(), optimum, strict=True)
    }
    return Problem(
        name=f"{name}-i{instance}",
        space=Space(parameters),
        function=where,
        minimum=where(point),
        minimisers=(point,),
        source="COCO 2.8, Hansen et al. 2021",
    )


@dataclass(frozen=True)
class Coco:
    """A function of COCO in a dimension, as one of its instances."""

    suite: str
    function: int
    dimension: int
    instance: int

    def __call__(self, params: Params) -> float:
        problem, _ = self.loaded()
        x = np.array([params[f"x{i + 1}"] for i in range(self.dimension)], dtype=float)
        return float(problem(x))

    def loaded(self) -> tuple[Any, Vector]:
        """The problem of `cocoex` and its optimal point."""
        require_open(self.instance)
        return _load(self.suite, self.function, self.dimension, self.instance)


@lru_cache(maxsize=64)
def _load(suite: str, function: int, dimension: int, instance: int) -> tuple[Any, Vector]:
    import cocoex

    only = f"instances: {instance}-{instance}"
    made = cocoex.Suite(suite, only, f"dimensions: {dimension} function_indices: {function}")
    problem = made.get_problem_by_function_dimension_instance(function, dimension, instance)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        problem._best_parameter("print")
        optimum = np.loadtxt(Path(folder) / OPTIMUM_FILE)
    return problem, np.atleast_1d(optimum)
