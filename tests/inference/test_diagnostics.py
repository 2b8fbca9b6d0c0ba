"""Effective sizes and R-hat have the values theory gives them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal, stats

from outcrop.errors import ShapeError
from outcrop.inference import effective_sample_size, rank_normalise, split_r_hat


def autoregressive(rho: float, chains: int, n: int, seed: int):
    """Stationary chains x_t = ρ x_{t−1} + ε_t, unit variance."""
    noise = np.random.default_rng(seed).normal(size=(chains, n)) * np.sqrt(1 - rho**2)
    noise[:, 0] /= np.sqrt(1 - rho**2)
    return signal.lfilter([1.0], [1.0, -rho], noise, axis=1)


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.5, 0.9])
@pytest.mark.parametrize("chains", [1, 4])
def test_the_effective_size_of_an_autoregression_is_known(rho, chains):
    n = 80_000 // chains
    size = effective_sample_size(autoregressive(rho, chains, n, seed=1))
    assert size / (chains * n) == pytest.approx((1 - rho) / (1 + rho), rel=0.1)


def test_the_effective_size_predicts_the_error_of_the_mean():
    """Brute force: the variance of many chains' means is the variance over the effective size."""
    chains = autoregressive(0.7, 2000, 500, seed=2)
    sizes = [float(effective_sample_size(chain[None, :])) for chain in chains[:200]]
    assert np.mean(sizes) == pytest.approx(1 / chains.mean(axis=1).var(), rel=0.15)


def test_independent_draws_have_r_hat_one():
    chains = np.random.default_rng(3).normal(size=(4, 1000, 3)) * [1.0, 1e6, 1e-6]
    np.testing.assert_allclose(split_r_hat(chains), 1.0, atol=0.01)
    np.testing.assert_allclose(split_r_hat(rank_normalise(chains)), 1.0, atol=0.01)


def test_separated_chains_have_a_large_r_hat_and_few_effective_draws():
    chains = np.random.default_rng(4).normal(size=(4, 500)) + 3.0 * np.arange(4)[:, None]
    assert split_r_hat(chains) > 1.5
    assert effective_sample_size(chains) < 20


def test_a_drifting_chain_disagrees_with_itself():
    chain = np.random.default_rng(5).normal(size=(1, 1000)) + np.linspace(0, 5, 1000)
    assert split_r_hat(chain) > 1.5


def test_r_hat_is_the_textbook_formula():
    chains = np.random.default_rng(6).normal(size=(3, 10)) + np.arange(3)[:, None]
    halves = np.array([half for chain in chains for half in (chain[:5], chain[5:])])
    between = 5 * np.var([half.mean() for half in halves], ddof=1)
    within = np.mean([np.var(half, ddof=1) for half in halves])
    assert split_r_hat(chains) == pytest.approx(np.sqrt((4 / 5 * within + between / 5) / within))


def test_ranks_tame_heavy_tails():
    chains = np.random.default_rng(7).standard_cauchy(size=(2, 3, 500))[0]
    scores = rank_normalise(chains)
    order = stats.rankdata(chains.ravel())
    expected = stats.norm.ppf((order - 3 / 8) / (1500 + 1 / 4)).reshape(chains.shape)
    np.testing.assert_allclose(scores, expected, rtol=1e-10)


def test_ties_share_their_rank():
    draws = np.array([[1.0, 2.0, 2.0, 3.0], [3.0, 3.0, 0.0, 1.0]])
    expected = stats.norm.ppf((stats.rankdata(draws.ravel()) - 3 / 8) / (8 + 1 / 4))
    np.testing.assert_allclose(rank_normalise(draws).ravel(), expected)


def test_each_coordinate_is_judged_by_itself():
    chains = np.stack([autoregressive(rho, 2, 3000, seed=8) for rho in (0.0, 0.9)], axis=-1)
    sizes = effective_sample_size(chains)
    assert sizes.shape == (2,)
    alone = [float(effective_sample_size(chains[:, :, j])) for j in range(2)]
    np.testing.assert_allclose(sizes, alone, rtol=1e-10)
    assert split_r_hat(chains).shape == (2,)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e300])
def test_chains_that_never_move_and_agree(value):
    chains = np.full((3, 7), value)
    assert split_r_hat(chains) == 1
    assert effective_sample_size(chains) == 3


def test_chains_that_never_move_and_disagree():
    chains = np.repeat([[0.1], [0.3]], 50, axis=1)
    assert split_r_hat(chains) == np.inf
    assert effective_sample_size(chains) == 2


@pytest.mark.parametrize("shape", [(5,), (2, 3), (0, 10), (2, 3, 4, 5)])
def test_too_few_draws_or_axes_are_refused(shape):
    for function in (effective_sample_size, split_r_hat, rank_normalise):
        with pytest.raises(ShapeError, match="expected chains"):
            function(np.zeros(shape))
