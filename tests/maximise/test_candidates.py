import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from outcrop.maximise import Maximiser
from outcrop.maximise.candidates import distinct, perturbed, resampled
from outcrop.space import Categorical, Choice, Float, Int, Ordinal, Space
from outcrop.space.enumeration import every, shifted
from tests.space.strategies import spaces

MIXED = Space(
    {
        "x": Float(0, 1),
        "rate": Float(1e-4, 1, log=True),
        "few": Int(0, 4),
        "units": Int(8, 512, log=True),
        "size": Ordinal(["s", "m", "l"]),
        "act": Categorical(["a", "b", "c"]),
        "model": Choice({"none": {}, "deep": {"layers": Int(1, 3), "drop": Float(0, 0.5)}}),
    }
)


def uniform(space, n, seed=0):
    return space.from_uniform(np.random.default_rng(seed).random((n, len(space.columns))))


@settings(max_examples=40, deadline=None)
@given(spaces(), st.integers(0, 100))
def test_candidates_are_legal_and_distinct(space, seed):
    assume(space.columns)
    small = Maximiser(spread=32, perturbations=32)
    X = small.candidates(space, np.random.default_rng(seed), uniform(space, 2, seed))
    np.testing.assert_array_equal(space.snap(X), X)
    assert len(np.unique(X, axis=0)) == len(X)


@settings(max_examples=40, deadline=None)
@given(spaces(), st.integers(0, 100))
def test_perturbed_and_resampled_points_are_legal(space, seed):
    assume(space.columns)
    rng = np.random.default_rng(seed)
    for X in (
        perturbed(space, uniform(space, 3), 20, rng),
        resampled(space, uniform(space, 3), 20, rng),
    ):
        np.testing.assert_array_equal(space.snap(X), X)


def test_a_perturbation_always_changes_something(rng):
    incumbent = uniform(MIXED, 1)
    X = perturbed(MIXED, incumbent, 400, rng)
    assert (incumbent != X).any(1).all()


def test_perturbations_have_scales_from_a_thousandth_to_a_third(rng):
    space = Space({f"x{i}": Float(0, 1) for i in range(10)})
    incumbent = np.full((1, 10), 0.5)
    moves = np.abs(perturbed(space, incumbent, 4000, rng) - incumbent)
    changed = (moves > 0).mean()
    assert abs(changed - 0.3) < 0.02
    low, middle, high = np.quantile(moves[moves > 0], [0.1, 0.5, 0.9])
    # a normal step of log-uniform scale: quantiles by simulation
    scale = np.exp(np.random.default_rng(1).uniform(np.log(1e-3), np.log(0.3), 10**5))
    steps = np.abs(scale * np.random.default_rng(2).standard_normal(10**5))
    np.testing.assert_allclose([low, middle, high], np.quantile(steps, [0.1, 0.5, 0.9]), rtol=0.15)


def test_at_least_two_of_few_coordinates_change_as_a_rule(rng):
    space = Space({f"x{i}": Float(0, 1) for i in range(4)})
    changed = perturbed(space, np.full((1, 4), 0.5), 4000, rng) != 0.5
    expected = (4 * 0.5 + 0.5**4) / 4  # each with probability ½, one if that chose none
    assert abs(changed.mean() - expected) < 0.02


def test_perturbations_reflect_at_the_bounds(rng):
    space = Space({"x": Float(0, 1)})
    X = perturbed(space, np.zeros((1, 1)), 500, rng)
    assert (X > 0).all()  # clipping would leave half of them where they were


@pytest.mark.parametrize("level", [0, 2, 4])
def test_a_discrete_number_moves_by_at_least_a_level(rng, level):
    space = Space({"n": Int(0, 4)})
    X = perturbed(space, np.array([[level / 4]]), 300, rng)
    assert set(X[:, 0]) <= {0, 0.25, 0.5, 0.75, 1} - {level / 4}
    assert set(X[:, 0]) & {(level - 1) / 4, (level + 1) / 4}


def test_a_code_changes_to_each_other_one(rng):
    X = perturbed(Space({"c": Categorical(["a", "b", "c", "d"])}), np.array([[2.0]]), 200, rng)
    assert set(X[:, 0]) == {0.0, 1.0, 3.0}


def test_a_new_option_brings_values_for_what_it_awakes(rng):
    off = MIXED.encode(
        [{"x": 0.5, "rate": 0.1, "few": 2, "units": 64, "size": "m", "act": "a", "model": "none"}]
    ).X
    X = perturbed(MIXED, off, 400, rng)
    drops = X[X[:, 6] == 1.0, 8]
    assert len(drops) > 50
    assert 0.3 < drops.mean() < 0.7
    assert drops.std() > 0.2


def test_the_first_incumbent_is_perturbed_most(rng):
    space = Space({f"x{i}": Float(0, 1) for i in range(3)})
    incumbents = np.array([[0.1] * 3, [0.5] * 3, [0.9] * 3])
    X = perturbed(space, incumbents, 3000, rng)
    nearest = np.abs(np.median(X, axis=1)[:, None] - incumbents[:, 0]).argmin(1)
    first, second, third = np.bincount(nearest)
    assert first > second > third > 300


def test_a_resample_changes_one_coordinate_at_most(rng):
    space = Space({"x": Float(0, 1), "n": Int(0, 50), "c": Categorical(["a", "b", "c"])})
    base = uniform(space, 1)
    changed = resampled(space, base, 300, rng) != base
    assert (changed.sum(1) <= 1).all()
    assert changed.any(0).all()


def test_distinct_keeps_the_first_of_equal_rows():
    X = np.array([[0.5, 1.0], [0.0, 1.0], [0.5, 1.0], [0.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(distinct(X), X[[0, 1, 3]])


@settings(max_examples=60, deadline=None)
@given(spaces())
def test_enumeration_is_complete_and_without_repeats(space):
    assume(space.size is not None and space.size <= 20_000)
    X = every(space)
    assert len(X) == space.size
    assert len(set(space.keys(X))) == space.size
    np.testing.assert_array_equal(space.snap(X), X)


@pytest.mark.parametrize("parameter", [Int(3, 12), Int(3, 300, log=True), Float(0, 1, step=0.125)])
def test_shifted_moves_along_the_grid_and_stops_at_its_ends(parameter):
    (column,) = Space({"n": parameter}).columns
    grid = column.grid
    assert grid is not None
    for steps in (-2, -1, 0, 1, 3):
        indices = np.clip(np.arange(len(grid)) + steps, 0, len(grid) - 1)
        np.testing.assert_array_equal(shifted(column, grid, steps), grid[indices])
