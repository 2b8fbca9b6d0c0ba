"""MAP finds known modes, in natural coordinates and in θ, wherever the density is broken."""

from __future__ import annotations

import numpy as np
import pytest

from outcrop.errors import ModelError, NumericalError
from outcrop.inference import MAP, Draws
from outcrop.typing import Vector
from tests.inference.targets import Gaussian, Known

QUADRATIC = Gaussian(
    prior=np.array([[2.0, 0.5], [0.5, 1.0]]),
    mean=np.array([1.0, -2.0]),
    covariance=np.array([[0.5, -0.3], [-0.3, 0.8]]),
)


def two_hills(theta: Vector) -> float:
    near, far = theta - np.array([2.0, 1.0]), theta + np.array([3.0, 2.0])
    return float(np.logaddexp(-0.5 * near @ near, 1.0 - 0.5 * far @ far))


def two_hills_gradient(theta: Vector) -> Vector:
    near, far = theta - np.array([2.0, 1.0]), theta + np.array([3.0, 2.0])
    share = np.exp(-0.5 * near @ near - two_hills(theta))
    return np.asarray(-share * near - (1 - share) * far)


def test_the_mode_of_a_quadratic_is_found():
    draws = MAP().infer(QUADRATIC, np.random.default_rng(0))
    mean, _ = QUADRATIC.posterior()
    np.testing.assert_allclose(draws.thetas, mean[None, :], atol=1e-4)
    np.testing.assert_array_equal(draws.weights, [1.0])
    value = QUADRATIC.log_prior(draws.thetas[0]) + QUADRATIC.log_likelihood(draws.thetas[0])
    assert draws.log_densities[0] == pytest.approx(value)


@pytest.mark.parametrize("seed", range(5))
def test_the_higher_of_two_hills_is_found(seed):
    target = Known(two_hills, dim=2, gradient=two_hills_gradient)
    draws = MAP().infer(target, np.random.default_rng(seed))
    np.testing.assert_allclose(draws.thetas[0], [-3.0, -2.0], atol=1e-3)


@pytest.mark.parametrize(("jacobian", "mode"), [(False, 0.4 - 0.36), (True, 0.4)])
def test_the_mode_of_a_log_normal_depends_on_the_coordinates(jacobian, mode):
    """ln ℓ ~ N(0.4, 0.6²): the density of ℓ peaks at exp(0.4 − 0.36), that of ln ℓ at 0.4."""
    target = Known(
        lambda theta: -0.5 * float((theta[0] - 0.4) ** 2) / 0.36,
        gradient=lambda theta: -(theta - 0.4) / 0.36,
        log_jacobian=lambda theta: (float(theta[0]), np.ones(1)),
    )
    draws = MAP(jacobian=jacobian).infer(target, np.random.default_rng(1))
    assert np.exp(draws.thetas[0, 0]) == pytest.approx(np.exp(mode), rel=1e-4)
    assert draws.log_densities[0] == pytest.approx(-0.5 * (mode - 0.4) ** 2 / 0.36, abs=1e-6)


def test_a_warm_start_keeps_a_mode_that_fresh_starts_would_miss():
    def log_density(theta: Vector) -> float:
        return float(np.logaddexp(-0.5 * theta @ theta, 5 - 500 * (theta - 8) @ (theta - 8)))

    def gradient(theta: Vector) -> Vector:
        share = np.exp(-0.5 * theta @ theta - log_density(theta))
        return np.asarray(-share * theta - (1 - share) * 1000 * (theta - 8))

    target = Known(log_density, dim=2, scale=1.0, gradient=gradient)
    cold = MAP().infer(target, np.random.default_rng(2))
    np.testing.assert_allclose(cold.thetas[0], 0.0, atol=1e-3)
    previous = Draws.equal(np.array([[0.1, 0.2], [7.95, 8.02]]), np.zeros(2))
    warm = MAP().infer(target, np.random.default_rng(2), previous)
    np.testing.assert_allclose(warm.thetas[0], 8.0, atol=1e-3)


def test_new_slots_of_a_warm_start_are_filled_from_the_prior():
    previous = Draws.equal(np.array([[1.0, np.nan]]), np.zeros(1))
    draws = MAP(starts=1).infer(QUADRATIC, np.random.default_rng(3), previous)
    np.testing.assert_allclose(draws.thetas[0], QUADRATIC.posterior()[0], atol=1e-4)


@pytest.mark.parametrize("bad", [np.nan, -np.inf, np.inf, NumericalError("no jitter")])
def test_the_highest_point_beside_a_region_without_value_is_found(bad):
    """Of N(0, 1) cut at θ₀ < 1: the maximum lies on the edge."""

    def log_density(theta: Vector) -> float:
        if theta[0] < 1:
            if isinstance(bad, Exception):
                raise bad
            return float(bad)
        return -0.5 * float(theta @ theta)

    target = Known(log_density, dim=2, gradient=lambda theta: -theta)
    draws = MAP().infer(target, np.random.default_rng(4))
    assert draws.thetas[0, 0] >= 1
    assert draws.log_densities[0] == pytest.approx(-0.5, abs=0.05)


def test_an_overflowing_step_is_taken_back():
    """exp(50 θ) overflows at θ = 14, where L-BFGS would like to go from far left."""
    target = Known(
        lambda theta: float(5 * theta[0] - 1e-3 * np.exp(50 * theta[0])),
        gradient=lambda theta: 5 - 0.05 * np.exp(50 * theta),
        scale=30.0,
    )
    draws = MAP(starts=2).infer(target, np.random.default_rng(5))
    assert draws.thetas[0, 0] == pytest.approx(np.log(100) / 50, abs=1e-4)


def test_without_any_density_a_prior_draw_comes_back_and_says_so(caplog):
    target = Known(lambda theta: np.nan, dim=2, gradient=lambda theta: theta)
    draws = MAP().infer(target, np.random.default_rng(6))
    assert draws.log_densities[0] == -np.inf
    assert np.isfinite(draws.thetas).all()
    assert "finite density" in caplog.text


def test_a_gradient_that_is_not_finite_does_not_stop_the_others():
    target = Known(
        lambda theta: -0.5 * float(theta @ theta),
        gradient=lambda theta: np.where(theta > 1, np.nan, -theta),
    )
    draws = MAP().infer(target, np.random.default_rng(7))
    np.testing.assert_allclose(draws.thetas[0], 0.0, atol=1e-4)


def test_a_target_without_coordinates_has_one_point():
    target = Known(lambda theta: 0.0, dim=0, gradient=lambda theta: theta)
    draws = MAP().infer(target, np.random.default_rng(8))
    assert draws.thetas.shape == (1, 0)


def test_the_result_is_a_function_of_the_generator():
    results = [MAP(iterations=3).infer(QUADRATIC, np.random.default_rng(9)) for _ in range(2)]
    np.testing.assert_array_equal(results[0].thetas, results[1].thetas)


@pytest.mark.parametrize("fields", [{"starts": 0}, {"iterations": 0.5}, {"jacobian": "no"}])
def test_nonsense_is_refused_with_the_name_of_the_field(fields):
    with pytest.raises(ModelError, match=rf"MAP\({next(iter(fields))}=\)"):
        MAP(**fields)
