"""Values bent from below the median: where, and by which evidence, beside densities by SciPy."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import outcrop as oc
from experiments.lower_bend import LENGTHSCALES, NOISES, log_evidences, lower_outcome
from outcrop.surrogates import Standardised


def density_at_most(X, w, lengthscale, noise):
    """With the mean and the amplitude that make it largest."""
    n, d = X.shape
    kernel = oc.kernels.Matern52(np.full(d, lengthscale * np.sqrt(d)))
    K = kernel(X, X) + noise * np.eye(n)
    mean = np.linalg.solve(K, w).sum() / np.linalg.solve(K, np.ones(n)).sum()
    amplitude = (w - mean) @ np.linalg.solve(K, w - mean) / n
    return multivariate_normal.logpdf(w, np.full(n, mean), amplitude * K)


def test_differences_of_evidence_are_those_of_log_densities(rng):
    X = rng.random((12, 3))
    y = np.exp(3 * X.sum(1))
    maps = np.stack([y, np.log(y)])
    log_slopes = np.array([0.0, -np.log(y).sum()])
    found = log_evidences(X, maps, log_slopes)
    expected = [
        max(density_at_most(X, w, ell, noise) for ell in LENGTHSCALES for noise in NOISES)
        for w in maps
    ] + log_slopes
    assert np.diff(found) == pytest.approx(np.diff(expected), rel=1e-6)
    assert found[1] > found[0] + 3


def test_a_linear_map_changes_nothing(rng):
    X, y = rng.random((9, 2)), rng.random(9)
    found = log_evidences(X, np.stack([y, 5 * y - 2]), np.array([0.0, 9 * np.log(5.0)]))
    assert found[0] == pytest.approx(found[1])


def test_codes_that_differ_have_the_distance_of_opposite_bounds(rng):
    y = rng.random((1, 3))
    near, far = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [3.0], [7.0]])
    found, expected = (log_evidences(codes, y, np.zeros(1)) for codes in (far, near))
    assert found == pytest.approx(expected)


def test_values_that_span_magnitudes_are_bent_from_below_the_median(rng):
    X = rng.random((24, 2))
    y = 10 ** (3 * X[:, 0] + X[:, 1])
    usual, lower = (lower_outcome(y, X, clear) for clear in (np.inf, 3.0))
    assert usual == Standardised.of(y, X)
    assert lower.location * lower.power <= np.quantile(y, 0.25) * (1 + 1e-12)
    best = np.sort(y)[:3]
    assert np.ptp(lower.apply(best)) > 2 * np.ptp(usual.apply(best))
    z = lower.apply(y)
    assert z.mean() == pytest.approx(0, abs=1e-12)
    assert z.std() == pytest.approx(1)


def test_sums_of_squares_are_bent_from_the_median(rng):
    X = rng.random((24, 2))
    y = 1e3 * (X[:, 0] - 0.05) ** 2 + (X[:, 1] - 0.2) ** 2
    assert lower_outcome(y, X, 3.0) == Standardised.of(y, X)
