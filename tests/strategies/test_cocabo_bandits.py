"""What the bandits learn, and how levels of a batch are drawn."""

import numpy as np
import pytest

import outcrop as oc
from outcrop.strategies import CoCaBO, strategy_for
from outcrop.testing import view_of
from tests.strategies.cocabo import FAST, MIXED, STILL, Loop, example, run, value
from tests.strategies.spaces import EVERY_SPACE

# What bandits learn


def test_weights_are_those_of_exp3_on_the_best_value_of_each_level():
    loop = Loop(MIXED, CoCaBO(FAST, horizon=50), started=6)
    gamma = {k: min(1.0, np.sqrt(k * np.log(k) / ((np.e - 1) * 2 / 3 * 50))) for k in (3, 5)}
    expected = {"a": np.zeros(3), "b": np.zeros(5)}
    for seed in range(12):
        found, x = loop.ask(seed)
        for name, column in (("a", 1), ("b", 2)):
            arms = len(expected[name])
            odds = np.exp(expected[name]) / np.exp(expected[name]).sum()
            odds = (1 - gamma[arms]) * odds + gamma[arms] / arms
            arm = int(x[column])
            assert found.why["drawn"][name] == pytest.approx(odds[arm], rel=1e-12)
            lowest = {}
            for row, y in [*zip(loop.X, loop.y, strict=True), (x, np.sin(9 * x.sum()))]:
                lowest[row[column]] = min(y, lowest.get(row[column], np.inf))
            worst, best = max(lowest.values()), min(lowest.values())
            reward = (worst - lowest[arm]) / (worst - best)
            expected[name][arm] += gamma[arms] * reward / (odds[arm] * arms)
        loop.tell(x, np.sin(9 * x.sum()))
    for name, logs in loop.weights().items():
        np.testing.assert_allclose(logs, expected[name], rtol=1e-12)


@pytest.mark.parametrize(("reward", "least"), [("scaled", 0.3), ("raw", 0.3)])
def test_a_heavy_tail_of_bad_values_leaves_rewards_apart(reward, least):
    """On the scale from the worst to the best of all values each would be 0.995 or more."""
    settings = CoCaBO(FAST, reward=reward)
    strategy = strategy_for(settings, MIXED)
    X = np.array([[0.1 * i, i % 3, i % 5] for i in range(9)])
    y = np.array([0.0, 0.5, 1.0, 80.0, 200.0, 40.0, 0.2, 150.0, 90.0])  # best by level: 0, 0.5, 1
    view = view_of(MIXED, X, y)
    column = strategy._categories[0]
    rewards = [strategy._reward(view, column, level) for level in range(3)]
    assert np.std(rewards) > least
    assert np.argsort(rewards).tolist() == [2, 1, 0]
    expected = [1.0, 0.5, 0.0] if reward == "scaled" else [0.0, -0.5, -1.0]
    np.testing.assert_allclose(rewards, expected)


def test_raw_rewards_are_the_objectives_values_with_the_sign_in_which_larger_is_better():
    loop = Loop(MIXED, CoCaBO(FAST, gamma=0.6, reward="raw"), started=6)
    _, x = loop.ask(0)
    loop.tell(x, -7.0)  # the best yet
    logs = loop.weights()["a"]
    assert logs[int(x[1])] == pytest.approx(0.6 * 7.0)  # γ r / (p K), p = 1/K
    huge = Loop(MIXED, CoCaBO(FAST, gamma=0.6, reward="raw"), started=6)
    huge.y = [1e305] * 6
    _, x = huge.ask(0)
    huge.tell(x, -1e305)
    assert np.isfinite(huge.weights()["a"]).all()


def test_a_level_is_rewarded_once_and_when_its_trial_has_a_value():
    loop = Loop(MIXED, CoCaBO(FAST), started=6)
    first, x = loop.ask(0)
    _, other = loop.ask(1)
    assert not any(logs.any() for logs in loop.weights().values())  # both are running
    loop.tell(x, -1.0)
    after = loop.weights()
    assert {name for name, logs in after.items() if logs.any()} == set(first.why["drawn"])
    for name, column in (("a", 1), ("b", 2)):
        assert np.flatnonzero(after[name]).tolist() == [x[column]]
    _, third = loop.ask(2)
    np.testing.assert_equal(loop.weights(), after)
    loop.fail(other)
    loop._end(third)  # given back
    np.testing.assert_equal(loop.weights(), after)
    assert loop.strategy.propose(loop.view(), np.random.default_rng(0)).warm["running"][:-1] == []


def test_a_category_that_is_not_active_earns_nothing():
    space = EVERY_SPACE["conditional"]
    loop = Loop(space, CoCaBO(STILL, gamma=0.9), started=24)  # every level has a value
    before = {name: np.zeros_like(logs) for name, logs in loop.weights().items()}
    assert list(before) == ["model", "model.mlp.act", "model.mlp.opt"]
    seen = set()
    for seed in range(12):
        found, x = loop.ask(seed)
        assert set(found.why["drawn"]) == {name for name in before if name in found.params}
        loop.tell(x, float(-seed))  # the best yet, so that each level it has earns 1
        after = loop.weights()
        changed = {name for name in before if (after[name] != before[name]).any()}
        assert changed == set(found.why["drawn"])
        before = after
        seen.add(len(changed))
    assert seen == {1, 3}


