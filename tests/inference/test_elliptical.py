"""Elliptical slice sampling is exact for a Gaussian prior and any likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from outcrop.errors import ModelError
from outcrop.inference import effective_sample_size, elliptical_chain, elliptical_step
from outcrop.typing import Vector
from tests.inference.targets import ALPHA, Gaussian, assert_distributed, thinned


def gaussian_target() -> Gaussian:
    covariance = np.array([[0.6, 0.3], [0.3, 0.4]])
    return Gaussian(np.eye(2), np.array([1.5, -0.5]), covariance, np.ones(2, dtype=bool))


def test_a_chain_has_the_moments_of_a_gaussian_posterior():
    target = gaussian_target()
    mean, covariance = target.posterior()
    chain = elliptical_chain(target, np.random.default_rng(0), 12_000, burn_in=100)
    error = np.sqrt(np.diag(covariance) / effective_sample_size(chain[None, :, :]))
    assert np.all(error < 0.02)
    assert np.all(np.abs(chain.mean(axis=0) - mean) < 4 * error)
    np.testing.assert_allclose(np.cov(chain.T), covariance, atol=0.03)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_chain_thinned_to_its_effective_size_has_the_known_distribution(seed):
    target = gaussian_target()
    mean, covariance = target.posterior()
    chain = elliptical_chain(target, np.random.default_rng(seed), 6000, burn_in=50)
    for direction in np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]):
        exact = stats.norm(direction @ mean, np.sqrt(direction @ covariance @ direction))
        assert_distributed(thinned(chain @ direction), exact.cdf)


def test_a_step_from_exact_draws_gives_exact_draws():
    target = gaussian_target()
    mean, covariance = target.posterior()
    rng = np.random.default_rng(4)
    starts = rng.multivariate_normal(mean, covariance, size=4000)
    ends = np.array([elliptical_step(start, target.log_likelihood, rng)[0] for start in starts])
    assert np.all(ends != starts)
    for direction in np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]):
        exact = stats.norm(direction @ mean, np.sqrt(direction @ covariance @ direction))
        assert_distributed(ends @ direction, exact.cdf)
    product = starts[:, 0] * ends[:, 1] ** 2 - ends[:, 0] * starts[:, 1] ** 2
    assert stats.wilcoxon(product).pvalue > ALPHA


def test_steps_respect_hard_walls():
    """A half-normal: the likelihood cuts the normal at zero."""
    rng = np.random.default_rng(5)

    def log_likelihood(block: Vector) -> float:
        return 0.0 if block[0] > 0 else -np.inf

    ends = np.empty(3000)
    for i in range(len(ends)):
        block = np.abs(rng.normal(size=1))
        for _ in range(4):
            block, _, _ = elliptical_step(block, log_likelihood, rng)
        ends[i] = block[0]
    assert_distributed(ends, stats.halfnorm.cdf)


def test_with_a_flat_likelihood_the_chain_is_the_prior():
    target = Gaussian(np.eye(3), np.zeros(3), 1e14 * np.eye(3), np.ones(3, dtype=bool))
    chain = elliptical_chain(target, np.random.default_rng(6), 6000)
    prior = target.sample_prior(np.random.default_rng(7), 3000)
    for column in range(3):
        test = stats.ks_2samp(thinned(chain[:, column]), prior[:, column])
        assert test.pvalue > ALPHA


def test_the_returned_value_belongs_to_the_returned_block():
    target, rng = gaussian_target(), np.random.default_rng(8)
    block, value, evaluations = elliptical_step(np.zeros(2), target.log_likelihood, rng)
    assert value == target.log_likelihood(block)
    assert evaluations >= 2  # the present point and at least one proposal


def test_where_nothing_has_a_likelihood_the_block_stays():
    rng = np.random.default_rng(9)
    block, value, _ = elliptical_step(np.ones(2), lambda z: -np.inf, rng)
    np.testing.assert_array_equal(block, 1.0)
    assert value == -np.inf


def test_a_target_with_other_coordinates_is_refused():
    target = Gaussian(np.eye(2), np.zeros(2), np.eye(2), np.array([True, False]))
    with pytest.raises(ModelError, match="slice_chain"):
        elliptical_chain(target, np.random.default_rng(10), 10)
