"""The time for one suggestion: when it ends, and that an end that was recorded comes again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from outcrop.effort import UNLIMITED, Effort
from outcrop.inference import MAP, Laplace, Slice, slice_sweep
from outcrop.maximise import Maximiser
from outcrop.maximise.limited import Limited
from outcrop.space import Categorical, Float, Int, Space
from outcrop.typing import Vector
from tests.clocks import Ticking
from tests.inference.targets import Gaussian


def test_without_a_limit_nothing_is_cut_or_recorded():
    assert Effort.within(None) is UNLIMITED is Effort.recorded(())
    assert not any(UNLIMITED.is_spent("steps") for _ in range(9))
    assert UNLIMITED.parts(1, 1) == (UNLIMITED, UNLIMITED)
    assert UNLIMITED.cuts == ()


@pytest.mark.parametrize("seconds", [0.5, 7.0, 20.0, 1000.0])
def test_a_recorded_effort_gives_the_same_answers(seconds):
    def answers(effort):
        one, other = effort.parts(1, 1)
        inner = other.parts(1, 1)
        asked = [one] * 9 + [inner[0]] * 5 + [one] * 2 + [inner[1]] * 9 + [effort] * 9
        return [part.is_spent("steps") for part in asked]

    timed = Effort.within(seconds, clock=Ticking())
    expected = answers(timed)
    again = Effort.recorded(timed.cuts)
    assert answers(again) == expected
    assert (again.cuts, again.cut_short) == (timed.cuts, timed.cut_short)


def test_parts_end_one_after_the_other_and_leave_their_rest_to_the_next():
    clock = Ticking(step=0.0)
    first, second = Effort.within(8.0, clock).parts(3, 1)
    early, late = second.parts(1, 1)
    ends = {}
    for clock.now in np.arange(0.0, 10.0, 0.5):
        for name, part in {"first": first, "early": early, "late": late}.items():
            if part.is_spent(name):
                ends.setdefault(name, clock.now)
    assert ends == {"first": 6.0, "early": 7.0, "late": 8.0}


def test_the_steps_made_are_counted_for_what_was_cut_only():
    effort = Effort.within(5.0, clock=Ticking())
    assert not effort.is_spent("draws")
    assert [effort.is_spent("updates") for _ in range(6)] == [False] * 3 + [True] * 3
    assert dict(effort.cut_short) == {"updates": 3}


def test_a_sweep_that_is_cut_moves_as_many_coordinates_as_it_had_time_for():
    def density(theta):
        return float(-theta @ theta)

    whole = slice_sweep(density, np.zeros(6), 0.0, np.ones(6), np.random.default_rng(3))
    cut = slice_sweep(
        density,
        np.zeros(6),
        0.0,
        np.ones(6),
        np.random.default_rng(3),
        effort=Effort.recorded([4]),
    )
    order = np.random.default_rng(3).permutation(6)
    np.testing.assert_array_equal(cut.theta[order[:4]], whole.theta[order[:4]])
    assert not cut.theta[order[4:]].any()
    assert np.isnan(cut.brackets[order[4:]]).all()
    assert cut.log_value == density(cut.theta)


@dataclass(frozen=True)
class Counted(Gaussian):
    """A target that keeps the points at which its likelihood is evaluated."""

    evaluated: list[Vector] = field(default_factory=list)

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        self.evaluated.append(theta.copy())
        return super().log_likelihood_with_gradient(theta)


@pytest.mark.parametrize("inference", [Slice(chains=3), MAP(), Laplace()], ids=repr)
@pytest.mark.parametrize("cut", [0, 5, 40])
def test_an_inference_that_is_cut_has_draws_of_finite_density(inference, cut):
    counts = {}
    for effort in (UNLIMITED, Effort.recorded([cut])):
        target = Counted(2 * np.eye(3), np.array([0.5, -1.0, 2.0]), 0.01 * np.eye(3))
        draws = inference.within(effort).infer(target, np.random.default_rng(1))
        assert np.isfinite(draws.log_densities).all()
        counts[effort is UNLIMITED] = len(target.evaluated)
    assert counts[False] < counts[True]


class Ridge:
    """A function with its best value at 0.7 in all columns, and how many rows it was given."""

    def __init__(self):
        self.rows = 0

    def __call__(self, X):
        self.rows += len(X)
        return -np.square(X - 0.7).sum(1)

    def with_gradient(self, X):
        return self(X), -2 * (X - 0.7)


SPACES = [
    Space({"x": Float(0, 1), "y": Float(0, 1)}),
    Space({"x": Float(0, 1), "n": Int(0, 200), "c": Categorical(["a", "b", "c"])}),
    Space({"c": Categorical(["a", "b", "c"]), "d": Categorical(["a", "b"])}),
]


@pytest.mark.parametrize("space", SPACES, ids=["numbers", "mixed", "finite"])
@pytest.mark.parametrize("cut", [0, 1, 2, 6])
def test_a_search_that_is_cut_ends_at_the_best_point_evaluated(space, cut):
    function = Ridge()
    limited = Limited(function, Effort.recorded([cut]))
    found = Maximiser()(limited, space, np.random.default_rng(0))
    seen = np.concatenate([values for _, values in limited._seen])
    assert found.value == seen.max() == Ridge()(found.point[None])[0]
    assert function.rows == len(seen)


def test_a_search_in_time_is_what_it_is_without_a_limit():
    for space in SPACES:
        points = [
            Maximiser()(function, space, np.random.default_rng(0)).point.tobytes()
            for function in (Ridge(), Limited(Ridge(), Effort.within(1e9, Ticking())))
        ]
        assert points[0] == points[1]
