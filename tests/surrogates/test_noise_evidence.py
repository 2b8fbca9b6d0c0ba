"""Weights of exact and noisy models, by how well they explain the values."""

from __future__ import annotations

import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.inference import MAP
from outcrop.kernels import Matern52
from outcrop.space import Float, Space
from outcrop.study import Optimizer
from outcrop.surrogates import GP, Mixture
from outcrop.surrogates.noise_evidence import CLEAR, EXACT_SHARE, SOFTNESS, weighed_by_noise

EXACT, NOISY = GP(Matern52([0.3]), noise=1e-8), GP(Matern52([0.3]), noise=0.3)
X = np.linspace(0.05, 0.95, 12)[:, None]


def mixture(y, models, weights=None):
    data = Observations(X, y)
    return Mixture(
        tuple(model.condition(data) for model in models),
        np.ones(len(models)) if weights is None else np.array(weights),
    )


def smooth():
    return np.sin(5 * X[:, 0])


def rough(rng):
    return smooth() + 0.7 * rng.standard_normal(len(X))


def test_smooth_values_are_believed_and_scattered_ones_are_not(rng):
    surely_exact = weighed_by_noise(mixture(smooth(), [EXACT, NOISY]))
    np.testing.assert_allclose(surely_exact.weights, [1, 0], atol=0.02)
    surely_noisy = weighed_by_noise(mixture(rough(rng), [EXACT, NOISY]))
    np.testing.assert_allclose(surely_noisy.weights, [EXACT_SHARE, 1 - EXACT_SHARE], atol=0.02)


def test_weights_follow_the_ratio_of_densities_by_scipy(rng):
    """Between smooth and scattered, so that both answers are possible."""
    from scipy.stats import multivariate_normal

    y = smooth() + 0.25 * rng.standard_normal(len(X))
    K = Matern52([0.3])(X, X)
    exact, noisy = (
        multivariate_normal(np.zeros(len(X)), K + noise * np.eye(len(X))).logpdf(y)
        for noise in (1e-8, 0.3)
    )
    odds = np.exp(-(noisy - exact - CLEAR) / SOFTNESS)
    chance = odds / (1 + odds)
    assert 0.01 < chance < 0.99
    expected = chance + (1 - chance) * EXACT_SHARE
    weights = weighed_by_noise(mixture(y, [EXACT, NOISY])).weights
    np.testing.assert_allclose(weights, [expected, 1 - expected], rtol=1e-6)


def test_models_of_one_kind_keep_their_proportions(rng):
    weights = weighed_by_noise(
        mixture(rough(rng), [EXACT, NOISY, EXACT, NOISY], [1, 2, 3, 6])
    ).weights
    assert weights[2] == pytest.approx(3 * weights[0])
    assert weights[3] == pytest.approx(3 * weights[1])
    assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("models", [[EXACT, EXACT], [NOISY, NOISY, NOISY]], ids=["exact", "noisy"])
def test_a_mixture_of_one_kind_stays_as_it_is(models, rng):
    before = mixture(rough(rng), models, np.arange(1, len(models) + 1))
    assert weighed_by_noise(before) is before


def told(noise, method="gp"):
    """An optimizer that was given values of a smooth function."""
    optimizer = Optimizer(Space({"x": Float(0, 1)}), method=method, seed=0, noise=noise)
    points = np.random.default_rng(3).random(14)
    optimizer.add([{"x": x} for x in points], [float(np.sin(9 * x)) for x in points])
    return optimizer


def test_the_best_value_of_a_smooth_objective_is_recommended_though_noise_is_unknown():
    optimizer = told(None)
    recommended = optimizer.recommend()
    assert recommended.trial.number == optimizer.best_trial.number
    assert recommended.mean == pytest.approx(optimizer.best_value, abs=1e-3)


@pytest.mark.parametrize("noise", [False, True, 0.1])
def test_where_noise_is_declared_the_recommendation_is_that_of_the_belief(noise):
    optimizer = told(noise)
    recommended = optimizer.recommend()
    mean, std = optimizer.belief.predict(recommended.params)
    assert (recommended.mean, recommended.std) == pytest.approx((mean, std), rel=1e-6)


def test_a_belief_of_other_models_stays_as_it_is():
    from outcrop.inference import Laplace
    from outcrop.strategies.method import Method

    optimizer = told(None, Method(inference=Laplace()))
    recommended = optimizer.recommend()
    mean, _ = optimizer.belief.predict(recommended.params)
    assert recommended.mean == pytest.approx(mean, rel=1e-9)


def test_one_model_of_each_kind_is_enough():
    from outcrop.strategies.method import Method

    recommended = told(None, Method(inference=MAP())).recommend()
    assert recommended.trial.number == told(None).best_trial.number
