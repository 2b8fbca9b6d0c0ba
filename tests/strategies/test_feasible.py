import numpy as np
import pytest
from scipy.stats import norm

from outcrop.data import Observations
from outcrop.space import Float, Space
from outcrop.strategies.feasible import LABEL_NOISE, OUTSIDE, Feasibility, Restricted
from outcrop.surrogates import GP
from outcrop.surrogates.leafwise import LeafwisePosterior
from outcrop.surrogates.situation import standard_kernel
from outcrop.testing import central_differences

SPACE = Space({"x": Float(0, 1), "y": Float(0, 1), "z": Float(0, 1)})


class Hill:
    """Highest where evaluations fail."""

    def __call__(self, X):
        return -50 * X[:, 0]

    def with_gradient(self, X):
        return self(X), np.tile([-50.0, 0.0, 0.0], (len(X), 1))


@pytest.fixture
def feasibility(rng):
    X = rng.random((40, 3))
    good = X[:, 0] > 0.45
    return Feasibility.fit(X[good], X[~good], standard_kernel(SPACE), rng)


def test_probability_is_high_where_trials_succeeded_and_low_where_they_failed(feasibility, rng):
    X = rng.random((300, 3))
    p = np.exp(feasibility.log_probability(X))
    assert p[X[:, 0] > 0.6].mean() > 0.9
    assert p[X[:, 0] < 0.3].mean() < 0.1


def test_gradients_agree_with_finite_differences(feasibility, rng):
    X = rng.random((4, 3))
    restricted = Restricted(Hill(), feasibility, -1e9)
    for function in (feasibility, restricted):
        call = restricted if function is restricted else feasibility.log_probability
        value, gradient = function.with_gradient(X)
        np.testing.assert_allclose(value, call(X), rtol=1e-10)
        expected = central_differences(lambda x, call=call: float(call(x).sum()), X)
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_the_best_allowed_point_is_likely_to_succeed(feasibility, rng):
    X = rng.random((500, 3))
    restricted = Restricted.to_likely(Hill(), feasibility, X)
    best = X[restricted(X).argmax()]
    p = np.exp(feasibility.log_probability(np.vstack([best, X])))
    assert p[0] >= 0.8 * p[1:].max() - 1e-9
    assert best[0] > 0.4


def test_points_outside_lose_to_every_point_inside(feasibility, rng):
    X = rng.random((500, 3))
    restricted = Restricted.to_likely(Hill(), feasibility, X)
    values = restricted(X)
    inside = feasibility.log_probability(X) >= restricted.threshold
    assert values[inside].min() > values[~inside].max() + 0.5 * abs(OUTSIDE)


def test_an_acquisition_that_is_no_logarithm_is_restricted_but_not_weighed(feasibility, rng):
    X = rng.random((50, 3))
    plain = Restricted(Hill(), feasibility, -1e9, weighs=False)
    np.testing.assert_array_equal(plain(X), Hill()(X))
    np.testing.assert_array_equal(plain.with_gradient(X)[1], Hill().with_gradient(X)[1])


def test_many_points_in_boxes_give_the_probabilities_of_one_process_on_all_of_them(rng):
    X = rng.random((700, 3))
    good = X[:, 0] + 0.2 * X[:, 1] > 0.45
    kernel = standard_kernel(SPACE)
    found = Feasibility.fit(X[good], X[~good], kernel, rng, cuts=(0, 1, 2))
    data = Observations(X, np.where(good, 1.0, -1.0))
    new, p = rng.random((100, 3)), 0.0
    for part in found.labels.components:
        assert isinstance(part, LeafwisePosterior)
        mean, var = GP(part.leaves[0].model.kernel, LABEL_NOISE).condition(data).predict(new)
        p = p + norm.cdf(mean / np.sqrt(var + LABEL_NOISE)) / len(found.labels)
    np.testing.assert_allclose(np.exp(found.log_probability(new)), p, atol=0.03)
