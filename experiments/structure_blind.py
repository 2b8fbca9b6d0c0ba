"""A conditional problem as a solver sees it that does not know of conditions.

Every parameter has a value in every configuration, and those that are not active change nothing. A
model of such configurations takes all coordinates into account, the inactive ones included.
"""

from __future__ import annotations

__all__ = ["flat_configurations", "flattened"]

from collections.abc import Sequence

import numpy as np

from outcrop.problems import Problem
from outcrop.space import Categorical, Choice, Space
from outcrop.space.tree import Column
from outcrop.typing import Params


def flattened(problem: Problem) -> Problem:
    """`problem` without conditions; a choice is a category."""
    columns = problem.space.columns

    def function(params: Params) -> float:
        is_active = [
            all(params[_name(columns[i])] == _options(columns[i])[code] for i, code in c.conditions)
            for c in columns
        ]
        active = zip(columns, is_active, strict=True)
        return problem({c.name: params[_name(c)] for c, counts in active if counts})

    parameters = {
        _name(c): Categorical(_options(c)) if isinstance(c.parameter, Choice) else c.parameter
        for c in columns
    }
    return Problem(
        name=f"{problem.name}-flat",
        space=Space(parameters),
        function=function,
        minimum=problem.minimum,
        tags=problem.tags,
        source=problem.source,
    )


def flat_configurations(
    problem: Problem, configurations: Sequence[Params], seed: int
) -> list[Params]:
    """Configurations of `flattened(problem)`; what is not active is drawn at random."""
    rng = np.random.default_rng(seed)
    drawn = flattened(problem).space.sample(rng, len(configurations))
    return [
        {_name(c): own[c.name] if c.name in own else other[_name(c)] for c in problem.space.columns}
        for own, other in zip(configurations, drawn, strict=True)
    ]


def _name(column: Column) -> str:
    return f"p{column.index}"


def _options(column: Column) -> list[str]:
    assert isinstance(column.parameter, Choice)
    return list(column.parameter.names)
