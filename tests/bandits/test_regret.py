"""What is lost by not playing the best arm, against what theory says of it."""

import numpy as np
import pytest

from outcrop.bandits import EXP3, EXP3M, UCB1, EpsilonFirst, EpsilonGreedy, Greedy
from tests.bandits.games import bernoulli, play, regrets

MEANS = np.array([0.8, 0.5, 0.4, 0.3])
GAPS = MEANS.max() - MEANS
K = len(MEANS)
ROUNDS = 4000
RUNS = 20
EPSILON = 0.1
DECREASING = EpsilonGreedy(5 * K / GAPS[1] ** 2, decreasing=True)


def mean_and_error(sample):
    return sample.mean(0), sample.std(0) / np.sqrt(len(sample))


@pytest.fixture(scope="module")
def lost():
    """Regrets `(runs, T)` of every bandit, in the same games."""
    bandits = {
        "chance": EpsilonGreedy(1.0),
        "greedy": Greedy(),
        "first": EpsilonFirst(EPSILON, ROUNDS),
        "fixed": EpsilonGreedy(EPSILON),
        "decreasing": DECREASING,
        "ucb1": UCB1(),
        "exp3": EXP3.for_horizon(K, ROUNDS),
    }
    return {name: regrets(each, MEANS, ROUNDS, RUNS, seed=5) for name, each in bandits.items()}


@pytest.mark.slow
def test_whoever_learns_loses_less_than_chance_and_less_than_greed(lost):
    for name in ("first", "fixed", "decreasing", "ucb1", "exp3"):
        for worse in ("chance", "greedy"):
            mean, error = mean_and_error(lost[worse][:, -1] - lost[name][:, -1])
            assert mean > 3 * error, (name, worse)
    mean, error = mean_and_error(lost["chance"][:, -1] - lost["greedy"][:, -1])
    assert mean > 3 * error


@pytest.mark.slow
def test_independent_rewards_are_worth_assuming_where_they_are(lost):
    mean, error = mean_and_error(lost["exp3"][:, -1] - lost["ucb1"][:, -1])
    assert mean > 3 * error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "slope"), [("chance", GAPS.mean()), ("fixed", EPSILON * GAPS.mean()), ("first", 0.0)]
)
def test_late_rounds_cost_what_exploration_costs(lost, name, slope):
    late = (lost[name][:, -1] - lost[name][:, ROUNDS // 2]) / (ROUNDS - 1 - ROUNDS // 2)
    mean, error = mean_and_error(late)
    assert mean == pytest.approx(slope, abs=4 * error + 1e-12)


@pytest.mark.slow
def test_regret_grows_linearly_without_end_or_flattens_as_theory_says(lost):
    growth = {name: r[:, -1].mean() / r[:, ROUNDS // 4 - 1].mean() for name, r in lost.items()}
    for name in ("chance", "greedy", "fixed"):
        assert growth[name] > 3, (
            growth
        )  # 4 is the ratio of the rounds, 2 that of their square roots
    for name in ("ucb1", "decreasing"):
        assert growth[name] < 2, growth


@pytest.mark.slow
def test_regret_of_exp3_grows_like_the_square_root_of_the_horizon():
    ends = [
        regrets(EXP3.for_horizon(K, rounds), MEANS, rounds, RUNS, seed=6)[:, -1].mean()
        for rounds in (1000, 4000)
    ]
    assert 1.5 < ends[1] / ends[0] < 2.7


@pytest.mark.slow
def test_regret_of_ucb1_is_below_its_logarithmic_bound(lost):
    t = np.arange(2, ROUNDS + 1)
    bound = 8 * np.log(t) * (1 / GAPS[1:]).sum() + (1 + np.pi**2 / 3) * GAPS.sum()
    assert (lost["ucb1"].mean(0)[1:] < bound).all()


def switching(rounds):
    """The first arm pays for a third of the rounds, the second afterwards, the third never."""
    table = np.zeros((rounds, 3))
    table[: rounds // 3, 0] = 1
    table[rounds // 3 :, 1] = 1
    return table


def gains(bandit, table, runs):
    """What was paid in all, in every run."""
    played = [play(bandit, table, np.random.default_rng([8, run])) for run in range(runs)]
    return np.array([np.take_along_axis(table, arms, 1).sum() for arms in played])


def test_exp3_follows_an_adversary_who_switches_and_greed_does_not():
    table = switching(900)
    adaptive, error = mean_and_error(gains(EXP3.for_horizon(3, 900), table, 10))
    greedy = gains(Greedy(), table, 10)
    assert greedy.max() <= 300  # all that the first arm pays
    assert adaptive > 300 + 4 * error


@pytest.mark.slow
def test_regret_of_exp3_against_an_adversary_is_below_its_bound():
    found, error = mean_and_error(gains(EXP3.for_horizon(3, 900, share=2 / 3), switching(900), 100))
    least = 600 - 2.63 * np.sqrt(600 * 3 * np.log(3))  # the best single arm pays 600 in all
    assert found > least + 3 * error


@pytest.mark.parametrize("plays", [1, 2, 4])
def test_regret_of_exp3m_is_below_its_bound(plays):
    means, rounds = np.array([0.9, 0.7, 0.6, 0.3, 0.2, 0.1]), 400
    bandit = EXP3M.for_horizon(len(means), rounds, plays)
    best = np.sort(means)[-plays:].sum()
    lost = []
    for run in range(8):
        rng = np.random.default_rng([7, run])
        arms = play(bandit, bernoulli(means, rounds, rng), rng)
        lost.append((best - means[arms].sum(1)).sum())
    bound = 2.63 * np.sqrt(plays * rounds * len(means) * np.log(len(means) / plays))
    chance = rounds * (best - plays * means.mean())
    assert np.mean(lost) < bound
    assert np.mean(lost) < 0.8 * chance
