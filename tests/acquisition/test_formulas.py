"""The formulas against other roads: arbitrary precision, Monte Carlo, finite differences."""

from functools import cache

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.acquisition.formulas import (
    FAR,
    STD_FLOOR,
    expected_improvement,
    information_about_minimum,
    log_expected_improvement,
    mills,
    probability_of_improvement,
    scaled_improvement,
)
from outcrop.testing import central_differences

FORMULAS = (
    expected_improvement,
    log_expected_improvement,
    probability_of_improvement,
    scaled_improvement,
    information_about_minimum,
)
every_formula = pytest.mark.parametrize("formula", FORMULAS, ids=lambda f: f.__name__)

# Dense where the branches meet, and out to a million deviations below and a hundred above.
DEPTHS = np.concatenate(
    [
        -np.geomspace(1e6, 1e-4, 300),
        -np.linspace(FAR - 0.02, FAR + 0.02, 21),
        -np.linspace(0, 30, 151),
        [0.0, 1e-300, -1e-300],
        np.geomspace(1e-4, 1e2, 100),
    ]
)


@cache
def truth(z):
    """Φ, φ, E[(ε + z)₊] and E[(ε + z)₊²], to 60 digits after what cancels at z = −1e6."""
    with mp.workdps(90):
        z = mp.mpf(z)
        below, density = mp.erfc(-z / mp.sqrt(2)) / 2, mp.npdf(z)
        gain = density + z * below
        return below, density, gain, below + z * gain


def relative_error(got, expected):
    """The largest relative error, where numbers that doubles cannot hold are worth 0."""
    tiny = mp.mpf(10) ** -290
    misses = [
        abs(mp.mpf(float(g)) - e) / max(abs(e), tiny) for g, e in zip(got, expected, strict=True)
    ]
    return float(max(misses))


def at(formula, z):
    """The formula at z deviations, with unit deviation: value and derivatives."""
    return formula(-z, np.ones_like(z), 0.0)


def test_log_ei_is_exact_out_to_a_million_deviations():
    value, mean_bar, std_bar = at(log_expected_improvement, DEPTHS)
    exact = [truth(z) for z in DEPTHS]
    for got, (_, _, gain, _) in zip(value, exact, strict=True):
        miss = abs(mp.mpf(float(got)) - mp.log(gain))
        assert miss < 1e-12 or miss < 1e-13 * abs(mp.log(gain))
    assert relative_error(-mean_bar, [below / gain for below, _, gain, _ in exact]) < 1e-12
    assert relative_error(std_bar, [density / gain for _, density, gain, _ in exact]) < 1e-12


def test_ei_and_pi_are_exact():
    exact = [truth(z) for z in DEPTHS]
    value, mean_bar, std_bar = at(expected_improvement, DEPTHS)
    assert relative_error(value, [gain for _, _, gain, _ in exact]) < 1e-11
    assert relative_error(-mean_bar, [below for below, _, _, _ in exact]) < 1e-11
    assert relative_error(std_bar, [density for _, density, _, _ in exact]) < 1e-11
    value, mean_bar, _ = at(probability_of_improvement, DEPTHS)
    assert relative_error(value, [below for below, _, _, _ in exact]) < 1e-11
    assert relative_error(-mean_bar, [density for _, density, _, _ in exact]) < 1e-11


def test_scaled_ei_is_exact():
    value, mean_bar, std_bar = at(scaled_improvement, DEPTHS)
    expected, slopes = [], []
    for z in DEPTHS:
        below, _, gain, square = truth(z)
        with mp.workdps(60):
            root = mp.sqrt(square - gain**2)
            expected.append(gain / root)
            slopes.append((below - gain**2 / root**2 * (1 - below)) / root)
    assert relative_error(value, expected) < 1e-10
    assert relative_error(-mean_bar, slopes) < 1e-10
    np.testing.assert_allclose(std_bar, mean_bar * DEPTHS)


def test_information_about_the_minimum_is_exact():
    value, mean_bar, std_bar = at(information_about_minimum, -DEPTHS)  # γ = DEPTHS
    expected, slopes = [], []
    for gamma in DEPTHS:
        with mp.workdps(80):
            above, density, _, _ = truth(gamma)
            # Far on the positive side log Φ is made of the tail and not of 1 − tail.
            log_above = mp.log1p(-truth(-gamma)[0]) if gamma > 0 else mp.log(above)
            hazard, gamma = density / above, mp.mpf(gamma)
            expected.append(gamma * hazard / 2 - log_above)
            slopes.append(-hazard / 2 * (1 + gamma * (gamma + hazard)))
    assert relative_error(value, expected) < 1e-10
    assert relative_error(mean_bar, slopes) < 1e-9
    np.testing.assert_allclose(std_bar, -mean_bar * DEPTHS)


def test_mills_ratio_keeps_its_identities_everywhere():
    t = np.abs(DEPTHS)
    r, c, e = mills(t)
    np.testing.assert_allclose(r * (t + c), 1.0, rtol=1e-14)
    np.testing.assert_allclose(c * (t + e), 1.0, rtol=1e-14)
    assert (np.diff(e[np.argsort(t)]) <= 1e-11).all()


MEAN, STD, BEST = 0.3, 0.7, 0.1


@pytest.fixture
def improvements(rng):
    return np.maximum(BEST - rng.normal(MEAN, STD, 1_000_000), 0.0)


def test_ei_and_its_logarithm_match_monte_carlo(improvements):
    assert expected_improvement(MEAN, STD, BEST)[0] == pytest.approx(improvements.mean(), rel=0.01)
    log_ei = log_expected_improvement(MEAN, STD, BEST)[0]
    assert log_ei == pytest.approx(np.log(improvements.mean()), abs=0.01)


