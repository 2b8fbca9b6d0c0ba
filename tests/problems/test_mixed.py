from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from outcrop import problems
from outcrop.space import Categorical


def lowest_for(problem, categories):
    """The lowest value over x with the categories held, by local searches."""

    def value(x):
        return problem({**categories, "x1": x[0], "x2": x[1]})

    starts = [(0.1, -0.3), (0.4, 0.3)]  # near the minima of camel and of rosenbrock
    return min(minimize(value, start, bounds=[(-1, 1)] * 2).fun for start in starts)


def test_func2c_by_hand():
    params = {"h1": "rosenbrock", "h2": "beale again", "x1": 0.5, "x2": 1.0}
    rosenbrock, beale = 100.0, 2.5**2 + 5.25**2 + 9.625**2  # both at (1, 2)
    assert problems.func2c()(params) == pytest.approx(rosenbrock / 300 + beale / 50)


def test_func3c_by_hand():
    params = {"h1": "camel", "h2": "camel", "h3": "3 beale", "x1": 0.5, "x2": 0.5}
    camel, beale = 4 - 2.1 + 1 / 3 + 1, 1.5**2 + 2.25**2 + 2.625**2  # both at (1, 1)
    assert problems.func3c()(params) == pytest.approx(2 * camel / 10 + 3 * beale / 50)


def test_the_published_optima():
    assert problems.func2c().minimum == pytest.approx(-0.206326, abs=1e-6)
    assert problems.func3c().minimum == pytest.approx(-0.722140, abs=1e-6)


@pytest.mark.parametrize(
    ("categories", "value"),
    [
        ({"h1": "rosenbrock", "h2": "camel"}, -0.000141),
        ({"h1": "rosenbrock", "h2": "rosenbrock"}, 0.0),
        ({"h1": "camel", "h2": "camel"}, -0.206326),
    ],
)
def test_best_of_a_pair_of_func2c(categories, value):
    assert lowest_for(problems.func2c(), categories) == pytest.approx(value, abs=2e-6)


def test_runner_up_of_func3c():
    problem = problems.func3c()
    three = ["rosenbrock", "camel", "beale"]
    lowest = sorted(
        lowest_for(problem, {"h1": h1, "h2": h2, "h3": "5 camel"})
        for h1, h2 in product(three, repeat=2)
    )
    assert lowest[0] == pytest.approx(-0.722140, abs=1e-6)
    assert lowest[1] == pytest.approx(-0.460978, abs=1e-6)


@pytest.mark.parametrize(("name", "levels"), [("ackley-5C", 17), ("ackley-5C5", 5)])
def test_categories_of_ackley_span_the_domain(name, levels):
    problem = problems.get(name)
    parameter = problem.space.parameters["h3"]
    assert isinstance(parameter, Categorical)
    choices = parameter.choices
    assert len(choices) == levels
    assert choices[0] == -1
    assert choices[-1] == 1
    assert 0.0 in choices


def test_categorical_ackley_is_ackley():
    params = {"h1": -1.0, "h2": 0.125, "x1": 0.3}
    value = problems.ackley(3).evaluate(np.array([[-1.0, 0.125, 0.3]]))[0]
    assert problems.ackley_categorical(2)(params) == value


def test_step_printed_in_the_thesis_would_miss_the_minimum():
    problem = problems.get("ackley-5C5")
    printed = [-1 + 0.125 * j for j in range(5)]
    values = [problem({**{f"h{i}": z for i in range(1, 6)}, "x1": 0.0}) for z in printed]
    assert min(values) == values[0] == pytest.approx(3.3375, abs=1e-4)
