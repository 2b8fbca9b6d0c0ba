"""Instances of problems with known minima: each axis is reflected or not, by chance.

A reflection keeps the minimum, and a minimiser on a bound stays on one.
"""

from __future__ import annotations

__all__ = ["reflected"]

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from experiments.suite.instances import require_open
from outcrop.problems import Problem
from outcrop.space import Float
from outcrop.typing import Params


def reflected(problem: Problem, instance: int) -> Problem:
    """`problem` with about half of its floats x replaced by low + high − x."""
    require_open(instance)
    rng = np.random.default_rng([instance, zlib.crc32(problem.name.encode())])
    turned = {
        name: (float(parameter.low), float(parameter.high))
        for name, parameter in problem.space.parameters.items()
        if isinstance(parameter, Float) and not parameter.log and rng.random() < 0.5
    }
    minimisers = tuple(mirrored(point, turned) for point in problem.minimisers)
    function = OnMirrored(problem, turned)
    name = f"{problem.name}-i{instance}"
    return replace(problem, name=name, function=function, minimisers=minimisers)


@dataclass(frozen=True, eq=False)
class OnMirrored:
    """A problem of which some parameters run from high to low."""

    problem: Problem
    turned: Mapping[str, tuple[float, float]]

    def __call__(self, params: Params) -> float:
        return self.problem(mirrored(params, self.turned))


def mirrored(params: Params, turned: Mapping[str, tuple[float, float]]) -> Params:
    """`params` with low + high − x for x where `turned` has it, and within the bounds."""
    return {
        name: min(max(sum(turned[name]) - value, turned[name][0]), turned[name][1])
        if name in turned
        else value
        for name, value in params.items()
    }
