"""Data that break careless Gaussian processes: predictions stay finite and nothing raises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.data import Observations
from outcrop.inference import MAP, Laplace, Slice
from outcrop.kernels import RBF, Matern52, Scaled
from outcrop.params import Per, free
from outcrop.priors import LogNormal, Normal
from outcrop.surrogates import GP, Inferred, Standardised

MODEL = GP(
    Scaled(
        free(LogNormal(0, 1)), Matern52(free(LogNormal(-0.7, 1, growth=0.5), size=Per.DIMENSION))
    ),
    noise=1e-8,
    mean=free(Normal()),
)


def fit(X, y, inference, seed=0):
    outcome = Standardised.of(y)
    data = Observations(X, outcome.apply(y))
    belief = Inferred(MODEL, inference).fit(data, np.random.default_rng(seed))
    return belief, outcome


def assert_sane(X, y, inference=None):
    d = X.shape[1]
    belief, outcome = fit(X, y, inference or Slice(chains=2, burn_in=2))
    new = np.vstack([X, np.random.default_rng(1).random((10, d))])
    mean, std = outcome.restore(*belief.moments(new))
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert (std > 0).all()
    return belief


LINE = np.linspace(0, 1, 12)[:, None]
CASES = {
    "one observation": (np.array([[0.3, 0.4]]), np.array([5.0])),
    "two equal points": (np.full((2, 2), 0.5), np.array([1.0, 1.0])),
    "equal points, different values": (np.full((6, 2), 0.5), np.arange(6.0)),
    "all points twice": (np.vstack([LINE, LINE]), np.tile(np.sin(LINE[:, 0]), 2)),
    "nearly equal points": (0.5 + 1e-9 * LINE, np.cos(9 * LINE[:, 0])),
    "collinear points": (np.hstack([LINE, LINE, 0.5 * LINE]), np.exp(LINE[:, 0])),
    "constant values": (LINE, np.full(12, 7.25)),
    "zeros": (LINE, np.zeros(12)),
    "values that differ in the last digit": (LINE, 1e9 + 1e-7 * np.arange(12)),
    "fewer points than dimensions": (
        np.random.default_rng(2).random((3, 20)),
        np.array([1.0, 2.0, 4.0]),
    ),
    "one outlier": (LINE, np.where(np.arange(12) == 5, 1e12, 0.1 * np.arange(12))),
    "corners": (
        np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]),
        np.array([1.0, -1, 1, -1]),
    ),
    "huge values": (LINE, 1e300 * np.sin(3 * LINE[:, 0])),
    "tiny values": (LINE, 1e-300 * np.sin(3 * LINE[:, 0])),
}


@pytest.mark.parametrize(
    "inference", [Slice(chains=2, burn_in=2), MAP(starts=2), Laplace(starts=2)], ids=str
)
@pytest.mark.parametrize("case", CASES)
def test_predictions_are_finite(case, inference):
    assert_sane(*CASES[case], inference)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 9), d=st.integers(1, 6))
@settings(deadline=None, max_examples=30)
def test_random_degenerate_data_give_finite_predictions(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d)) / 2 + rng.choice([0, 1e-12, 1e-5]) * rng.random((n, d))
    y = rng.choice([-1e8, 0.0, 1.0, 1e-8], n)
    assert_sane(np.clip(X, 0, 1), y)


@given(
    seed=st.integers(0, 10**6),
    power=st.integers(-900, 900),
    sizes=st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=8),
)
@settings(deadline=None, max_examples=20)
def test_scaling_the_values_by_a_power_of_two_scales_predictions_exactly(seed, power, sizes):
    rng = np.random.default_rng(seed)
    X, y = rng.random((len(sizes), 2)), np.array(sizes) * rng.choice([-1, 1], len(sizes))
    new = rng.random((5, 2))
    factor = np.ldexp(1.0, power)
    belief, outcome = fit(X, y, Slice(chains=2, burn_in=1))
    scaled_belief, scaled_outcome = fit(X, y * factor, Slice(chains=2, burn_in=1))
    plain = outcome.restore(*belief.moments(new))
    scaled = scaled_outcome.restore(*scaled_belief.moments(new))
    np.testing.assert_array_equal(scaled[0], factor * plain[0])
    np.testing.assert_array_equal(scaled[1], factor * plain[1])


def test_jitter_is_recorded_on_the_posterior():
    X = np.repeat(np.linspace(0, 1, 6), 3)[:, None]
    posterior = GP(RBF(0.5), noise=0.0).condition(Observations(X, np.sin(X[:, 0])))
    assert posterior.jitter > 0
    assert np.isfinite(posterior.predict(np.array([[0.35]]))).all()


def test_jitter_is_recorded_when_a_row_is_appended():
    X = np.linspace(0, 1, 5)[:, None]
    posterior = GP(RBF(0.5), noise=0.0).condition(Observations(X, np.sin(X[:, 0])))
    grown = posterior.condition(X[:1], np.array([0.0]))
    assert posterior.jitter == 0
    assert grown.jitter > 0
