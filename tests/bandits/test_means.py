from itertools import product

import numpy as np
import pytest

from outcrop.bandits import UCB1, ArmChoice, EpsilonFirst, EpsilonGreedy, Greedy, Tally
from tests.bandits.games import bernoulli, play


@pytest.mark.parametrize(
    "bandit", [Greedy(), EpsilonGreedy(0.0), UCB1(), EpsilonFirst(0.0, 9)], ids=repr
)
def test_every_arm_is_played_before_any_is_played_again(bandit, rng):
    arms = play(bandit, rng.random((5, 5)), rng)
    assert sorted(arms[:, 0]) == [0, 1, 2, 3, 4]


def test_greedy_keeps_to_the_arm_whose_first_reward_was_largest(rng):
    table = rng.random((20, 4))
    arms = play(Greedy(), table, rng)[:, 0]
    first = {int(arm): table[t, arm] for t, arm in enumerate(arms[:4])}
    assert set(arms[4:]) == {max(first, key=first.__getitem__)}


def test_greedy_loses_in_the_long_run_what_its_first_rewards_say(rng):
    means = np.array([0.8, 0.5, 0.3])
    expected = 0.0
    for paid in product([0, 1], repeat=3):  # every outcome of the first rounds
        probability = np.prod(np.where(paid, means, 1 - means))
        best = np.flatnonzero(np.equal(paid, max(paid)))
        expected += probability * (means.max() - means[best]).mean()
    last = [means[play(Greedy(), bernoulli(means, 4, rng), rng)[3, 0]] for _ in range(4000)]
    lost = means.max() - np.array(last)
    assert lost.mean() == pytest.approx(expected, abs=4 * lost.std() / np.sqrt(len(lost)))


def test_epsilon_first_without_exploration_is_greedy():
    table = np.random.default_rng(1).random((30, 4))
    played = [
        play(bandit, table, np.random.default_rng(2)) for bandit in (Greedy(), EpsilonFirst(0, 30))
    ]
    np.testing.assert_array_equal(*played)


def test_epsilon_first_explores_for_its_share_of_the_horizon_and_then_stays(rng):
    bandit = EpsilonFirst(0.3, horizon=100)
    state = bandit.init(3)
    table = bernoulli([0.2, 0.7, 0.4], 100, rng)
    totals, counts = np.zeros(3), np.zeros(3)
    for t, paid in enumerate(table):
        p = bandit.probabilities(state)
        if t < 30:
            np.testing.assert_allclose(p, 1 / 3)
        else:
            means = totals / counts
            np.testing.assert_allclose(p, (means == means.max()) / (means == means.max()).sum())
        choice = bandit.choose(state, rng)
        state = bandit.update(state, choice, paid[choice.arm])
        if t < 30:
            totals[choice.arm] += paid[choice.arm]
            counts[choice.arm] += 1
    assert state.rounds == 30


@pytest.mark.parametrize(("epsilon", "horizon", "explored"), [(0.29, 100, 29), (0.1, 19, 1)])
def test_epsilon_first_explores_a_whole_number_of_rounds(epsilon, horizon, explored, rng):
    bandit, table = EpsilonFirst(epsilon, horizon), np.full((horizon, 1), 0.5)
    state = bandit.init(1)
    for paid in table:
        state = bandit.update(state, bandit.choose(state, rng), paid)
    assert state.rounds == explored


def test_epsilon_greedy_plays_the_best_mean_and_each_arm_with_its_share_of_epsilon():
    state = Tally(counts=(2, 5, 1), totals=(1.0, 3.0, 0.1))
    np.testing.assert_allclose(EpsilonGreedy(0.3).probabilities(state), [0.1, 0.8, 0.1])
    np.testing.assert_allclose(EpsilonGreedy(0.0).probabilities(state), [0, 1, 0])
    np.testing.assert_allclose(EpsilonGreedy(1.0).probabilities(state), [1 / 3] * 3)


def test_decreasing_epsilon_is_divided_by_the_round():
    bandit = EpsilonGreedy(4.5, decreasing=True)
    state = Tally(counts=(2, 5, 1), totals=(1.0, 3.0, 0.1))  # the ninth round comes next
    np.testing.assert_allclose(
        bandit.probabilities(state), EpsilonGreedy(0.5).probabilities(state), rtol=1e-14
    )
    np.testing.assert_allclose(bandit.probabilities(bandit.init(3)), [1 / 3] * 3)


def test_ties_are_shared():
    state = Tally(counts=(2, 4, 1), totals=(1.0, 2.0, 0.1))
    np.testing.assert_allclose(EpsilonGreedy(0.0).probabilities(state), [0.5, 0.5, 0])
    np.testing.assert_allclose(UCB1().probabilities(UCB1().init(4)), [0.25] * 4)


def test_ucb1_plays_the_arm_of_the_largest_bound(rng):
    bandit = UCB1()
    state = bandit.init(4)
    table = bernoulli([0.3, 0.6, 0.5, 0.1], 80, rng)
    seen = {arm: [] for arm in range(4)}
    for t, paid in enumerate(table):
        choice = bandit.choose(state, rng)
        if t >= 4:
            bounds = [np.mean(s) + np.sqrt(2 * np.log(t) / len(s)) for s in seen.values()]
            assert bounds[choice.arm] == pytest.approx(max(bounds), rel=1e-12)
        seen[choice.arm].append(paid[choice.arm])
        state = bandit.update(state, choice, paid[choice.arm])


def test_a_state_is_never_changed():
    state = Greedy().init(2)
    Greedy().update(state, ArmChoice((1,), (0.5,)), 0.7)
    assert state == Tally((0, 0), (0.0, 0.0))
