from dataclasses import replace

import numpy as np
import pytest

from outcrop.data import Observations

SOME = np.array([3, 0])


@pytest.fixture
def data(rng):
    return Observations(rng.random((4, 2)), rng.random(4))


def test_rows_keep_points_and_values(data):
    some = data.rows(SOME)
    np.testing.assert_array_equal(some.X, data.X[[3, 0]])
    np.testing.assert_array_equal(some.y, data.y[[3, 0]])
    assert some.noise is None
    assert some.input_cov is None


def test_rows_keep_the_noise(data, rng):
    noisy = replace(data, noise=rng.random(4))
    np.testing.assert_array_equal(noisy.rows(SOME).noise, noisy.noise[[3, 0]])


@pytest.mark.parametrize("shape", [(4, 2), (4, 2, 2)], ids=["variances", "matrices"])
def test_rows_keep_the_covariances_of_the_points(data, shape):
    cov = np.arange(1.0, 5.0).reshape(4, *(1,) * (len(shape) - 1)) * np.ones(shape)
    uncertain = replace(data, input_cov=cov)
    np.testing.assert_array_equal(uncertain.rows(SOME).input_cov, cov[[3, 0]])


def test_rows_can_be_a_slice(data):
    np.testing.assert_array_equal(data.rows(slice(2, None)).y, data.y[2:])


def test_no_rows_are_observations_of_the_same_dimension(data):
    nothing = data.rows(np.zeros(0, dtype=np.intp))
    assert len(nothing) == 0
    assert nothing.dimension == 2


def test_marks_and_fingerprints_have_the_form_that_stored_states_hold():
    data = Observations([[0.25, 0.5], [1.0, 0.0], [0.25, 0.5]], [1.0, 2.0, 3.0])
    assert data.marks == [2855933390, 226478287, 2855933390]
    assert data.fingerprints == ["aa3a15ce.0", "0d7fc8cf.0", "aa3a15ce.1"]
    assert data.mark == 2320558700


def test_the_mark_changes_with_any_point_and_not_with_values(data):
    moved = replace(data, X=data.X + np.eye(4, 2))
    assert moved.mark != data.mark
    assert replace(data, y=data.y + 1.0).mark == data.mark
