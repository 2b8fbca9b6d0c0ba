"""CoCaBO's problems of categories and floats [Alvi's thesis, Table 5.1].

The thesis maximises the negative of these functions; here they are minimised.
"""

from __future__ import annotations

__all__ = ["ackley_categorical", "func2c", "func3c"]

from functools import partial

import numpy as np

from outcrop.problems.base import Formula, Problem
from outcrop.problems.boxes import CAMEL_MINIMISER, CAMEL_MINIMUM
from outcrop.problems.formulas import ackley, beale, rosenbrock, six_hump_camel
from outcrop.space import Categorical, Float, Space
from outcrop.typing import Params

# What one category adds to the sum: a weight and a two-dimensional function evaluated at 2x.
TERMS: dict[str, tuple[float, Formula]] = {
    "rosenbrock": (1 / 300, rosenbrock),
    "camel": (1 / 10, six_hump_camel),
    "beale": (1 / 50, beale),
    "beale again": (1 / 50, beale),
    "beale once more": (1 / 50, beale),
    "5 camel": (5 / 10, six_hump_camel),
    "2 rosenbrock": (2 / 300, rosenbrock),
    "2 beale": (2 / 50, beale),
    "3 beale": (3 / 50, beale),
}
CHOICES = {
    "h1": ["rosenbrock", "camel", "beale"],
    "h2": ["rosenbrock", "camel", "beale", "beale again", "beale once more"],
    "h3": ["5 camel", "2 rosenbrock", "2 beale", "3 beale"],
}


def func2c() -> Problem:
    """The sum of two functions, each selected by a category."""
    return _sum_of_chosen("func-2C", {"h1": "camel", "h2": "camel"})


def func3c() -> Problem:
    """`func2c` with a third, larger term."""
    return _sum_of_chosen("func-3C", {"h1": "camel", "h2": "camel", "h3": "5 camel"})


def ackley_categorical(c: int = 5, levels: int = 17) -> Problem:
    """Ackley on [−1, 1]^(c+1) with all coordinates but one cut into equally spaced categories.

    `levels=5` is the thesis's ackley-5C5. The step that the thesis prints, 0.125, would cover a
    quarter of the domain and miss the minimum; here the five values span [−1, 1] too.
    """
    values = [float(value) for value in np.linspace(-1, 1, levels)]
    coordinates = {f"h{i}": Categorical(values) for i in range(1, c + 1)}
    return Problem(
        name=f"ackley-{c}C" if levels == 17 else f"ackley-{c}C{levels}",
        space=Space({**coordinates, "x1": Float(-1.0, 1.0)}),
        function=partial(_ackley_of_levels, c),
        minimum=0.0 if levels % 2 else None,  # an even number of levels skips zero
        minimisers=({**dict.fromkeys(coordinates, 0.0), "x1": 0.0},) if levels % 2 else (),
        tags=("mixed", "complicated", "oscillatory"),
        source="Alvi's thesis, Table 5.1",
    )


def _ackley_of_levels(c: int, params: Params) -> float:
    """Ackley of the numbers that the categories h1, …, hc stand for, and of x1."""
    levels = [params[f"h{i}"] for i in range(1, c + 1)]
    return float(ackley(np.array([[*levels, params["x1"]]]))[0])


def _sum_of_terms(names: tuple[str, ...], params: Params) -> float:
    """The sum of the terms that the named categories choose, at 2x."""
    X = 2 * np.array([[params["x1"], params["x2"]]])
    chosen = [TERMS[params[name]] for name in names]
    return sum(weight * float(formula(X)[0]) for weight, formula in chosen)


def _sum_of_chosen(name: str, best: dict[str, str]) -> Problem:
    x1, x2 = CAMEL_MINIMISER
    return Problem(
        name=name,
        space=Space(
            {
                **{category: Categorical(CHOICES[category]) for category in best},
                "x1": Float(-1.0, 1.0),
                "x2": Float(-1.0, 1.0),
            }
        ),
        function=partial(_sum_of_terms, tuple(best)),
        minimum=CAMEL_MINIMUM * sum(TERMS[chosen][0] for chosen in best.values()),
        minimisers=(
            {**best, "x1": x1 / 2, "x2": x2 / 2},
            {**best, "x1": -x1 / 2, "x2": -x2 / 2},
        ),
        tags=("mixed",),
        source="Alvi's thesis, Table 5.1",
    )
