"""The closed form of the knowledge gradient, against Monte Carlo and a model told more values."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.knowledge_gradient import expected_lowest, gains
from outcrop.data import Observations
from outcrop.kernels import Matern52
from outcrop.surrogates import GP, Mixture

DRAWS = 400_000


@pytest.mark.parametrize("seed", range(5))
def test_the_expected_lowest_line_is_that_of_monte_carlo(seed):
    rng = np.random.default_rng(seed)
    constants, slopes = rng.normal(size=(2, 6))
    slopes[3] = slopes[2]  # parallel lines
    means, stds, weights = rng.normal(size=3), rng.uniform(0.2, 2, 3), rng.dirichlet(np.ones(3))
    which = rng.choice(3, DRAWS, p=weights)
    z = rng.normal(means[which], stds[which])
    lowest = (constants[:, None] + slopes[:, None] * z).min(0)
    error = lowest.std() / np.sqrt(DRAWS)
    found = expected_lowest(constants, slopes, means, stds, weights)
    assert found == pytest.approx(lowest.mean(), abs=5 * error)


def test_a_gain_is_what_the_lowest_mean_falls_by_once_values_are_told(rng):
    X = rng.random((7, 1))
    data = Observations(X, np.sin(6 * X[:, 0]))
    models = GP(Matern52([0.3]), noise=0.2), GP(Matern52([0.6]), noise=0.05)
    mixture = Mixture(tuple(model.condition(data) for model in models), np.array([0.3, 0.7]))
    points, known = np.vstack([X[2:3], [[0.55]]]), np.array([0.0, 0.1])
    before = mixture.moments(X)[0].min()
    for i, found in enumerate(gains(mixture, X, points, known)):
        at, rows = points[i : i + 1], np.vstack([X, points[i : i + 1]])
        falls = []
        for _ in range(800):
            j = rng.choice(2, p=mixture.weights)
            mean, var = mixture.components[j].predict(at)
            value = rng.normal(mean, np.sqrt(var + models[j].noise + known[i]))
            told = [part.condition(at, value, known[i : i + 1]) for part in mixture.components]
            falls.append(before - Mixture(tuple(told), mixture.weights).moments(rows)[0].min())
        error = np.std(falls) / np.sqrt(len(falls))
        assert found == pytest.approx(np.mean(falls), abs=4 * error)


def test_another_exact_value_at_a_known_point_gains_nothing(rng):
    X = rng.random((5, 2))
    posterior = GP(Matern52([0.4, 0.4]), noise=1e-8).condition(Observations(X, rng.normal(size=5)))
    found = gains(Mixture.single(posterior), X, X, np.zeros(5))
    np.testing.assert_allclose(found, 0, atol=1e-4)
