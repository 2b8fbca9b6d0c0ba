import json

import numpy as np
import pytest

import outcrop as oc
from outcrop.bandits import (
    EXP3,
    EXP3M,
    UCB1,
    ArmChoice,
    EpsilonFirst,
    EpsilonGreedy,
    Greedy,
    LogWeights,
    Tally,
    rate,
)
from outcrop.errors import BanditError

EVERY_BANDIT = [
    Greedy(),
    EpsilonFirst(0.3, horizon=40),
    EpsilonGreedy(0.2),
    EpsilonGreedy(9.0, decreasing=True),
    UCB1(),
    EXP3(0.2),
    EXP3M(0.2, plays=2),
]
BOUNDED = [UCB1(), EXP3(0.2), EXP3M(0.2, plays=1)]
UNBOUNDED = [
    Greedy(),
    EpsilonFirst(0.3, horizon=40),
    EpsilonGreedy(0.2),
    UCB1(raw=True),
    EXP3(0.2, raw=True),
    EXP3M(0.2, plays=1, raw=True),
]
ONE = ArmChoice((0,), (0.5,))


def test_bandits_are_public():
    assert oc.bandits.EXP3 is EXP3


@pytest.mark.parametrize("bandit", EVERY_BANDIT, ids=repr)
def test_a_game_goes_on_from_json_as_if_it_had_not_been_stored(bandit):
    table = np.random.default_rng(3).random((40, 5))
    rng, rng_stored = np.random.default_rng(4), np.random.default_rng(4)
    state = stored = bandit.init(5)
    for paid in table:
        choice, again = bandit.choose(state, rng), bandit.choose(stored, rng_stored)
        again = ArmChoice.from_json(json.loads(json.dumps(again.to_json(), allow_nan=False)))
        assert again == choice
        state = bandit.update(state, choice, paid[list(choice.arms)])
        stored = bandit.update(stored, again, paid[list(again.arms)])
        text = json.dumps(stored.to_json(), allow_nan=False)
        stored = type(state).from_json(json.loads(text))
        assert stored == state


def test_numpy_numbers_are_written_as_plain_ones():
    state = Tally(tuple(np.array([1, 2])), tuple(np.array([0.5, 1.5])))
    assert json.dumps(state.to_json()) == '{"counts": [1, 2], "totals": [0.5, 1.5]}'


@pytest.mark.parametrize("bandit", EVERY_BANDIT, ids=repr)
@pytest.mark.parametrize("reward", [np.nan, np.inf, -np.inf, 1e301, None, "much", 1j])
def test_a_reward_that_is_no_finite_number_is_refused(bandit, reward):
    state = bandit.init(3)
    with pytest.raises(BanditError, match=r"reward=.*expected"):
        bandit.update(state, ONE, reward)


@pytest.mark.parametrize("bandit", BOUNDED, ids=repr)
@pytest.mark.parametrize("reward", [-0.01, 1.01, 37])
def test_a_reward_outside_the_unit_interval_is_refused_by_those_that_need_it_inside(bandit, reward):
    with pytest.raises(BanditError, match=r"from 0 to 1; use `bandits.normalised`, or .*raw=True"):
        bandit.update(bandit.init(3), ONE, reward)


@pytest.mark.parametrize("bandit", UNBOUNDED, ids=repr)
def test_a_reward_outside_the_unit_interval_is_taken_by_the_others(bandit):
    better = bandit.update(bandit.init(3), ONE, 37.0)
    worse = bandit.update(bandit.init(3), ONE, -37.0)
    assert better != worse


@pytest.mark.parametrize("bandit", EVERY_BANDIT, ids=repr)
def test_an_arm_that_does_not_exist_is_refused(bandit):
    with pytest.raises(BanditError, match="arm 3 does not exist: this state has 3 arms"):
        bandit.update(bandit.init(3), ArmChoice((3,), (0.5,)), 0.5)


