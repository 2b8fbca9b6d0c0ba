"""What holds for every listed problem, and for rotated copies of the box problems."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import qmc

from outcrop import problems
from outcrop.errors import ParamsError, ShapeError

LISTED = problems.names()
BOXES = [name for name in LISTED if problems.get(name).is_box]
ROTATED = [
    f"{name} rotated"
    for name in (
        "branin",
        "hartmann-6",
        "ackley-6",
        "egg-2",
        "rkhs-1d",
        "shubert",
        "mic-5",
    )
]


def problem_called(name):
    base, _, rotation = name.partition(" ")
    return problems.rotated(problems.get(base), seed=5) if rotation else problems.get(base)


def floor_of(problem):
    """What no value may be below, a little rounding granted."""
    return problem.minimum - 1e-9 * max(1.0, abs(problem.minimum))


@pytest.mark.parametrize("name", LISTED + ROTATED)
def test_stated_minimisers_are_legal_and_give_the_minimum(name):
    problem = problem_called(name)
    assert problem.minimisers
    for minimiser in problem.minimisers:
        assert problem.space.validate(minimiser) == minimiser
        assert problem(minimiser) == pytest.approx(problem.minimum, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", BOXES + ROTATED)
def test_no_quasi_random_point_is_below_the_minimum(name):
    problem = problem_called(name)
    U = qmc.Sobol(problem.dimension, seed=1).random_base2(11)
    assert problem.evaluate(problem.from_unit(U)).min() >= floor_of(problem)


@pytest.mark.parametrize("name", BOXES + ROTATED)
def test_no_local_search_near_the_minimiser_goes_below_the_minimum(name):
    problem = problem_called(name)
    rng = np.random.default_rng(2)
    best = problem.to_unit(problem.minimiser_points)[0]
    for reach in (1e-3, 1e-1):
        start = np.clip(best + reach * rng.normal(size=problem.dimension), 0, 1)
        found = minimize(
            lambda u: problem.evaluate(problem.from_unit(u[None]))[0],
            start,
            method="L-BFGS-B",
            bounds=[(0, 1)] * problem.dimension,
            options={"maxfun": 300},
        )
        assert found.fun >= floor_of(problem)


@pytest.mark.parametrize("name", sorted(set(LISTED) - set(BOXES)))
def test_no_sampled_configuration_is_below_the_minimum(name):
    problem = problem_called(name)
    values = [problem(params) for params in problem.space.sample(np.random.default_rng(3), 500)]
    assert np.isfinite(values).all()
    assert min(values) >= problem.minimum


@pytest.mark.parametrize("name", BOXES + ROTATED)
def test_evaluating_many_points_is_calling_one_by_one(name):
    problem = problem_called(name)
    X = problem.from_unit(np.random.default_rng(4).random((7, problem.dimension)))
    names = list(problem.space.parameters)
    one_by_one = [problem(dict(zip(names, x, strict=True))) for x in X.tolist()]
    np.testing.assert_allclose(problem.evaluate(X), one_by_one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", BOXES)
def test_bounds_are_those_of_the_space(name):
    problem = problem_called(name)
    declared = [(p.low, p.high) for p in problem.space.parameters.values()]
    np.testing.assert_array_equal(problem.bounds, declared)
    corners = problem.from_unit(np.array([[0.0], [1.0]]).repeat(problem.dimension, 1))
    np.testing.assert_allclose(corners.T, declared, rtol=1e-15)
    np.testing.assert_allclose(problem.to_unit(corners).T, [[0, 1]] * problem.dimension)


@pytest.mark.parametrize("name", LISTED)
def test_a_problem_survives_pickling(name):
    problem = problem_called(name)
    copy = pickle.loads(pickle.dumps(problem))
    params = problem.space.sample(np.random.default_rng(6))
    assert copy(params) == problem(params)
    assert copy.space == problem.space


def test_bounds_handed_out_are_a_copy():
    problem = problems.branin()
    problem.bounds[:] = 0
    assert problem.bounds[0, 1] == 10


def test_a_missing_parameter_is_named():
    with pytest.raises(ParamsError, match=r"branin expects .*'x1', 'x2'.*'x2' is missing"):
        problems.branin()({"x1": 1.0})


def test_points_of_another_dimension_are_refused():
    with pytest.raises(ShapeError, match=r"expects X \(n, 2\), got \(3,\)"):
        problems.branin().evaluate(np.zeros(3))


def test_a_conditional_problem_has_no_bounds():
    with pytest.raises(ParamsError, match="tree-small is not a box of floats"):
        _ = problems.get("tree-small").bounds
