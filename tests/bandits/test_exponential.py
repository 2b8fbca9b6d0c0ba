from math import e

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from outcrop.bandits import EXP3, EXP3M, ArmChoice, LogWeights, inclusion_probabilities, rate


def by_bisection(weights, gamma, plays):
    """Probabilities of EXP3.M by its definition, the cap found by bisection, and who is capped."""
    n_arms = len(weights)
    capped = np.array(weights, dtype=float)
    c = (1 / plays - gamma / n_arms) / (1 - gamma)
    if capped.max() >= c * capped.sum():
        low, high = 0.0, capped.max()
        for _ in range(200):
            middle = (low + high) / 2
            is_low = middle < c * np.minimum(weights, middle).sum()
            low, high = (middle, high) if is_low else (low, middle)
        capped = np.minimum(weights, high)
    p = plays * ((1 - gamma) * capped / capped.sum() + gamma / n_arms)
    return p, capped < weights


@st.composite
def games(draw, spread=6.0):
    """Log-weights, γ and a number of plays below that of the arms."""
    logs = draw(st.lists(st.floats(-spread, spread), min_size=2, max_size=9))
    gamma = draw(st.floats(0, 0.95) | st.sampled_from([0.0, 0.1]))
    return np.array(logs), gamma, draw(st.integers(1, len(logs) - 1))


@given(games())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_the_cap_agrees_with_bisection(game):
    logs, gamma, plays = game
    expected, _ = by_bisection(np.exp(logs), gamma, plays)
    np.testing.assert_allclose(inclusion_probabilities(*game), expected, rtol=1e-9)


@pytest.mark.parametrize(("n_capped", "plays"), [(1, 2), (2, 3), (2, 4), (3, 4)])
def test_the_cap_agrees_with_its_closed_form(n_capped, plays, rng):
    n_arms, gamma = 8, 0.05
    logs = np.where(np.arange(n_arms) < n_capped, 6.0, 0.3) + 0.4 * rng.random(n_arms)
    weights = np.exp(logs)
    c = (1 / plays - gamma / n_arms) / (1 - gamma)
    alpha = c * weights[n_capped:].sum() / (1 - n_capped * c)
    assert weights[n_capped - 1] >= alpha > weights[n_capped:].max()
    capped = np.minimum(weights, alpha)
    expected = plays * ((1 - gamma) * capped / capped.sum() + gamma / n_arms)
    np.testing.assert_allclose(expected[:n_capped], 1.0, rtol=1e-12)
    np.testing.assert_allclose(inclusion_probabilities(logs, gamma, plays), expected, rtol=1e-12)


@given(games(spread=1e9) | games(spread=800))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_probabilities_sum_to_the_number_of_plays_for_weights_of_any_size(game):
    logs, gamma, plays = game
    p = inclusion_probabilities(*game)
    assert p.sum() == pytest.approx(plays, rel=1e-12)
    assert p.min() >= 0
    assert p.max() <= 1
    assert (np.diff(p[np.argsort(logs, kind="stable")]) >= -1e-12).all()
    choice = EXP3M(gamma, plays).choose(LogWeights(tuple(logs)), np.random.default_rng(0))
    assert len(set(choice.arms)) == plays


def test_arms_whose_weights_vanish_beside_a_capped_one_keep_their_proportions():
    p = inclusion_probabilities(np.array([5000.0, np.log(3.0), 0.0]), gamma=0.0, plays=2)
    np.testing.assert_allclose(p, [1.0, 0.75, 0.25])


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), max_size=30), st.floats(0, 1))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_exp3m_with_one_play_is_exp3(rounds, gamma):
    one, several = EXP3(gamma), EXP3M(gamma, plays=1)
    state, same = one.init(5), several.init(5)
    for arm, reward in rounds:
        p, q = one.probabilities(state), several.probabilities(same)
        np.testing.assert_allclose(p, q, rtol=1e-12, atol=1e-15)
        if p[arm] == 0:
            continue
        state = one.update(state, ArmChoice((arm,), (float(p[arm]),)), reward)
        same = several.update(same, ArmChoice((arm,), (float(q[arm]),)), [reward])
    np.testing.assert_allclose(state.logs, same.logs, rtol=1e-12, atol=1e-15)


def test_exp3_follows_its_definition_with_plain_weights(rng):
    bandit, weights = EXP3(0.2), np.ones(4)
    state = bandit.init(4)
    for reward in rng.random(60):
        p = 0.8 * weights / weights.sum() + 0.2 / 4
        np.testing.assert_allclose(bandit.probabilities(state), p, rtol=1e-12)
        choice = bandit.choose(state, rng)
        assert choice.probabilities[0] == pytest.approx(p[choice.arm])
        weights[choice.arm] *= np.exp(0.2 * reward / p[choice.arm] / 4)
        state = bandit.update(state, choice, reward)


def test_exp3m_follows_its_definition_with_plain_weights(rng):
    bandit, weights = EXP3M(0.3, plays=3), np.ones(5)
    state, n_capped = bandit.init(5), 0
    for _ in range(120):
        p, is_capped = by_bisection(weights, 0.3, 3)
        np.testing.assert_allclose(bandit.probabilities(state), p, rtol=1e-9)
        choice = bandit.choose(state, rng)
        rewards = [0.9, 0.5, 0.0, 0.1, 0.8] * rng.random(5)
        for arm in choice.arms:
            if not is_capped[arm]:
                weights[arm] *= np.exp(3 * 0.3 * rewards[arm] / p[arm] / 5)
        state = bandit.update(state, choice, rewards[list(choice.arms)])
        n_capped += is_capped.sum()
    assert n_capped > 10  # else this would be about EXP3


