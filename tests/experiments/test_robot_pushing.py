"""Robot pushing, where Box2D is installed."""

from importlib.util import find_spec

import numpy as np
import pytest

robot_pushing = pytest.importorskip("experiments.robot_pushing")

# Not `importorskip`, which would import it while its warnings are errors.
simulated = pytest.mark.skipif(find_spec("Box2D") is None, reason="needs Box2D")
CENTRAL = {"x": -3.0, "y": 0.0, "duration": 8.0, "angle": 0.0}


def test_goals_of_runs_differ_and_are_within_reach():
    goals = np.array([robot_pushing.goal_of(run) for run in range(200)])
    assert len(np.unique(goals, axis=0)) == 200
    assert (np.abs(goals) <= 5).all()
    np.testing.assert_allclose(goals.mean(0), 0.0, atol=0.8)  # four standard errors
    np.testing.assert_allclose(goals.std(0), 10 / np.sqrt(12), rtol=0.15)


@simulated
def test_a_central_push_moves_the_disc_straight_ahead_and_a_longer_one_further():
    push = robot_pushing.Push((0.0, 0.0))
    ends = [push.end({**CENTRAL, "duration": duration}) for duration in (4.0, 8.0, 16.0)]
    distances = [x for x, _ in ends]
    assert 1.0 < distances[0] < distances[1] < distances[2]
    np.testing.assert_allclose([y for _, y in ends], 0.0, atol=1e-3)
    # In the end the drive, 30 · 0.12 · (10 − u), balances the frictions 5 and 2: u = 10 − 7/3.6.
    assert distances[2] - distances[1] == pytest.approx(80 * 0.01 * (10 - 7 / 3.6), abs=0.01)


@simulated
def test_the_value_is_the_distance_of_the_disc_to_the_goal():
    x, y = robot_pushing.Push((0.0, 0.0)).end(CENTRAL)
    assert robot_pushing.Push((x, y))(CENTRAL) == pytest.approx(0.0, abs=1e-6)
    assert robot_pushing.Push((x - 3.0, y + 4.0))(CENTRAL) == pytest.approx(5.0)


@simulated
def test_a_push_that_is_mirrored_or_turned_has_the_end_mirrored_or_turned():
    push = robot_pushing.Push((0.0, 0.0))
    one = {"x": -3.0, "y": 0.4, "duration": 6.0, "angle": 0.3}
    x, y = push.end(one)
    assert abs(y) > 0.1
    mirrored = push.end({**one, "y": -one["y"], "angle": 2 * np.pi - one["angle"]})
    np.testing.assert_allclose(mirrored, (x, -y), atol=0.02)
    turned = push.end({**one, "x": -one["y"], "y": one["x"], "angle": one["angle"] + np.pi / 2})
    np.testing.assert_allclose(turned, (-y, x), atol=0.02)


@simulated
def test_random_pushes_are_those_of_the_source():
    """For the goal (3, 2), 400 random pushes end 6.0 away in the median, at most 26."""
    problem = robot_pushing.robot_pushing(run=3)
    points = problem.space.sample(np.random.default_rng(0), 400)
    values = np.array([robot_pushing.Push((3.0, 2.0))(params) for params in points])
    assert np.median(values) == pytest.approx(6.0, abs=0.5)
    assert values.min() < 0.6
    assert 22 < values.max() < 27
    assert problem(points[0]) == problem(points[0])
    assert np.isfinite(problem({"x": 0.0, "y": 0.0, "duration": 9.0, "angle": 1.0}))


@simulated
def test_half_a_turn_of_the_hand_changes_nothing_and_a_short_push_moves_nothing():
    push = robot_pushing.Push((0.0, 0.0))
    one = {"x": -2.0, "y": 1.0, "duration": 8.0, "angle": 0.4}
    np.testing.assert_allclose(push.end(one), push.end({**one, "angle": 0.4 + np.pi}), atol=1e-3)
    assert push.end({"x": -5.0, "y": -5.0, "duration": 1.0, "angle": 0.0}) == (0.0, 0.0)
