from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from outcrop.space import Categorical, Choice, Float, Space
from outcrop.strategies.pending.penalty_factors import Gaussian, Hard, Penalty
from outcrop.testing import central_differences
from tests.strategies.spaces import EVERY_SPACE

PLANE = Space({"x": Float(0, 1), "y": Float(0, 1)})
GAP = np.array([[0.4, 0.0, 1.3], [0.2, 0.7, 0.1]])  # two components, three busy points
STD = np.array([[0.3, 0.1, 0.6], [0.5, 0.2, 0.4]])
SLOPE = np.array([[2.0, 2.0, 2.0], [5.0, 1.0, 3.0]])
BUSY = np.array([[0.2, 0.3], [0.9, 0.1], [0.5, 0.8]])
FAR = np.full((2, 3), inf)  # constants hold everywhere
SHAPES = [
    Gaussian(GAP, STD, SLOPE),
    Hard.within(GAP, STD, SLOPE, FAR, 1.0, -5.0),
    Hard.within(GAP, STD, SLOPE, FAR, 0.5, -inf),
]
PRODUCTS = [
    Hard.within(GAP, STD, SLOPE, FAR, 1.0, -5.0, "product"),
    Hard.within(GAP, STD, SLOPE, FAR, 0.5, -inf, "product"),
]


def test_the_gaussian_penaliser_is_its_formula(rng):
    X = rng.random((20, 2))
    expected = np.zeros((2, 20))
    for i in range(2):
        for j in range(3):
            d = np.linalg.norm(X - BUSY[j], axis=1)
            expected[i] += norm.logcdf((SLOPE[i, j] * d - GAP[i, j]) / STD[i, j])
    np.testing.assert_allclose(Penalty.on(PLANE, BUSY, SHAPES[0]).log(X), expected, rtol=1e-10)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("p", [-1.0, -5.0, -30.0])
def test_the_hard_penaliser_is_its_formula(gamma, p, rng):
    X = rng.random((20, 2))
    expected = np.ones((2, 20))
    for i in range(2):
        for j in range(3):
            radius = max((GAP[i, j] + gamma * STD[i, j]) / SLOPE[i, j], 1e-10)
            t = np.linalg.norm(X - BUSY[j], axis=1) / radius
            expected[i] *= (t**p + 1) ** (1 / p)
    shape = Hard.within(GAP, STD, SLOPE, FAR, gamma, p)
    np.testing.assert_allclose(np.exp(Penalty.on(PLANE, BUSY, shape).log(X)), expected, rtol=1e-9)


def test_with_an_infinite_power_the_hard_penaliser_is_the_minimum(rng):
    X = rng.random((50, 2))
    d = np.linalg.norm(X[:, None] - BUSY, axis=2)
    radius = (GAP + 0.5 * STD) / SLOPE
    expected = np.minimum(d / radius[:, None], 1.0).prod(2)
    np.testing.assert_allclose(np.exp(Penalty.on(PLANE, BUSY, SHAPES[2]).log(X)), expected)
    sharp = Penalty.on(PLANE, BUSY, Hard(radius, -1e4)).log(X)
    np.testing.assert_allclose(np.exp(sharp), expected, rtol=1e-3)


def test_the_hard_penaliser_is_0_at_a_busy_point_and_1_far_away():
    for shape in SHAPES[1:]:
        assert (np.exp(Penalty.on(PLANE, BUSY, shape).log(BUSY)) < 1e-20).all()
        assert (np.exp(shape.log(np.full((1, 3), 100.0))) > 1 - 1e-6).all()


def test_a_radius_of_nothing_penalises_the_busy_point_alone():
    zero = np.zeros((1, 1))
    shape = Hard.within(zero, zero, np.full((1, 1), 10.0), zero + inf, 1.0, -5.0)
    penalty = Penalty.on(PLANE, BUSY[:1], shape)
    at, near = np.exp(penalty.log(BUSY[:1]))[0], np.exp(penalty.log(BUSY[:1] + 1e-8))[0]
    assert at < 1e-15
    assert near == pytest.approx(1)


@given(st.floats(0, 3), st.floats(0, 1), st.floats(1e-7, 1e3), st.floats(0, 2), st.floats(1e-6, 1))
def test_penalisers_rise_with_the_distance_from_0_to_1(gap, std, slope, d, more):
    own = (np.array([[value]]) for value in (gap, std, slope))
    gap, std, slope = own
    far = np.array([[inf]])
    for shape in (Gaussian(gap, std, slope), Hard.within(gap, std, slope, far, 1.0, -5.0)):
        near, far = (shape.log(np.array([[x]]))[0, 0, 0] for x in (d, d + more))
        assert near <= far <= 0


@pytest.mark.parametrize("p", [-1.0, -5.0, -inf])
def test_a_clipped_product_is_the_minimum_of_all_ratios_multiplied_and_one(p, rng):
    X = rng.random((30, 2))
    radius = (GAP + STD) / SLOPE
    t = (np.linalg.norm(X[:, None] - BUSY, axis=2) / radius[:, None]).prod(2)
    expected = np.minimum(t, 1.0) if p == -inf else (t**p + 1) ** (1 / p)
    shape = Hard.within(GAP, STD, SLOPE, FAR, 1.0, p, "product")
    np.testing.assert_allclose(np.exp(Penalty.on(PLANE, BUSY, shape).log(X)), expected, rtol=1e-9)


