"""Whole searches: what is found, what is repeated, what fails."""

import numpy as np
import pytest

import outcrop as oc
from outcrop import problems
from outcrop.errors import SpaceExhausted
from tests.space.strategies import spaces
from tests.strategies.spaces import EVERY_SPACE

LEVELS = oc.Space(
    {
        "a": oc.Int(1, 8),
        "b": oc.Categorical(["x", "y", "z", "w"]),
        "c": oc.Ordinal([1, 2, 4, 8, 16, 32]),
    }
)


def levels(params):
    return (params["a"] - 5) ** 2 + "xyzw".index(params["b"]) + np.log2(params["c"])


def failures(seed, trials=60):
    """How many trials fail on a bowl whose evaluations all fail where x₀ < 0.45."""
    space = oc.Space({f"x{i}": oc.Float(0, 1) for i in range(5)})

    def bowl(params):
        if params["x0"] < 0.45:
            raise ValueError("diverged")
        return sum((x - 0.3) ** 2 for x in params.values())

    optimizer = oc.Optimizer(space, seed=seed)
    for _ in range(trials):
        trial = optimizer.ask()
        try:
            optimizer.tell(trial, bowl(trial.params))
        except ValueError as error:
            optimizer.fail(trial, str(error))
    return sum(trial.state == "failed" for trial in optimizer.trials)


def used_up(seed, space=LEVELS):
    """Trials until the optimum of a space, which is used up to the last point."""
    optimizer = oc.Optimizer(space, seed=seed, noise=False)
    keys, values = set(), []
    for _ in range(space.size):
        trial = optimizer.ask()
        keys.add(space.key(trial.params))
        values.append(levels(trial.params))
        optimizer.tell(trial, values[-1])
    assert len(keys) == space.size
    with pytest.raises(SpaceExhausted):
        optimizer.ask()
    return values.index(0.0) + 1


def regret(name, trials, seed):
    problem = problems.get(name)
    result = oc.minimize(problem, problem.space, trials, seed=seed, noise=False)
    return result.best_value - problem.minimum


def test_a_smooth_function_of_two_numbers_is_solved_in_30_trials():
    assert regret("branin", 30, seed=0) < 0.05


def test_failures_are_avoided_once_seen():
    assert failures(seed=0, trials=30) <= 10  # 13.5 by chance


def test_a_small_space_is_used_up_without_repeating_a_point():
    few = oc.Space({"a": oc.Int(3, 5), "b": LEVELS.declared["b"], "c": oc.Ordinal([1, 2])})
    assert few.size == 24
    assert used_up(0, few) <= 12


def test_asks_without_a_tell_give_different_points():
    for space in (LEVELS, EVERY_SPACE["conditional"]):
        optimizer = oc.Optimizer(space, seed=3, noise=False)
        rng = np.random.default_rng(0)
        optimizer.add(space.sample(rng, 14), rng.normal(size=14).tolist())
        assert len({space.key(trial.params) for trial in optimizer.ask(4)}) == 4


def test_a_constant_objective_and_values_that_are_none_do_not_stop_the_search():
    for value in (3.0, float("nan"), float("inf"), -float("inf")):
        optimizer = oc.Optimizer(EVERY_SPACE["mixed"], seed=1)
        for _ in range(14):
            optimizer.tell(optimizer.ask(), value)
        EVERY_SPACE["mixed"].validate(optimizer.ask().params)


def test_a_space_of_one_point_is_tried_once():
    optimizer = oc.Optimizer(oc.Space({"k": oc.Fixed(3)}), seed=0, noise=False)
    optimizer.tell(optimizer.ask(), 1.0)
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


@pytest.mark.parametrize("space", ["box", "mixed"])
def test_a_search_is_reproducible_with_running_trials(space):
    def asked():
        optimizer = oc.Optimizer(EVERY_SPACE[space], seed=9)
        rng, running = np.random.default_rng(1), []
        for _ in range(12):
            running.append(optimizer.ask())
            if len(running) > 2:
                optimizer.tell(running.pop(0), float(rng.normal()))
        return [dict(trial.params) for trial in optimizer.trials]

    assert asked() == asked()


def torture(space, rng, rounds):
    """Asks and tells of a random kind: whatever comes, the next ask is legal."""
    noise = [None, True, False][rng.integers(3)]
    optimizer = oc.Optimizer(space, seed=int(rng.integers(1 << 30)), noise=noise)
    for _ in range(rounds):
        try:
            trials = optimizer.ask(int(rng.integers(1, 4)))
        except SpaceExhausted as error:
            return space.size is not None or "continuum" in str(error)  # one of a few floats
        for trial in trials:
            space.validate(trial.params)
            kind = rng.integers(5)
            if kind == 0:
                optimizer.fail(trial, "by lot")
            elif kind == 1:
                optimizer.tell(trial, float(rng.choice([np.nan, np.inf, -np.inf])))
            elif kind < 4:
                scale = float(rng.choice([0.0, 1.0, 1e300, 1e-300]))
                optimizer.tell(trial, scale * float(rng.normal()))
    return True


@pytest.mark.slow
def test_200_random_spaces_and_five_rounds_each_never_break_an_ask():
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    @given(space=spaces(depth=3), seed=st.integers(0, 10**6))
    @settings(
        max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    def check(space, seed):
        assert torture(space, np.random.default_rng(seed), rounds=5)

    check()


@pytest.mark.slow
def test_1000_random_data_sets_never_break_an_ask():
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        space = EVERY_SPACE[sorted(EVERY_SPACE)[seed % len(EVERY_SPACE)]]
        optimizer = oc.Optimizer(space, seed=seed)
        n = int(rng.integers(1, 25))
        values = rng.choice([0.0, 1.0, -1e300, 1e300, 1e-300, 2.5], n) * rng.choice(
            [1.0, rng.random()]
        )
        optimizer.add(space.sample(rng, n), values.tolist())
        try:
            space.validate(optimizer.ask().params)
        except SpaceExhausted:
            assert space.size is not None
            assert space.size <= n


@pytest.mark.slow
def test_at_most_15_of_60_trials_fail_where_27_would_by_chance():
    assert np.median([failures(seed) for seed in range(20)]) <= 15


@pytest.mark.slow
def test_the_optimum_of_192_points_is_found_by_trial_20():
    assert np.median([used_up(seed) for seed in range(10)]) <= 20
