"""The real tasks of the document on modulated surrogates."""

from math import pi

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import network_tuning
from experiments.robot_pushing import goal_of, pushed, robot_pushing
from experiments.searches import problem_of

SMALL = {
    "hidden_layer_sizes": 5.5,
    "alpha": -4.0,
    "batch_size": 5.0,
    "max_iter": 6.0,
    "learning_rate_init": -2.0,
    "power_t": 0.5,
    "momentum": 0.9,
    "beta_1": 0.9,
    "beta_2": 0.999,
}


def test_exponents_become_the_arguments_of_a_network():
    settings = network_tuning._settings(SMALL | {"batch_size": 10.0}, rows=354)
    assert settings["hidden_layer_sizes"] == (45,)
    assert settings["batch_size"] == 354  # not more than there are rows
    assert settings["max_iter"] == 64
    assert settings["learning_rate_init"] == pytest.approx(0.01)
    assert settings["beta_2"] == 0.999


@pytest.mark.parametrize("build", [network_tuning.nn_boston, network_tuning.nn_climate])
def test_a_small_network_has_one_loss_and_learns_better_with_a_sensible_rate(build):
    problem = build()
    assert problem.dimension == 9
    loss = problem(SMALL)
    assert problem(SMALL) == loss
    slow = problem(SMALL | {"learning_rate_init": -5.0, "hidden_layer_sizes": 1.0})
    assert loss < slow <= network_tuning.WORST


def test_the_losses_are_those_of_the_held_out_part():
    assert -1 < problem_of("nn-boston")(SMALL) < -0.7  # minus R²
    _, test, _, labels = network_tuning._split("climate")
    assert test.shape == (162, 20)  # study and run numbers included
    chance = labels.mean()
    constant = -(chance * np.log(chance) + (1 - chance) * np.log(1 - chance))
    assert problem_of("nn-climate")(SMALL | {"max_iter": 8.0, "alpha": -1.0}) < 2 * constant


def test_a_training_that_breaks_down_has_the_worst_loss(monkeypatch):
    class Broken:
        def fit(self, X, y):
            raise ValueError("weights are not finite")

    assert network_tuning._trained(Broken(), np.zeros((2, 1)), np.zeros(2)) is None
    monkeypatch.setattr(network_tuning, "_trained", lambda *arguments: None)
    assert network_tuning.nn_boston()(SMALL) == network_tuning.WORST
    assert network_tuning._cut(float("nan")) == network_tuning._cut(80.0) == network_tuning.WORST


def test_every_run_has_a_goal_of_its_own():
    goals = [goal_of(run) for run in range(50)]
    assert len(set(goals)) == 50
    assert np.abs(goals).max() <= 5
    assert np.abs(np.mean(goals, axis=0)).max() < 1.5
    assert robot_pushing().function.goal == goals[0]


class TestPushes:
    @pytest.fixture(autouse=True)
    def simulator(self):
        pytest.importorskip("Box2D")

    def test_a_push_moves_the_disc_away_from_where_the_hand_started(self):
        x, y = pushed(-3.0, 0.0, time=10.0, angle=0.0)
        assert x > 1.0
        assert abs(y) < 1e-3
        np.testing.assert_allclose(pushed(0.0, 3.0, 10.0, pi / 2), [y, -x], atol=1e-2)

    def test_a_longer_push_takes_the_disc_further(self):
        ends = [pushed(-3.0, 0.0, time, 0.0)[0] for time in (1.0, 5.0, 10.0, 20.0)]
        assert ends == sorted(ends)
        assert pushed(-5.0, -5.0, 1.0, 0.0) == (0.0, 0.0)  # the hand does not reach the disc

    def test_half_a_turn_of_the_hand_changes_nothing(self):
        ends = [pushed(-2.0, 1.0, 8.0, 0.4 + turn) for turn in (0.0, pi)]
        np.testing.assert_allclose(*ends, atol=1e-3)

    def test_the_value_is_the_distance_to_the_goal(self):
        problem = robot_pushing((3.0, 2.0))
        params = {"x": -5.0, "y": -5.0, "time": 1.0, "angle": 0.0}  # too short a push
        assert problem(params) == pytest.approx(np.hypot(3.0, 2.0))
        longer = params | {"time": 12.0}
        assert problem(longer) == problem(longer) != problem(params)
        values = [problem(p) for p in problem.space.sample(np.random.default_rng(0), 100)]
        found = np.min(values), np.median(values), np.max(values)
        assert found == pytest.approx((1.11, 6.22, 25.18), abs=0.01)  # by Box2D 2.3.10