@pytest.mark.parametrize("bandit", EVERY_BANDIT, ids=repr)
@pytest.mark.parametrize("n_arms", [0, -1, 2.0, "3", None, True])
def test_a_number_of_arms_that_is_none_is_refused(bandit, n_arms):
    with pytest.raises(BanditError, match=r"n_arms=.*whole number of at least 1"):
        bandit.init(n_arms)


@pytest.mark.parametrize("reward", [[0.5], [0.5, 0.5, 0.5], 0.5, [[0.5], [0.5]]])
def test_rewards_must_be_as_many_as_the_arms(reward):
    bandit = EXP3M(0.1, plays=2)
    with pytest.raises(BanditError, match=r"one number for each of the arms \(2, 0\)"):
        bandit.update(bandit.init(3), ArmChoice((2, 0), (0.5, 0.5)), reward)


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan, "0.1", None, True])
def test_a_share_outside_the_unit_interval_is_refused(share):
    for make in (
        EXP3,
        lambda gamma: EXP3M(gamma, plays=2),
        EpsilonGreedy,
        lambda epsilon: EpsilonFirst(epsilon, 10),
        lambda share: EXP3.for_horizon(3, 10, share=share),
        lambda probability: ArmChoice((0,), (probability,)),
    ):
        with pytest.raises(BanditError, match=r"(gamma|epsilon|share|probability)=.*from 0 to 1"):
            make(share)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EXP3M(0.1, plays=4).init(3), "plays=4: expected at most n_arms=3"),
        (lambda: EXP3M.for_horizon(3, 10, plays=4), "plays=4: expected at most n_arms=3"),
        (lambda: EXP3M(0.1, plays=0), "plays=0: .*at least 1"),
        (lambda: EXP3M(0.1, plays=1.5), "plays=1.5: expected a whole number"),
        (lambda: EXP3M(0.1, plays=3).probabilities(LogWeights((0.0, 1.0))), "plays=3: .*n_arms=2"),
        (lambda: EXP3.for_horizon(3, 0), "horizon=0"),
        (lambda: EpsilonFirst(0.1, horizon=0), "horizon=0"),
        (lambda: EpsilonGreedy(-1.0, decreasing=True), "epsilon=-1.0: .*at least 0"),
        (lambda: EpsilonGreedy(np.inf, decreasing=True), "epsilon=inf"),
        (lambda: rate(3, gain=0.0), r"gain=0\.0: expected a positive number"),
        (lambda: rate(3, gain=np.nan), "gain=nan"),
        (lambda: ArmChoice((), ()), "one or more different arms"),
        (lambda: ArmChoice((1, 1), (0.5, 0.5)), "one or more different arms"),
        (lambda: ArmChoice((-1,), (0.5,)), "arm=-1"),
        (lambda: ArmChoice((1,), (0.0,)), "probability 0"),
        (lambda: ArmChoice((1,), (0.5, 0.5)), "one probability for each of 1 arms"),
        (lambda: ArmChoice((1, 2), (0.5, 0.5)).arm, r"2 arms, \(1, 2\): use `arms`"),
        (lambda: Tally((), ()), "a count and a total for each arm"),
        (lambda: Tally((1,), (1.0, 2.0)), "a count and a total for each arm"),
        (lambda: Tally((1.5,), (1.0,)), "count=1.5"),
        (lambda: Tally((1,), (np.nan,)), "finite numbers"),
        (lambda: LogWeights(()), "a finite number per arm"),
        (lambda: LogWeights((np.inf,)), "a finite number per arm"),
        (lambda: LogWeights.from_json({"weights": [1.0]}), r"stored LogWeights: .*\['logs'\]"),
        (lambda: LogWeights.from_json([1.0]), "stored LogWeights"),
        (lambda: LogWeights.from_json({"logs": 3.0}), "LogWeights cannot be read"),
        (lambda: LogWeights.from_json({"logs": ["1"]}), "a finite number per arm"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(make, message):
    with pytest.raises(BanditError, match=message):
        make()
