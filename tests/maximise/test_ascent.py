import numpy as np
import pytest
from scipy.optimize import minimize

from outcrop.maximise.ascent import ascend
from outcrop.space import Float, Space
from tests.maximise.functions import Counting, Waves


class Quadratic:
    def __init__(self, seed, dimension, condition=1e3, height=1.0):
        rng = np.random.default_rng(seed)
        basis, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
        self.H = height * (basis * np.geomspace(1, condition, dimension)) @ basis.T
        self.centre = rng.random(dimension)
        self.height = height

    def __call__(self, X):
        return self.with_gradient(X)[0]

    def with_gradient(self, X):
        G = (self.centre - X) @ self.H
        return 7.0 * self.height - 0.5 * ((self.centre - X) * G).sum(1), G


def waves(dimension, seed, frequency=6.0):
    space = Space({f"x{i}": Float(0, 1) for i in range(dimension)})
    return Waves.on(space, seed, frequency=frequency)


def everywhere(X):
    return np.ones(X.shape, dtype=bool)


@pytest.mark.parametrize("height", [1e-120, 1e-9, 1.0, 1e150])
@pytest.mark.parametrize("dimension", [1, 2, 8])
def test_the_top_of_a_bowl_is_found_to_a_millionth_of_the_cube(rng, dimension, height):
    bowl = Quadratic(3, dimension, height=height)
    X = rng.random((6, dimension))
    end = ascend(bowl, X, everywhere(X), np.ones(dimension), 60)
    best = end.values.argmax()
    np.testing.assert_allclose(end.X[best], bowl.centre, atol=1e-6)


def test_a_top_beyond_the_bounds_is_approached_as_scipy_approaches_it(rng):
    bowl = Quadratic(5, 6, condition=100)
    bowl.centre = np.array([1.3, -0.2, 0.5, 0.4, 1.1, 0.2])
    X = rng.random((4, 6))
    reference = minimize(
        lambda x: -bowl(x[None])[0],
        X[0],
        jac=lambda x: -bowl.with_gradient(x[None])[1][0],
        method="L-BFGS-B",
        bounds=[(0, 1)] * 6,
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000},
    )
    end = ascend(bowl, X, everywhere(X), np.ones(6), 80)
    np.testing.assert_allclose(end.X[end.values.argmax()], reference.x, atol=1e-5)
    assert ((end.X == 0) | (end.X == 1)).any()


@pytest.mark.parametrize("seed", range(8))
def test_no_climb_ends_below_its_start(seed):
    function = waves(4, seed, frequency=15.0)
    X = np.random.default_rng(seed).random((10, 4))
    end = ascend(function, X, everywhere(X), np.full(4, 0.3), 30)
    assert (end.values >= function(X)).all()
    np.testing.assert_allclose(end.values, function(end.X), rtol=1e-12)
    assert end.X.min() >= 0.0
    assert end.X.max() <= 1.0


@pytest.mark.parametrize("seed", range(8))
def test_the_best_climb_ends_where_the_gradient_is_held_or_zero(seed):
    function = waves(5, seed)
    X = np.random.default_rng(seed).random((6, 5))
    end = ascend(function, X, everywhere(X), np.full(5, 0.3), 60)
    x = end.X[end.values.argmax()][None]
    _, G = function.with_gradient(x)
    held = ((x == 0) & (G < 0)) | ((x == 1) & (G > 0))
    assert np.abs(np.where(held, 0.0, G)).max() < 1e-4


def test_only_free_coordinates_move(rng):
    function = waves(4, 2)
    X = rng.random((5, 4))
    free = np.array([True, False, True, False]) & everywhere(X)
    free[4] = False
    end = ascend(function, X, free, np.ones(4), 20)
    assert (end.X[:4, [0, 2]] != X[:4, [0, 2]]).any(1).all()
    np.testing.assert_array_equal(end.X[:, [1, 3]], X[:, [1, 3]])
    np.testing.assert_array_equal(end.X[4], X[4])


def test_scales_undo_a_stretched_axis(rng):
    """A function stretched along an axis, with that scale, costs as many calls as the round one."""

    class Stretched(Quadratic):
        def __init__(self, scales):
            super().__init__(0, 3)
            self.H, self.centre = np.diag(1 / scales**2), np.array([0.2, 0.3, 0.6])

    scales = np.array([0.01, 1.0, 0.1])
    X = np.array([0.2, 0.3, 0.6]) + scales * np.array([[0.9, 0.1, 0.5], [-0.2, 0.4, 0.3]])
    told, untold = Counting(Stretched(scales)), Counting(Stretched(scales))
    ascend(told, X, everywhere(X), scales, 50)
    ascend(untold, X, everywhere(X), np.ones(3), 50)
    assert len(told.calls) < len(untold.calls)


def test_one_call_serves_all_starts_and_steps_bound_their_number(rng):
    function = Counting(waves(6, 1, frequency=20.0))
    X = rng.random((6, 6))
    ascend(function, X, everywhere(X), np.ones(6), 12)
    assert len(function.calls) <= 12


def test_values_that_are_no_numbers_are_walked_around(rng):
    bowl = Quadratic(1, 3, condition=10)
    bowl.centre = np.array([0.5, 0.5, 0.5])

    class Torn:
        def __call__(self, X):
            return self.with_gradient(X)[0]

        def with_gradient(self, X):
            values, G = bowl.with_gradient(X)
            bad = X[:, 0] > 0.6
            return np.where(bad, np.nan, values), np.where(bad[:, None], np.inf, G)

    X = rng.random((8, 3)) * np.array([0.55, 1, 1])
    X[7, 0] = 0.9
    end = ascend(Torn(), X, everywhere(X), np.ones(3), 60)
    np.testing.assert_allclose(end.X[end.values.argmax()], bowl.centre, atol=1e-6)
    np.testing.assert_array_equal(end.X[7], X[7])
    assert end.values[7] == -np.inf


def test_a_flat_function_is_left_at_once(rng):
    class Flat:
        def __call__(self, X):
            return np.zeros(len(X))

        def with_gradient(self, X):
            return np.zeros(len(X)), np.zeros_like(X)

    function = Counting(Flat())
    X = rng.random((3, 2))
    np.testing.assert_array_equal(ascend(function, X, everywhere(X), np.ones(2), 50).X, X)
    assert len(function.calls) == 1