def test_pi_matches_monte_carlo(improvements):
    expected = (improvements > 0).mean()
    assert probability_of_improvement(MEAN, STD, BEST)[0] == pytest.approx(expected, rel=0.01)


def test_scaled_ei_matches_monte_carlo(improvements):
    expected = improvements.mean() / improvements.std()
    assert scaled_improvement(MEAN, STD, BEST)[0] == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("minimum", [-1.2, 0.1, 0.9])
def test_information_is_the_entropy_that_truncation_removes(rng, minimum):
    """Differential entropies before and after, the latter by Monte Carlo of −log density."""
    draws = rng.normal(MEAN, STD, 2_000_000)
    kept = draws[draws > minimum]
    before = 0.5 * np.log(2 * np.pi * np.e * STD**2)
    surprise = 0.5 * ((kept - MEAN) / STD) ** 2 + 0.5 * np.log(2 * np.pi * STD**2)
    after = surprise.mean() + np.log(len(kept) / len(draws))
    got = information_about_minimum(MEAN, STD, minimum)[0]
    assert got == pytest.approx(before - after, abs=0.004)


@every_formula
def test_derivatives_agree_with_finite_differences(formula, rng):
    mean, std = rng.normal(0.4, 3.0, 40), rng.uniform(0.2, 2.0, 40)
    _, mean_bar, std_bar = formula(mean, std, 0.1)
    by_mean = central_differences(lambda x: float(formula(x, std, 0.1)[0].sum()), mean)
    by_std = central_differences(lambda x: float(formula(mean, x, 0.1)[0].sum()), std)
    np.testing.assert_allclose(mean_bar, by_mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(std_bar, by_std, rtol=1e-5, atol=1e-6)


@every_formula
def test_everything_is_finite_for_tiny_deviations_and_far_means(formula):
    mean, std = (
        grid.ravel()
        for grid in np.meshgrid(
            np.concatenate([[0.0], np.geomspace(1e-30, 1e30, 41), -np.geomspace(1e-30, 1e30, 41)]),
            np.concatenate(
                [[0.0, 5e-324, 1e-6 * np.finfo(float).tiny], np.geomspace(1e-60, 1, 31)]
            ),
        )
    )
    value, mean_bar, std_bar = formula(mean, std, 0.0)
    assert np.isfinite(value).all()
    assert np.isfinite(mean_bar).all()
    assert np.isfinite(std_bar / (2 * np.maximum(std, STD_FLOOR))).all()  # in the variance


def test_a_certain_prediction_has_the_limits_one_expects():
    mean, std = np.array([-0.4, 0.5]), np.zeros(2)
    np.testing.assert_allclose(expected_improvement(mean, std, 0.1)[0], [0.5, 0.0])
    np.testing.assert_allclose(probability_of_improvement(mean, std, 0.1)[0], [1.0, 0.0])
    log_ei, mean_bar, _ = log_expected_improvement(mean, std, 0.1)
    assert log_ei[0] == pytest.approx(np.log(0.5), rel=1e-12)
    assert log_ei[1] < -1e100
    assert mean_bar[1] < 0


numbers = st.floats(-50, 50)
deviations = st.floats(1e-6, 50)


@given(mean=numbers, std=deviations, best=numbers, step=st.floats(1e-3, 5))
@settings(deadline=None)
def test_ei_falls_with_the_mean_and_rises_with_the_deviation(mean, std, best, step):
    for formula in (expected_improvement, log_expected_improvement):
        here = formula(mean, std, best)[0]
        assert formula(mean + step, std, best)[0] <= here
        assert formula(mean, std + step, best)[0] >= here - 1e-13 * abs(here)


@given(mean=numbers, std=deviations, best=numbers)
@settings(deadline=None)
def test_probabilities_lie_between_0_and_1_and_complement_each_other(mean, std, best):
    below = probability_of_improvement(mean, std, best)[0]
    above = probability_of_improvement(-mean, std, -best)[0]
    assert 0 <= below <= 1
    assert below + above == pytest.approx(1, abs=1e-15)


@given(mean=numbers, std=deviations, best=numbers)
@settings(deadline=None)
def test_ei_of_a_gain_and_of_the_opposite_loss_differ_by_the_expected_gain(mean, std, best):
    gain = expected_improvement(mean, std, best)[0]
    loss = expected_improvement(-mean, std, -best)[0]
    assert gain - loss == pytest.approx(best - mean, rel=1e-12, abs=1e-14)
    assert gain >= max(best - mean, 0) * (1 - 1e-15)


@given(mean=numbers, std=deviations, best=numbers, power=st.integers(-60, 60))
@settings(deadline=None)
def test_ei_scales_with_the_objective_and_the_others_do_not(mean, std, best, power):
    factor = 2.0**power  # exact, so that the invariance is too
    scaled = (factor * mean, factor * std, factor * best)
    ei = expected_improvement(mean, std, best)[0]
    assert expected_improvement(*scaled)[0] == pytest.approx(factor * ei, rel=1e-14, abs=0)
    for formula in (probability_of_improvement, scaled_improvement, information_about_minimum):
        assert formula(*scaled)[0] == formula(mean, std, best)[0]
    shift = log_expected_improvement(*scaled)[0] - log_expected_improvement(mean, std, best)[0]
    assert shift == pytest.approx(
        np.log(factor), rel=1e-9, abs=1e-9 * (1 + ((best - mean) / std) ** 2)
    )


@given(mean=numbers, std=deviations, minimum=numbers)
@settings(deadline=None)
def test_information_is_never_negative(mean, std, minimum):
    assert information_about_minimum(mean, std, minimum)[0] >= 0