def test_a_far_busy_point_cancels_a_near_one_only_if_the_product_is_clipped():
    busy, X = np.array([[0.1, 0.1], [0.9, 0.9]]), np.array([[0.15, 0.1]])
    radius = np.array([[0.1, 0.02]])
    each, product = (
        np.exp(Penalty.on(PLANE, busy, Hard(radius, -inf, clip)).log(X))[0, 0]
        for clip in ("each", "product")
    )
    assert each == pytest.approx(0.5)
    assert product == 1.0


@pytest.mark.parametrize("gamma", [0.0, 1.0, 2.5])
def test_a_radius_is_never_longer_than_its_constant_reaches(gamma):
    """A small constant found near a busy point on a plateau would penalise the whole cube."""
    slope, reach = np.full((2, 3), 0.01), np.array([[0.2, 0.3, 0.1], [0.4, 0.5, 0.6]])
    hard = Hard.within(GAP, STD, slope, reach, gamma, -5.0)
    expected = np.minimum((GAP + gamma * STD) / slope, reach)
    np.testing.assert_allclose(hard.radius, expected, atol=1e-10)
    assert (hard.radius <= reach).all()
    soft = Gaussian.within(GAP, STD, slope, reach)
    for i, j in np.ndindex(*reach.shape):
        factor = np.exp(soft.log(np.full((1, 3), reach[i, j]))[i, 0, j])
        assert factor == pytest.approx(norm.cdf(1.0))  # a standard deviation outside
    np.testing.assert_array_equal(Gaussian.within(GAP, STD, SLOPE, FAR).slope, SLOPE)


@pytest.mark.parametrize(
    "shape", [*SHAPES, *PRODUCTS], ids=["gaussian", "hard", "edged", "product", "edged product"]
)
def test_gradients_agree_with_finite_differences(shape, rng):
    X, bar = rng.random((8, 2)), rng.normal(size=(2, 8))
    penalty = Penalty.on(PLANE, BUSY, shape)
    value, pull = penalty.log_with_pullback(X)
    np.testing.assert_allclose(value, penalty.log(X), rtol=1e-12)
    expected = central_differences(lambda x: float((bar * penalty.log(x)).sum()), X)
    np.testing.assert_allclose(pull(bar), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES, ids=["gaussian", "hard", "edged"])
def test_gradients_are_finite_at_and_next_to_busy_points(shape):
    X = np.vstack([BUSY, BUSY + 1e-12, BUSY + 1e-300])
    value, pull = Penalty.on(PLANE, BUSY, shape).log_with_pullback(X)
    assert np.isfinite(value).all()
    assert np.isfinite(pull(np.ones(value.shape))).all()


@pytest.mark.parametrize("shape", SHAPES, ids=["gaussian", "hard", "edged"])
def test_order_of_busy_points_is_irrelevant(shape, rng):
    X = rng.random((10, 2))
    matrices = {name: value for name, value in vars(shape).items() if name not in ("p", "clip")}
    turned = replace(shape, **{name: value[:, ::-1] for name, value in matrices.items()})
    one = Penalty.on(PLANE, BUSY, shape).log(X)
    other = Penalty.on(PLANE, BUSY[::-1], turned).log(X)
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_what_differs_in_a_category_is_not_near():
    space = Space({"x": Float(0, 1), "c": Categorical(["u", "v"]), "y": Float(0, 1)})
    busy = np.array([[0.2, 1.0, 0.3], [0.9, 0.0, 0.1], [0.5, 1.0, 0.8]])
    penalty = Penalty.on(space, busy, SHAPES[1])
    X = np.array([[0.21, 0.0, 0.3], [0.21, 1.0, 0.3]])
    plane = Penalty.on(PLANE, BUSY, SHAPES[1])
    only_second = Penalty.on(PLANE, BUSY[1:2], Hard(SHAPES[1].radius[:, 1:2]))
    np.testing.assert_allclose(penalty.log(X)[:, 0], only_second.log(X[:1, [0, 2]])[:, 0])
    other = plane.log(X[1:, [0, 2]])[:, 0] - only_second.log(X[1:, [0, 2]])[:, 0]
    np.testing.assert_allclose(penalty.log(X)[:, 1], other)


def test_options_of_a_choice_are_far_apart_even_if_they_have_parameters_in_common():
    space = Space({"x": Float(0, 1), "m": Choice({"a": {}, "b": {"y": Float(0, 1)}})})
    busy = space.encode([{"x": 0.4, "m": "a"}]).X
    penalty = Penalty.on(space, busy, Hard(np.array([[0.3]])))
    X = space.encode([{"x": 0.4, "m": {"b": {"y": 0.0}}}, {"x": 0.45, "m": "a"}]).X
    other, same = penalty.log(X)[0]
    assert other == 0.0
    assert same == pytest.approx(-np.log((6.0**5 + 1) ** 0.2), rel=1e-9)


def test_without_numbers_only_the_busy_configuration_itself_is_penalised():
    space = EVERY_SPACE["categories"]
    busy = np.array([[1.0, 2.0]])
    penalty = Penalty.on(space, busy, Hard(np.array([[0.3]])))
    X = np.array([[1.0, 2.0], [1.0, 1.0], [0.0, 2.0]])
    np.testing.assert_array_equal(np.exp(penalty.log(X)[0]) > 0.5, [False, True, True])