@pytest.mark.parametrize("logs", [(0.0, 0.0, 0.0), (3.0, -2.0, 900.0)], ids=str)
def test_a_rate_of_one_is_uniform(logs):
    state = LogWeights(logs)
    np.testing.assert_allclose(EXP3(1.0).probabilities(state), 1 / 3)
    np.testing.assert_allclose(EXP3M(1.0, plays=2).probabilities(state), 2 / 3)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
def test_as_many_plays_as_arms_draw_every_arm_and_learn_nothing(gamma, rng):
    bandit = EXP3M(gamma, plays=3)
    state = LogWeights((3.0, -2.0, 900.0))
    choice = bandit.choose(state, rng)
    assert sorted(choice.arms) == [0, 1, 2]
    assert choice.probabilities == (1.0, 1.0, 1.0)
    assert bandit.update(state, choice, [1.0, 0.5, 0.0]) == state


def test_estimated_rewards_are_unbiased_and_capped_arms_are_left_alone(rng):
    gamma, plays, rewards = 0.2, 3, np.array([0.9, 0.3, 0.7, 0.2, 1.0, 0.6])
    bandit = EXP3M(gamma, plays)
    state = LogWeights((5.0, 0.5, -1.0, 0.0, -0.3, 4.6))
    is_capped = bandit.probabilities(state) == 1
    assert is_capped.tolist() == [True, False, False, False, False, True]
    estimates = []
    for _ in range(6000):
        choice = bandit.choose(state, rng)
        after = bandit.update(state, choice, rewards[list(choice.arms)])
        estimates.append(np.subtract(after.logs, state.logs) * len(rewards) / (plays * gamma))
    mean = np.mean(estimates, 0)
    error = np.std(estimates, 0) / np.sqrt(len(estimates))
    assert (mean[is_capped] == 0).all()
    free = ~is_capped
    assert (np.abs(mean - rewards)[free] < 4 * error[free]).all()
    assert error[free].max() < 0.05


def test_arms_of_a_round_come_in_random_order(rng):
    bandit = EXP3M(1.0, plays=3)
    choices = [bandit.choose(bandit.init(4), rng).arms for _ in range(300)]
    assert len(set(choices)) == 4 * 3 * 2


def test_rewards_may_come_one_by_one_and_late(rng):
    bandit = EXP3M(0.3, plays=3)
    start = LogWeights((0.2, 1.0, -0.5, 0.0, 0.3))
    first, second = bandit.choose(start, rng), bandit.choose(start, rng)
    paid = dict(enumerate([0.1, 0.9, 0.4, 0.6, 0.3]))
    together = bandit.update(start, first, [paid[arm] for arm in first.arms])
    together = bandit.update(together, second, [paid[arm] for arm in second.arms])
    single = start
    for choice in reversed(first.each() + second.each()):
        single = bandit.update(single, choice, paid[choice.arm])
    np.testing.assert_allclose(single.logs, together.logs, rtol=1e-14)


@pytest.mark.parametrize("scale", [1e5, 1e300])
def test_raw_rewards_of_any_size_keep_probabilities_finite(scale, rng):
    for bandit in (EXP3(0.1, raw=True), EXP3M(0.1, plays=2, raw=True)):
        state = bandit.init(4)
        for _ in range(50):
            choice = bandit.choose(state, rng)
            rewards = scale * rng.uniform(-1, 1, len(choice.arms))
            state = bandit.update(state, choice, rewards)
            p = bandit.probabilities(state)
            assert p.sum() == pytest.approx(len(choice.arms))
            assert p.min() >= len(choice.arms) * 0.1 / 4 * (1 - 1e-12)


@pytest.mark.parametrize(("n_arms", "gain", "plays"), [(5, 400.0, 1), (17, 90.0, 4), (3, 50.0, 2)])
def test_the_rate_minimises_the_bound_on_the_regret(n_arms, gain, plays):
    def bound(gamma):
        return (e - 1) * gamma * plays * gain + n_arms * np.log(n_arms / plays) / gamma

    found = minimize_scalar(bound, bounds=(1e-6, 1), method="bounded", options={"xatol": 1e-10})
    assert rate(n_arms, gain, plays) == pytest.approx(found.x, rel=1e-5)


def test_rates_at_their_limits():
    assert rate(17, gain=1.0) == 1.0
    assert rate(4, gain=100.0, plays=4) == 0.0
    assert rate(4, gain=100.0, plays=5) == 1.0
    assert rate(1, gain=100.0) == 0.0


def test_a_bandit_for_a_horizon_has_the_rate_of_the_gain_that_it_expects():
    assert EXP3.for_horizon(5, 200).gamma == rate(5, 200.0)
    assert EXP3.for_horizon(5, 200, share=2 / 3, raw=True) == EXP3(rate(5, 200 * (2 / 3)), raw=True)
    assert EXP3M.for_horizon(9, 80, plays=4).gamma == rate(9, 80.0, 4)
    assert EXP3M.for_horizon(9, 80, 4, share=0.5) == EXP3M(rate(9, 40.0, 4), plays=4)