def test_results_from_elsewhere_count_towards_what_is_best_but_reward_no_draw():
    loop = Loop(MIXED, CoCaBO(FAST), started=6)
    _, x = loop.ask(0)
    loop.X.append(np.array([0.77, x[1], x[2]]))
    loop.y.append(-50.0)
    assert not any(logs.any() for logs in loop.weights().values())
    loop.tell(x, 1.0)
    logs, odds = loop.weights()["a"], 1 / 3
    gamma = strategy_for(CoCaBO(FAST), MIXED).settings.bandit(3).gamma
    assert logs[int(x[1])] == pytest.approx(gamma / (odds * 3))  # a reward of 1


def test_equal_values_teach_nothing():
    loop = Loop(MIXED, CoCaBO(FAST), started=6)
    loop.y = [2.5] * 6
    for seed in range(3):
        _, x = loop.ask(seed)
        loop.tell(x, 2.5)
    assert not any(logs.any() for logs in loop.weights().values())


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_extreme_values_are_rewarded_as_others(scale):
    loops = [Loop(MIXED, CoCaBO(FAST, gamma=0.5), started=6) for _ in range(2)]
    loops[1].y = [scale * y for y in loops[1].y]
    for loop, unit in zip(loops, (1.0, scale), strict=True):
        _, x = loop.ask(0)
        loop.tell(x, unit * 0.3)
    one, two = (loop.weights() for loop in loops)
    for name, logs in one.items():
        np.testing.assert_allclose(two[name], logs, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "levels", "gamma"),
    [
        ({}, 17, np.sqrt(17 * np.log(17) / ((np.e - 1) * 2 / 3 * 200))),
        ({"horizon": 10}, 17, 1.0),
        (
            {"batch": 4, "horizon": 320},
            17,
            np.sqrt(17 * np.log(17 / 4) / ((np.e - 1) * 4 * 160 / 3)),
        ),
        ({"batch": 4}, 4, 0.0),
        ({"batch": 4}, 3, 1.0),
        ({"batch": 4, "gamma": 0.3}, 3, 0.3),
        ({"gamma": 0.0}, 5, 0.0),
    ],
)
def test_the_rate_follows_from_the_horizon_unless_it_is_given(settings, levels, gamma):
    assert CoCaBO(**settings).bandit(levels).gamma == pytest.approx(gamma, rel=1e-12)


# Batches


@pytest.mark.parametrize("batch", [1, 2, 4, 8])
@pytest.mark.parametrize("noise", [False, True])
def test_points_asked_for_together_are_unique(batch, noise):
    optimizer = run(MIXED, CoCaBO(STILL, batch=batch), 5, noise=noise)
    trials = optimizer.ask(4) + optimizer.ask(4)
    assert len({MIXED.key(trial.params) for trial in trials}) == 8


def test_levels_of_a_batch_are_drawn_together_and_differ_if_there_are_enough():
    optimizer = run(MIXED, CoCaBO(FAST, batch=4), 4)
    for _ in range(3):
        trials = optimizer.ask(4)
        assert len({trial.params["b"] for trial in trials}) == 4
        for trial in trials:
            optimizer.tell(trial, value(optimizer, trial))


def test_a_batch_goes_on_as_it_was_drawn_whatever_is_told_meanwhile():
    loop = Loop(MIXED, CoCaBO(FAST, batch=4), started=6)
    _, x = loop.ask(0)
    drawn = [(row["a"][0], row["b"][0]) for row in loop.warm["plan"]]
    assert len(drawn) == 3
    loop.tell(x, -5.0)
    found = []
    for seed in range(3):
        _, x = loop.ask(seed)
        found.append((x[1], x[2]))
        loop.tell(x, -6.0 - seed)
    assert found == drawn
    assert loop.warm["plan"] == []


def test_a_batch_holds_nothing_twice_though_noise_would_allow_it():
    space = oc.Space({"n": oc.Int(1, 4), "c": oc.Categorical(["u", "v"])})
    loop = Loop(space, CoCaBO(FAST, batch=8, gamma=1.0), started=5, noise=True)
    found = []
    for seed in range(8):
        _, x = loop.ask(seed)
        found.append(tuple(x))
        loop.tell(x, float(seed))  # at once, so that nothing is running
    assert len(set(found)) == 8
    _, again = loop.ask(9)
    assert tuple(again) in set(found)  # the next batch may look twice


def test_rows_of_a_batch_are_not_sorted():
    """Sets of levels are drawn in order, and would pair low levels with low ones."""
    space = oc.Space({"x": oc.Float(0, 1), **{n: oc.Categorical(range(8)) for n in "ab"}})
    strategy = strategy_for(CoCaBO(STILL, batch=4, gamma=1.0), space)
    view = example(space, failed=0)
    pairs = []
    for seed in range(40):
        warm = strategy.propose(view, np.random.default_rng(seed)).warm
        pairs += [(row["a"][0], row["b"][0]) for row in warm["plan"]]
    correlation = np.corrcoef(np.array(pairs).T)[0, 1]
    assert abs(correlation) < 0.35  # of sorted ones 0.7; four standard errors of 120 pairs
