"""Slice sampling leaves its target invariant, follows it when warm, and survives bad densities."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from scipy import stats

from outcrop.errors import ModelError, NumericalError
from outcrop.inference import Draws, Slice, effective_sample_size, slice_chain, slice_sweep
from outcrop.typing import Vector
from tests.inference.targets import (
    ALPHA,
    Gaussian,
    Known,
    ScaledLatents,
    assert_distributed,
    thinned,
)


class Bimodal:
    """0.9 N(−1, 0.5²) + 0.1 N(2, 0.5²)."""

    def cdf(self, x):
        return 0.9 * stats.norm.cdf(x, -1, 0.5) + 0.1 * stats.norm.cdf(x, 2, 0.5)

    def rvs(self, size, random_state):
        right = random_state.random(size) < 0.1
        return random_state.normal(np.where(right, 2.0, -1.0), 0.5)


def log_bimodal(t: float) -> float:
    return log(0.9 * exp(-2 * (t + 1) ** 2) + 0.1 * exp(-2 * (t - 2) ** 2) + 1e-300)


def log_normal(t: float) -> float:
    return -0.5 * (t - 0.7) ** 2 / 1.69


def log_gamma(t: float) -> float:
    return 2.5 * t - float(np.exp(t))  # gamma of shape 2.5 in log coordinates, Jacobian included


def log_logistic(t: float) -> float:
    return float(-t - 2 * np.logaddexp(0, -t))


def log_uniform(t: float) -> float:
    return 0.0 if -0.5 < t < 1.5 else -np.inf


def log_slope(t: float) -> float:
    return -2.0 * t if t > 0 else -np.inf  # the mode is at the wall


KNOWN = {
    "normal": (log_normal, stats.norm(0.7, 1.3)),
    "log gamma": (log_gamma, stats.loggamma(2.5)),
    "logistic": (log_logistic, stats.logistic()),
    "bimodal": (log_bimodal, Bimodal()),
    "uniform": (log_uniform, stats.uniform(-0.5, 2.0)),
    "slope at a wall": (log_slope, stats.expon(scale=0.5)),
}
EVERY_KNOWN = pytest.mark.parametrize("name", KNOWN)


def coordinate(function):
    return lambda theta: function(float(theta[0]))


@EVERY_KNOWN
@pytest.mark.parametrize(("width", "max_steps_out"), [(2.0, 1), (0.4, 3), (20.0, 16)])
def test_sweeps_from_exact_draws_give_exact_draws(name, width, max_steps_out):
    """Brackets cut short and widths far too large must be exact as well; errors would add up."""
    function, exact = KNOWN[name]
    rng = np.random.default_rng([1, list(KNOWN).index(name)])
    log_density, widths = coordinate(function), np.array([width])
    path = np.empty((6, 1500))
    path[0] = exact.rvs(size=1500, random_state=rng)
    for chain in path.T:
        theta = chain[:1]
        log_value = log_density(theta)
        for i in range(1, len(path)):
            theta, log_value, _, _ = slice_sweep(
                log_density, theta, log_value, widths, rng, max_steps_out=max_steps_out
            )
            chain[i] = theta[0]
        assert log_value == log_density(theta)
    starts, ends = path[:2]
    assert (ends != starts).mean() > 0.99
    # Reversible: (start, end) is distributed as (end, start).
    assert stats.wilcoxon(starts * ends**2 - ends * starts**2).pvalue > ALPHA
    assert stats.wilcoxon((starts > 0.5) * ends - (ends > 0.5) * starts).pvalue > ALPHA
    assert_distributed(ends, exact.cdf)
    assert_distributed(path[-1], exact.cdf)


def test_a_sweep_of_a_correlated_normal_is_exact_in_every_direction():
    covariance = np.array([[1.0, 0.9], [0.9, 2.0]])
    precision = np.linalg.inv(covariance)
    rng = np.random.default_rng(2)

    def log_density(theta: Vector) -> float:
        return -0.5 * float(theta @ precision @ theta)

    thetas = rng.multivariate_normal(np.zeros(2), covariance, size=3000)
    for i, theta in enumerate(thetas):
        thetas[i] = slice_sweep(
            log_density, theta, log_density(theta), np.array([1.0, 3.0]), rng
        ).theta
    for direction in np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0]]):
        sd = np.sqrt(direction @ covariance @ direction)
        assert_distributed(thetas @ direction, stats.norm(0, sd).cdf)


@EVERY_KNOWN
@pytest.mark.parametrize("seed", [0])
def test_a_chain_thinned_to_its_effective_size_has_the_known_distribution(name, seed):
    function, exact = KNOWN[name]
    chain = slice_chain(Known(coordinate(function)), np.random.default_rng(seed), 6000)[:, 0]
    draws = thinned(chain)
    assert len(draws) > 150
    assert_distributed(draws, exact.cdf)


@pytest.mark.slow
@EVERY_KNOWN
@pytest.mark.parametrize("seed", range(10, 14))
def test_a_long_chain_thinned_to_its_effective_size_has_the_known_distribution(name, seed):
    function, exact = KNOWN[name]
    chain = slice_chain(Known(coordinate(function)), np.random.default_rng(seed), 100_000)[:, 0]
    assert_distributed(thinned(chain), exact.cdf)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_chain_visits_two_modes_in_proportion_to_their_masses(seed):
    target = Known(coordinate(log_bimodal))
    chain = slice_chain(target, np.random.default_rng(seed), 6000)[:, 0]
    right = (chain > 0.5).astype(float)
    size = float(effective_sample_size(right[None, :]))
    assert size > 300
    assert right.mean() == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / size))


def test_a_chain_has_the_moments_of_a_gaussian_posterior():
    target = Gaussian(
        prior=np.array([[2.0, 0.5], [0.5, 1.0]]),
        mean=np.array([1.0, -2.0]),
        covariance=np.array([[0.5, -0.3], [-0.3, 0.8]]),
    )
    mean, covariance = target.posterior()
    chain = slice_chain(target, np.random.default_rng(3), 5000)
    error = np.sqrt(np.diag(covariance) / effective_sample_size(chain[None, :, :]))
    assert np.all(np.abs(chain.mean(axis=0) - mean) < 4 * error)
    np.testing.assert_allclose(np.cov(chain.T), covariance, atol=0.05)


@pytest.mark.parametrize("sweeps", [0, 2])
def test_without_data_the_draws_are_those_of_the_prior(sweeps):
    target = Known(lambda theta: -0.5 * float(theta @ theta) / 9.0, dim=2)  # likelihood 1
    draws = Slice(chains=600, burn_in=sweeps, sweeps=sweeps).infer(target, np.random.default_rng(4))
    prior = target.sample_prior(np.random.default_rng(5), 600)
    for column in range(2):
        test = stats.ks_2samp(draws.thetas[:, column], prior[:, column])
        assert test.pvalue > ALPHA
    np.testing.assert_array_equal(draws.weights, 1 / 600)


@pytest.mark.parametrize("dim", [1, 2])
def test_only_chains_that_fell_out_of_patience_start_cold(dim):
    """One of three chains sits 25 nats a coordinate below, in a mode it could not leave."""

    def two_modes(theta):
        near, far = (-0.5 * float(((theta - at) ** 2).sum()) / 0.01 for at in (0.0, 9.0))
        return max(near, far - 25.0 * dim)

    starts = np.array([[0.01], [9.0], [-0.02]]) * np.ones(dim)
    previous = Draws.equal(starts, np.zeros(3), np.full((3, dim), 0.1))
    for patience, cold in ((np.inf, 0), (30.0, 0), (20.0, 1)):
        inference = Slice(chains=3, patience=patience)
        draws = inference.infer(Known(two_modes, dim), np.random.default_rng(0), previous)
        assert draws.diagnostics["cold_chains"] == cold
        assert (draws.thetas[1] < 5).all() == (cold == 1)
    with pytest.raises(ModelError, match="patience=0"):
        Slice(patience=0)


def test_a_stuck_chain_rejoins_the_best_one_instead_of_starting_cold():
    target = Known(lambda theta: -0.5 * float(theta @ theta), dim=2)
    starts = np.array([[0.1, 0.2], [40.0, 40.0]])
    previous = Draws.equal(starts, np.zeros(2), np.ones((2, 2)))
    inference = Slice(chains=2, sweeps=0, patience=2.5, rejoins=True)
    draws = inference.infer(target, np.random.default_rng(0), previous)
    assert draws.diagnostics["cold_chains"] == 0
    np.testing.assert_array_equal(draws.thetas, starts[[0, 0]])


class HalfSeen(Gaussian):
    """A target whose likelihood depends on its first coordinate only."""

    def __init__(self) -> None:
        super().__init__(np.diag([1.0, 4.0]), np.array([1.0, 0.0]), np.diag([0.5, 1.0]))
        object.__setattr__(self, "evaluations", [])

    @property
    def unseen(self):
        return np.array([False, True])

    def log_likelihood(self, theta):
        self.evaluations.append(theta.copy())
        return -((float(theta[0]) - 1.0) ** 2)


def test_a_coordinate_that_the_likelihood_does_not_see_is_drawn_from_its_prior():
    target, rng = HalfSeen(), np.random.default_rng(12)
    chain = slice_chain(target, rng, 3000, burn_in=5)
    assert_distributed(chain[:, 1], stats.norm(0, 2).cdf)  # every draw: they are independent
    assert abs(np.corrcoef(chain[1:, 1], chain[:-1, 1])[0, 1]) < 4 / np.sqrt(3000)
    assert_distributed(thinned(chain[:, 0]), stats.norm(2 / 3, np.sqrt(1 / 3)).cdf)
    assert abs(np.corrcoef(chain.T)[0, 1]) < 0.1


def test_an_unseen_coordinate_costs_no_likelihood_and_keeps_the_density_right():
    target, rng = HalfSeen(), np.random.default_rng(13)
    draws = Slice(chains=4, burn_in=3).infer(target, rng)
    for theta, value in zip(draws.thetas, draws.log_densities, strict=True):
        expected = target.log_prior(theta) + target.log_likelihood(theta)
        assert value == pytest.approx(expected, abs=1e-9)
    target.evaluations.clear()
    start = Draws.equal(draws.thetas[:1], np.zeros(1), np.ones((1, 2)))
    Slice(chains=1).infer(target, rng, start)
    moved = np.array(target.evaluations[1:])  # the first is that of the start
    assert len(np.unique(moved[:, 1])) == 1
    assert len(np.unique(moved[:, 0])) == len(moved)


def test_cold_chains_may_start_at_the_mode():
    target = Gaussian(np.eye(3), np.array([3.0, -2.0, 1.0]), np.diag([0.1, 0.2, 0.3]))
    still = Slice(chains=3, burn_in=0, sweeps=0, from_mode=True)
    draws = still.infer(target, np.random.default_rng(14))
    np.testing.assert_allclose(draws.thetas, [target.posterior()[0]] * 3, atol=1e-3)
    assert draws.diagnostics["cold_chains"] == 3


def test_sweeps_from_the_mode_reach_the_posterior():
    target = Gaussian(np.eye(2), np.array([2.0, 0.0]), np.diag([0.5, 2.0]))
    draws = Slice(chains=1500, burn_in=1, from_mode=True).infer(target, np.random.default_rng(15))
    mean, covariance = target.posterior()
    for i in range(2):
        exact = stats.norm(mean[i], np.sqrt(covariance[i, i]))
        assert_distributed(draws.thetas[:, i], exact.cdf)


def test_without_a_mode_cold_chains_start_at_prior_draws():
    nowhere = Known(lambda theta: -np.inf, gradient=lambda theta: np.zeros(1))
    draws = Slice(chains=2, burn_in=0, from_mode=True).infer(nowhere, np.random.default_rng(16))
    assert draws.thetas[0] != draws.thetas[1]


@pytest.mark.parametrize("steps", [1, 3])
def test_latents_and_other_coordinates_are_moved_together_without_bias(steps):
    """Parameters and data drawn jointly keep their law when parameters move [Geweke 2004]."""
    rng = np.random.default_rng(6)
    moved, residuals = np.empty((800, 3)), np.empty(800)
    inference = Slice(chains=1, sweeps=3, elliptical_steps=steps)
    for i in range(len(moved)):
        theta = rng.normal(size=3)
        target = ScaledLatents(y=rng.normal(theta[:2] * np.exp(theta[2]), 0.5))
        previous = Draws.equal(theta[None, :], np.zeros(1), widths=np.full((1, 3), 1.5))
        draws = inference.infer(target, rng, previous)
        moved[i] = draws.thetas[0]
        value = target.log_prior(moved[i]) + target.log_likelihood(moved[i])
        assert draws.log_densities[0] == pytest.approx(value)
        residuals[i] = target.y[0] - moved[i, 0] * np.exp(moved[i, 2])
        assert np.all(moved[i] != theta)
    for column in range(3):
        assert_distributed(moved[:, column], stats.norm.cdf)
    assert_distributed(moved[:, 0] + moved[:, 2], stats.norm(0, np.sqrt(2)).cdf)
    assert_distributed(residuals, stats.norm(0, 0.5).cdf)


def test_kept_draws_are_the_last_points_of_chains_that_have_equal_weights():
    target = Gaussian(np.eye(2), np.array([0.5, -1.0]), np.eye(2))
    start = Draws.equal(np.zeros((3, 2)), np.zeros(3), np.ones((3, 2)))
    rng = np.random.default_rng(0)
    draws = Slice(chains=1, sweeps=4, kept=3).infer(target, np.random.default_rng(3), start)
    assert len(draws) == 3
    chain = [
        Slice(chains=1, sweeps=n).infer(target, np.random.default_rng(3), start) for n in (4, 2, 3)
    ]
    np.testing.assert_array_equal(draws.thetas, np.vstack([each.thetas for each in chain]))
    some = Slice(chains=3, sweeps=2, kept=2, moved=1).infer(target, rng, start)
    assert len(some) == 4
    of_the_moved = some.weights[some.weights < 0.2]
    np.testing.assert_allclose(of_the_moved, [1 / 6, 1 / 6])
    assert some.chains == 3


def test_a_call_continues_from_the_ends_of_chains_and_not_from_kept_draws():
    target = Gaussian(np.eye(2), np.array([0.5, -1.0]), np.eye(2))
    many = Slice(chains=2, sweeps=5, kept=5)
    first = many.infer(target, np.random.default_rng(0))
    ends = Draws.equal(first.thetas[:2], first.log_densities[:2], first.widths[:2])
    again = [many.infer(target, np.random.default_rng(1), each) for each in (first, ends)]
    assert len(first) == 10
    np.testing.assert_array_equal(again[0].thetas, again[1].thetas)


def test_cold_chains_end_near_a_posterior_much_narrower_than_the_prior():
    sd = 0.02
    target = Gaussian(np.eye(3), np.array([0.5, -1.0, 1.5]), sd**2 * np.eye(3))
    mean, covariance = target.posterior()
    draws = Slice(chains=16).infer(target, np.random.default_rng(7))
    z = (draws.thetas - mean) / np.sqrt(np.diag(covariance))
    assert np.sqrt((z**2).mean()) < 3
    assert np.all(draws.thetas.std(axis=0) > 0)
    assert draws.widths is not None
    assert np.all((draws.widths > sd) & (draws.widths < 40 * sd))  # from 1 at the start


def test_widths_are_adapted_only_where_they_are_used():
    target = ScaledLatents(y=np.array([0.3, -1.2]))
    before, after = (
        Slice(chains=2, burn_in=burn_in).infer(target, np.random.default_rng(21)).widths
        for burn_in in (0, 40)
    )
    assert before is not None
    assert after is not None
    np.testing.assert_array_equal(after[:, :2], before[:, :2])  # latents have no width to adapt
    assert np.all(after[:, 2] != before[:, 2])


def test_a_warm_chain_continues_where_it_was():
    target = Known(coordinate(log_normal))
    cold = Slice(chains=4).infer(target, np.random.default_rng(8))
    assert cold.diagnostics["cold_chains"] == 4
    still = Slice(chains=4, sweeps=0).infer(target, np.random.default_rng(9), cold)
    np.testing.assert_array_equal(still.thetas, cold.thetas)
    np.testing.assert_array_equal(still.log_densities, cold.log_densities)
    warm = Slice(chains=4).infer(target, np.random.default_rng(9), cold)
    assert warm.diagnostics["cold_chains"] == 0
    assert np.all(warm.thetas != cold.thetas)
    assert warm.widths is not None
    assert cold.widths is not None
    np.testing.assert_array_equal(warm.widths, cold.widths)


def test_draws_are_a_function_of_the_generator():
    target, inference = Known(coordinate(log_normal)), Slice(chains=3)
    cold = [inference.infer(target, np.random.default_rng(10)) for _ in range(2)]
    warm = [inference.infer(target, np.random.default_rng(11), draws) for draws in cold]
    for one, two in (cold, warm):
        np.testing.assert_array_equal(one.thetas, two.thetas)
        np.testing.assert_array_equal(one.log_densities, two.log_densities)


def test_given_draws_are_left_untouched():
    target = Known(coordinate(log_normal))
    cold = Slice(chains=2).infer(target, np.random.default_rng(12))
    before = cold.thetas.copy()
    cold.thetas.setflags(write=False)
    Slice(chains=2, sweeps=3).infer(target, np.random.default_rng(13), cold)
    np.testing.assert_array_equal(cold.thetas, before)


@pytest.mark.parametrize(("kept", "cold"), [(2, 3), (5, 0), (7, 0)])
def test_missing_chains_start_cold_and_surplus_ones_are_dropped(kept, cold):
    target = Known(coordinate(log_normal))
    previous = Draws.equal(np.linspace(0, 1, kept)[:, None], np.zeros(kept))
    draws = Slice(chains=5, sweeps=0).infer(target, np.random.default_rng(14), previous)
    assert len(draws) == 5
    assert draws.diagnostics["cold_chains"] == cold
    np.testing.assert_array_equal(draws.thetas[: min(kept, 5)], previous.thetas[:5])


def test_new_slots_are_filled_from_the_prior():
    target = Gaussian(4 * np.eye(2), np.zeros(2), 1e12 * np.eye(2))
    thetas = np.column_stack([np.full(500, 0.25), np.full(500, np.nan)])
    widths = np.column_stack([np.full(500, 0.5), np.full(500, np.nan)])
    previous = replace(Draws.equal(thetas, np.zeros(500)), widths=widths)
    draws = Slice(chains=500, sweeps=0).infer(target, np.random.default_rng(15), previous)
    np.testing.assert_array_equal(draws.thetas[:, 0], 0.25)
    assert_distributed(draws.thetas[:, 1], stats.norm(0, 2).cdf)
    assert draws.widths is not None
    np.testing.assert_array_equal(draws.widths[:, 0], 0.5)
    assert np.all((draws.widths[:, 1] > 1) & (draws.widths[:, 1] < 4))


def test_a_chain_that_lost_its_density_starts_again():
    target = Known(coordinate(log_uniform))
    previous = Draws.equal(np.array([[0.3], [9.0]]), np.zeros(2), widths=np.ones((2, 1)))
    draws = Slice(chains=2).infer(target, np.random.default_rng(16), previous)
    assert draws.diagnostics["cold_chains"] == 1
    assert np.isfinite(draws.log_densities).all()


@pytest.mark.parametrize("bad", [np.nan, -np.inf, np.inf, NumericalError("no jitter")])
def test_a_likelihood_without_value_on_half_of_the_space_is_never_entered(bad):
    def log_density(theta: Vector) -> float:
        if theta[0] + theta[1] > 0:
            if isinstance(bad, Exception):
                raise bad
            return float(bad)
        return -0.5 * float(theta @ theta)

    draws = Slice(chains=6).infer(Known(log_density, dim=2), np.random.default_rng(17))
    assert np.isfinite(draws.log_densities).all()
    assert np.all(draws.thetas.sum(axis=1) <= 0)


def test_a_likelihood_that_warns_of_overflow_is_silent():
    def log_density(theta: Vector) -> float:
        return float(np.log(np.exp(2000 * theta[0])) - 1e3 * np.exp(2000 * theta[0]))

    draws = Slice(chains=2).infer(Known(log_density), np.random.default_rng(18))
    assert np.isfinite(draws.log_densities).all()


def test_without_any_density_the_draws_are_prior_draws_and_say_so(caplog):
    target = Known(lambda theta: np.nan, dim=2)
    draws = Slice(chains=3).infer(target, np.random.default_rng(19))
    assert np.all(draws.log_densities == -np.inf)
    assert np.isfinite(draws.thetas).all()
    assert "finite density" in caplog.text


def test_a_target_without_coordinates_has_one_point():
    target = Known(lambda theta: 0.0, dim=0)
    draws = Slice(chains=2).infer(target, np.random.default_rng(20))
    assert draws.thetas.shape == (2, 0)
    np.testing.assert_array_equal(draws.log_densities, 0.0)


@pytest.mark.parametrize(
    "fields", [{"chains": 0}, {"chains": 2.5}, {"burn_in": -1}, {"sweeps": True}]
)
def test_nonsense_is_refused_with_the_name_of_the_field(fields):
    with pytest.raises(ModelError, match=rf"Slice\({next(iter(fields))}=\)"):
        Slice(**fields)
