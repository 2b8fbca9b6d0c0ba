import numpy as np
import pytest

from outcrop.space import Categorical, Float, Int, Space
from outcrop.strategies.interior import Interior
from outcrop.testing import central_differences

SPACE = Space(
    {
        "x": Float(0, 1),
        "c": Categorical(["a", "b"]),
        "few": Int(1, 4),
        "many": Int(1, 400),
    }
)


class Slope:
    def __call__(self, X):
        return X @ np.array([1.0, 0.0, 2.0, -3.0])

    def with_gradient(self, X):
        return self(X), np.tile([1.0, 0.0, 2.0, -3.0], (len(X), 1))


MIDDLE = np.array([0.5, 0, 0, 0.5])


def test_only_numbers_with_many_values_have_an_interior():
    assert Interior.of(Slope(), SPACE, MIDDLE).columns == (0, 3)


def test_a_corner_loses_a_factor_of_two_per_number(rng):
    interior = Interior.of(Slope(), SPACE, MIDDLE)
    X = np.array([[0.5, 0, 0, 0.5], [0.0, 0, 0, 0.5], [0.0, 0, 0, 1.0]])
    change = interior(X) - Slope()(X)
    np.testing.assert_allclose(change - change[0], [0, -np.log(2), -2 * np.log(2)], atol=0.03)


def test_a_bound_near_the_best_observation_costs_nothing():
    """The best observation is near the lower bound of the first number."""
    interior = Interior.of(Slope(), SPACE, np.array([0.1, 0, 0, 0.5]))
    X = np.array([[0.5, 0, 0, 0.5], [0.0, 0, 0, 0.5], [1.0, 0, 0, 0.5], [0.0, 0, 0, 0.0]])
    change = interior(X) - Slope()(X)
    expected = [0, 0, -np.log(2), -np.log(2)]
    np.testing.assert_allclose(change - change[0], expected, atol=0.03)


@pytest.mark.parametrize("best", [MIDDLE, [0.1, 0, 0, 0.95], [0.9, 0, 0, 0.5]], ids=str)
def test_gradient_agrees_with_finite_differences(best, rng):
    interior = Interior.of(Slope(), SPACE, np.array(best))
    X = rng.uniform(0.01, 0.99, (5, 4))
    value, gradient = interior.with_gradient(X)
    np.testing.assert_allclose(value, interior(X), rtol=1e-12)
    expected = central_differences(lambda x: float(interior(x).sum()), X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
