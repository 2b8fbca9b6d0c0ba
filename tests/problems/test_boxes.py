"""Values computed by hand, and numbers the literature states about the box problems."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from outcrop import problems


def at(problem, *x):
    return problem({f"x{i}": value for i, value in enumerate(x, 1)})


@pytest.mark.parametrize(
    ("problem", "x", "value"),
    [
        (problems.branin(), (0, 0), 36 + 10 * (1 - 1 / (8 * np.pi)) + 10),
        (problems.branin02(), (0, 0), 36 + 10 * (1 - 1 / (8 * np.pi)) + 10),
        (problems.beale(), (1, 2), 2.5**2 + 5.25**2 + 9.625**2),
        (problems.beale(), (-4.5, -4.5), 181853.61328125),
        (problems.rosenbrock(3), (1, 0, 2), 100 + (400 + 1)),
        (problems.six_hump_camel(), (1, 1), 4 - 2.1 + 1 / 3 + 1),
        (problems.exponential(2), (-0.6, 0.2), -np.exp(-0.2)),
        (problems.gramacy(), (1, 2), np.exp(-5)),
        (problems.ackley(2), (1, 1), 20 - 20 * np.exp(-0.2)),
        (problems.ackley(1), (0.5,), 20 - 20 * np.exp(-0.1) - np.exp(-1) + np.e),
        (problems.griewank(2), (np.pi, 0), 2 + np.pi**2 / 4000),
        (problems.levy13(), (1, 1.5), 0.25),
        (problems.levy13(), (1.5, 1.5), 1 + 0.25 * 2 + 0.25),
        (problems.deflected_corrugated_spring(2), (5, 5 + np.pi / 5), 1 + 0.1 * (np.pi / 5) ** 2),
        (problems.holder_table(), (np.pi / 2, 0), -np.exp(0.5)),
        (problems.cross_in_tray(), (0, 3), -1e-4),
        (problems.egg_holder(), (0, 0), -47 * np.sin(np.sqrt(47))),
        (problems.decaying_sin(), (-0.6,), np.sin(3) / np.e),
        (problems.weierstrass(1), (-0.5,), 4 * (1 - 2**-21)),
        (problems.weierstrass(8), (-0.5,) * 8, 143.99993),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_value_computed_by_hand(problem, x, value):
    assert at(problem, *x) == pytest.approx(value, rel=1e-7)


def test_shubert_factors_at_the_origin():
    cosines = sum(i * np.cos(i) for i in range(1, 6))
    sines = sum(i * np.sin(i) for i in range(1, 6))
    assert at(problems.shubert(), 0, 0) == pytest.approx(cosines**2)
    assert at(problems.shubert03(), 0, 0) == pytest.approx(-2 * sines)


def test_deflected_corrugated_spring_at_the_origin():
    assert at(problems.deflected_corrugated_spring(10), *[0] * 10) == pytest.approx(25.87, abs=5e-3)


@pytest.mark.parametrize(
    ("name", "minimum", "tolerance"),
    [
        ("branin", 0.39788735772974, 1e-14),
        ("branin02", 5.558914404, 1e-9),
        ("cross-in-tray", -2.06261187082274, 1e-14),
        ("hartmann-6", -3.322368011416, 1e-12),
        ("holder-table", -19.208502567887, 1e-12),
        ("shubert", -186.730908831, 1e-9),
        ("shubert03", -24.062498884, 1e-9),
        ("weierstrass-8", 111.99994659, 1e-8),
        ("michalewicz-2", -1.801303, 1e-6),
        ("michalewicz-5", -4.687658179, 1e-9),
        ("michalewicz-10", -9.660151716, 1e-9),
        ("egg-holder", -959.640662721, 1e-9),
        ("six-hump-camel", -1.031628453490, 1e-12),
        ("exp-2d", -0.428881942480, 1e-12),
        ("exp-2d-wide", -0.428881942480, 1e-12),
        ("rkhs-1d", -5.738393746, 2e-9),
    ],
)
def test_minimum_is_the_published_one(name, minimum, tolerance):
    assert problems.get(name).minimum == pytest.approx(minimum, abs=tolerance)


@pytest.mark.parametrize(
    ("name", "start", "value"),
    [
        ("branin02", (3.3635, 0.3728), 6.8106),
        ("hartmann-6", (0.405, 0.882, 0.846, 0.574, 0.139, 0.038), -3.203162),
    ],
)
def test_second_basin_is_where_it_is_said_to_be(name, start, value):
    problem = problems.get(name)
    found = minimize(lambda x: problem.evaluate(x[None])[0], start)
    assert found.fun == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(found.x, start, atol=2e-3)


@pytest.mark.parametrize(
    ("near", "place", "height"),
    [(0.0777, 0.0777, 4.9678), (0.7943, 0.7943, 5.1753), (0.8924, 0.89236, 5.738393746)],
)
def test_rkhs_peaks(near, place, height):
    problem = problems.rkhs()
    found = minimize_scalar(
        lambda x: problem.evaluate(np.array([[x]]))[0],
        bounds=(near - 0.01, near + 0.01),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert found.x == pytest.approx(place, abs=6e-5)
    assert -found.fun == pytest.approx(height, abs=6e-5)


def test_rkhs_has_eight_peaks_and_its_floor():
    x = np.linspace(0, 1, 200_001)
    heights = -problems.rkhs().evaluate(x[:, None])
    middle = heights[1:-1]
    assert ((middle > heights[:-2]) & (middle > heights[2:])).sum() == 8
    assert heights.min() == pytest.approx(-2.580052, abs=1e-6)
    assert x[heights.argmin()] == pytest.approx(0.821644, abs=1e-5)


def test_extrema_of_the_exp_function_mirror_each_other():
    assert at(problems.gramacy(), np.sqrt(0.5), 0) == pytest.approx(0.428881942)


def test_weierstrass_agrees_with_its_definition_term_by_term():
    X = np.random.default_rng(0).uniform(-0.5, 0.2, (3, 4))
    expected = [
        sum(
            sum(0.5**k * np.cos(2 * np.pi * 3**k * (xj + 0.5)) for k in range(21))
            - 4 * sum(0.5**k * np.cos(np.pi * 3**k) for k in range(21))
            for xj in x
        )
        for x in X
    ]
    np.testing.assert_allclose(problems.weierstrass(4).evaluate(X), expected, rtol=1e-6)


@pytest.mark.parametrize("d", [1, 3, 7])
def test_michalewicz_is_least_in_every_coordinate(d):
    problem = problems.michalewicz(d)
    ladder = np.linspace(0, np.pi, 5001)
    for i, _ in enumerate(problem.bounds):
        X = np.repeat(problem.minimiser_points, len(ladder), 0)
        X[:, i] = ladder
        assert problem.evaluate(X).min() >= problem.minimum
