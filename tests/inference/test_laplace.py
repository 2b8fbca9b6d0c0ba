"""The Laplace approximation is exact for Gaussians and never wider than the prior."""

from __future__ import annotations

import numpy as np
import pytest

from outcrop.errors import ModelError
from outcrop.inference import Draws, Laplace
from outcrop.inference.laplace import laplace
from tests.inference.targets import Gaussian, Known

PRIOR = np.array([[2.0, 0.9], [0.9, 1.0]])


def test_the_approximation_of_a_gaussian_is_its_covariance():
    target = Gaussian(PRIOR, np.array([1.0, -2.0]), np.array([[0.5, -0.3], [-0.3, 0.8]]))
    mean, covariance = target.posterior()
    for theta in (mean, mean + np.array([3.0, -1.0])):
        np.testing.assert_allclose(laplace(target, theta), covariance, rtol=1e-8)


def test_inference_returns_the_mode_and_the_covariance():
    target = Gaussian(PRIOR, np.array([1.0, -2.0]), np.array([[0.5, -0.3], [-0.3, 0.8]]))
    mean, covariance = target.posterior()
    draws = Laplace().infer(target, np.random.default_rng(0))
    np.testing.assert_allclose(draws.thetas[0], mean, atol=1e-4)
    assert draws.covariance is not None
    np.testing.assert_allclose(draws.covariance, covariance, rtol=1e-8)
    again = Laplace(starts=1).infer(target, np.random.default_rng(1), previous=draws)
    np.testing.assert_allclose(again.thetas[0], mean, atol=1e-4)


def test_the_mode_is_that_of_the_density_in_theta():
    """Shape 3 gamma in log coordinates, 3θ − exp θ: mode ln 3, second derivative −3."""
    target = Known(
        lambda theta: float(3 * theta[0] - np.exp(theta[0])),
        gradient=lambda theta: 3 - np.exp(theta),
        log_jacobian=lambda theta: (float(theta[0]), np.ones(1)),
    )
    draws = Laplace().infer(target, np.random.default_rng(2))
    assert draws.thetas[0, 0] == pytest.approx(np.log(3), abs=1e-4)
    assert draws.covariance is not None
    assert draws.covariance[0, 0] == pytest.approx(1 / 3, rel=1e-4)


def test_a_likelihood_that_curves_upwards_leaves_the_prior_covariance():
    target = Gaussian(PRIOR, np.zeros(2), -np.array([[1.5, 0.2], [0.2, 0.7]]))
    np.testing.assert_allclose(laplace(target, np.array([0.3, -0.4])), PRIOR, rtol=1e-8)


def test_only_the_directions_that_curve_upwards_are_floored():
    scales = np.array([0.01, 1.0, 100.0])  # an absolute floor would flatten the first or the last
    target = Gaussian(np.diag(scales), np.zeros(3), np.diag(np.array([1.0, -0.5, 2.0]) * scales))
    expected = np.diag(scales * np.array([1 / 2, 1.0, 1 / 1.5]))
    np.testing.assert_allclose(laplace(target, np.zeros(3)), expected, rtol=1e-6, atol=1e-9)


def test_in_no_direction_is_it_wider_than_the_prior():
    rng = np.random.default_rng(3)
    for _ in range(20):
        root = rng.normal(size=(4, 4))
        prior = root @ root.T + 0.1 * np.eye(4)
        curvature = rng.normal(size=(4, 4))
        target = Gaussian(prior, np.zeros(4), curvature + curvature.T)
        covariance = laplace(target, rng.normal(size=4))
        assert np.linalg.eigvalsh(covariance).min() > 0
        assert np.linalg.eigvalsh(prior - covariance).min() > -1e-6 * np.linalg.norm(prior)


def test_a_flat_prior_is_given_the_least_precision():
    target = Known(lambda theta: 0.0, dim=2, scale=1e6, gradient=lambda theta: 0 * theta)
    np.testing.assert_allclose(laplace(target, np.zeros(2)), 1e4 * np.eye(2), rtol=1e-6)


def test_a_likelihood_without_gradient_leaves_the_prior_covariance():
    target = Known(lambda theta: np.nan, dim=2, gradient=lambda theta: np.nan * theta)
    np.testing.assert_allclose(laplace(target, np.ones(2)), 9 * np.eye(2), rtol=1e-6)
    draws = Laplace().infer(
        target, np.random.default_rng(4), Draws.equal(np.ones((1, 2)), np.zeros(1))
    )
    assert draws.covariance is not None
    np.testing.assert_allclose(draws.covariance, 9 * np.eye(2), rtol=1e-6)


def test_nonsense_is_refused_with_the_name_of_the_field():
    with pytest.raises(ModelError, match=r"Laplace\(starts=\)"):
        Laplace(starts=0)
