import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.bandits import EXP3, best_so_far, normalised
from outcrop.errors import BanditError

finite = st.floats(-1.7e308, 1.7e308)


@given(st.lists(finite, min_size=1, max_size=8))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_normalised_rewards_keep_their_order_and_lie_in_the_unit_interval(rewards):
    low, high = min(rewards), max(rewards)
    scaled = normalised(rewards, low, high)
    assert ((scaled >= 0) & (scaled <= 1)).all()
    assert (np.diff(scaled[np.argsort(rewards)]) >= 0).all()
    if low < high:
        assert scaled[np.argmin(rewards)] == 0
        assert scaled[np.argmax(rewards)] == 1


def test_normalised_is_linear_between_its_ends():
    values = np.linspace(-3.0, 7.0, 11)
    np.testing.assert_allclose(normalised(values, -3.0, 7.0), np.interp(values, [-3, 7], [0, 1]))


def test_rewards_on_an_empty_scale_teach_nothing(rng):
    bandit = EXP3(0.3)
    choice = bandit.choose(bandit.init(3), rng)
    after = bandit.update(bandit.init(3), choice, normalised([4.0], 4.0, 4.0))
    assert after == bandit.init(3)


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1e6, 1e6)), max_size=12))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_best_so_far_is_the_largest_value_of_each_arm_from_the_worst_of_these_to_the_best(plays):
    arms, values = [arm for arm, _ in plays], [value for _, value in plays]
    found = best_so_far(arms, values, n_arms=5)
    best = {arm: max(value for other, value in plays if other == arm) for arm in set(arms)}
    for arm in range(5):
        ends = min(best.values(), default=0.0), max(best.values(), default=0.0)
        expected = normalised(best[arm], *ends) if arm in best else 0.0
        assert found[arm] == expected


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(-1e6, -10.0)), max_size=6))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_values_that_are_not_the_best_of_their_arm_do_not_matter(worse):
    """Their scale would otherwise put all arms next to 1 once one value is very bad."""
    arms = [0, 1, 2, *(arm for arm, _ in worse)]
    values = [0.0, 1.0, 4.0, *(value for _, value in worse)]
    np.testing.assert_array_equal(best_so_far(arms, values, n_arms=3), [0.0, 0.25, 1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: normalised([2.0], 0.0, 1.0), r"numbers from low=0\.0 to 1\.0"),
        (lambda: normalised([np.nan], 0.0, 1.0), r"numbers from low=0\.0"),
        (lambda: normalised([0.5], 1.0, 0.0), r"low=1\.0, high=0\.0"),
        (lambda: normalised([0.5], 0.0, np.inf), "high=inf"),
        (lambda: best_so_far([0], [np.nan], 2), "expected finite numbers"),
        (lambda: best_so_far([0, 1], [1.0], 2), r"arms \(2,\) and values \(1,\)"),
        (lambda: best_so_far([2], [1.0], 2), r"arms=\[2\]: expected whole numbers from 0 to 1"),
        (lambda: best_so_far([-1], [1.0], 2), r"arms=\[-1\]"),
        (lambda: best_so_far([0.5], [1.0], 2), r"arms=\[0\.5\]"),
        (lambda: best_so_far([0], [1.0], 0), "n_arms=0"),
    ],
)
def test_what_has_no_place_on_the_scale_is_refused(make, message):
    with pytest.raises(BanditError, match=message):
        make()
