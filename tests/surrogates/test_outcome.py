import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop.errors import ModelError
from outcrop.surrogates import Standardised
from outcrop.surrogates.outcome import LONGEST
from outcrop.testing import central_differences

EVEN = np.array([3.0, -5.0, 11.0, 2.0])
TAILED = np.array([0.1, 0.4, 1.0, 1.5, 2.5, 40.0])
HEAVY = np.array([0.1, 0.4, 1.0, 1.5, 900.0, 1e5])
EVERY = pytest.mark.parametrize("y", [EVEN, TAILED, HEAVY], ids=["even", "tailed", "heavy"])


@EVERY
def test_values_have_mean_zero_and_deviation_one(y):
    z = Standardised.of(y).apply(y)
    assert z.mean() == pytest.approx(0, abs=1e-12)
    assert z.std() == pytest.approx(1)


@EVERY
def test_values_come_back_in_their_own_units(y):
    outcome = Standardised.of(y)
    np.testing.assert_allclose(outcome.invert(outcome.apply(y)), y, rtol=1e-9)
    np.testing.assert_allclose(outcome.restore(outcome.apply(y), np.zeros(len(y)))[0], y, rtol=1e-9)


def test_only_a_heavy_tail_is_bent():
    assert Standardised.of(EVEN).tail == 1
    assert 0 < Standardised.of(TAILED).tail < 1
    assert Standardised.of(HEAVY).tail == 0


def test_a_bent_tail_is_as_long_as_stated():
    outcome = Standardised.of(TAILED)
    low, middle, high = outcome.apply([TAILED.min(), np.median(TAILED), TAILED.max()])
    assert (high - middle) / (middle - low) == pytest.approx(LONGEST)


@pytest.mark.parametrize("penalty", [1e10, 1e16, 1e20, 1e300])
def test_good_values_are_told_apart_beside_any_penalty(penalty):
    y = np.array([0.1, 0.2, 0.3, 0.5, 0.8, 1.0, penalty, penalty])
    z = Standardised.of(y).apply(y)
    assert (np.diff(z[:6]) > 1e-4).all()
    assert np.isfinite(Standardised.of(y).restore(z, np.full(8, 0.1))).all()


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20))
def test_order_is_kept(values):
    y = np.sort(np.array(values))
    assert (np.diff(Standardised.of(y).apply(y)) >= 0).all()


@EVERY
def test_below_the_median_units_are_the_objectives(y):
    """Differences there are scaled by one number, so improvements are what they are."""
    outcome = Standardised.of(y)
    below = np.linspace(y.min() - 1, np.median(y), 9)
    np.testing.assert_allclose(np.diff(outcome.apply(below), 2), 0, atol=1e-9)


@EVERY
def test_moments_in_the_objectives_units_equal_numerical_integration(y):
    outcome = Standardised.of(y)
    mean, var = np.array([-0.5, 0.3]), np.array([0.2, 0.05])
    t = np.linspace(-10, 10, 200_001)[:, None]
    density = np.exp(-0.5 * t**2) / np.sqrt(2 * np.pi) * (t[1] - t[0])
    values = outcome.invert(mean + np.sqrt(var) * t)
    first = (density * values).sum(0)
    second = np.sqrt((density * (values - first) ** 2).sum(0))
    got_mean, got_std = outcome.restore(mean, var)
    np.testing.assert_allclose(got_mean, first, rtol=0.01, atol=0.01 * second.min())
    np.testing.assert_allclose(got_std, second, rtol=0.03)


@EVERY
def test_spreads_are_scaled_by_the_slope(y):
    outcome = Standardised.of(y)
    slopes = [central_differences(lambda v: float(outcome.apply(v)), at, 1e-6) for at in y + 0.01]
    np.testing.assert_allclose(
        outcome.apply_std(np.full(len(y), 2.0), y + 0.01), 2 * np.array(slopes), rtol=1e-4
    )


@EVERY
def test_a_predictive_density_integrates_to_one_in_the_objectives_units(y):
    outcome = Standardised.of(y)
    z = np.linspace(-8, 8, 400_001)
    grid = outcome.invert(-0.2 + 0.6 * z)
    middle = 0.5 * (grid[1:] + grid[:-1])
    density = np.exp(-0.5 * ((outcome.apply(middle) + 0.2) / 0.6) ** 2) / (0.6 * np.sqrt(2 * np.pi))
    density *= outcome.apply_std(np.ones(len(middle)), middle)  # |dz / dy|
    assert (density * np.diff(grid)).sum() == pytest.approx(1, abs=1e-6)


def test_points_piled_up_around_the_best_do_not_move_the_bend(rng):
    X = rng.random((20, 2))
    y = np.exp(6 * X[:, 0])
    pile = X[y.argmin()] + 0.001 * rng.random((60, 2))
    together = Standardised.of(np.append(y, np.full(60, y.min())), np.vstack([X, pile]))
    alone = Standardised.of(y, X)
    assert together.location / alone.location == pytest.approx(1, rel=0.3)
    assert together.tail == pytest.approx(alone.tail, abs=0.2)


def test_values_that_are_not_finite_are_refused():
    with pytest.raises(ModelError, match="finite"):
        Standardised.of(np.array([1.0, np.nan]))
    with pytest.raises(ModelError, match="at least one"):
        Standardised.of(np.zeros(0))


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 1e-309, 1e-309, 1.5],  # quotients beyond the largest float
        [0.0, 5e-324, 5e-324, 1.0],
        [-1.7e308, 1.7e308],
        [-1.7e308, 1.0, 2.0, 1.7e308],
        [5e-324, 0.0],
    ],
)
def test_values_of_any_size_become_finite_ones_without_a_warning(y):
    outcome = Standardised.of(np.array(y))
    z = outcome.apply(np.array(y))
    assert np.isfinite(z).all()
    assert (np.diff(z[np.argsort(y)]) >= 0).all()
    mean, std = outcome.restore(z, np.full(len(z), 9.0))
    assert not np.isnan([mean, std]).any()
    assert (outcome.apply_std(np.full(len(y), 1e300), np.array(y)) > 0).all()
