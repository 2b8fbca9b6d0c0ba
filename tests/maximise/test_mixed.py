import itertools

import numpy as np

from outcrop.maximise.base import Scored
from outcrop.maximise.mixed import climbable, climbed, rounded
from outcrop.space import Categorical, Choice, Float, Int, Space
from tests.maximise.functions import Waves

SPACE = Space(
    {
        "x": Float(0, 1),
        "few": Int(0, 10),
        "many": Int(0, 100),
        "log": Int(1, 1000, log=True),
        "act": Categorical(["a", "b", "c"]),
        "model": Choice({"none": {}, "deep": {"drop": Float(0, 1), "layers": Int(1, 40)}}),
    }
)


def test_numbers_with_many_levels_climb_while_they_are_active():
    X = SPACE.from_uniform(np.full((2, 8), 0.4))
    X[1, 5] = 1.0
    expected = [True, False, True, True, False, False]
    np.testing.assert_array_equal(
        climbable(SPACE, X), [[*expected, False, False], [*expected, True, True]]
    )
    np.testing.assert_array_equal(climbable(SPACE, X, relax=False).sum(1), [1, 2])


def test_rounding_offers_every_corner_of_the_cell_and_the_nearest_first():
    space = Space({"x": Float(0, 1), "many": Int(0, 100), "log": Int(1, 1000, log=True)})
    grid = space.columns[2].grid
    assert grid is not None
    X = np.array([[0.123, 0.4271, 0.9 * grid[6] + 0.1 * grid[7]]])
    (around,) = rounded(space, X, np.ones(X.shape, dtype=bool))
    corners = {(0.123, m, g) for m, g in itertools.product((0.42, 0.43), (grid[6], grid[7]))}
    assert {tuple(row) for row in around.tolist()} == corners
    np.testing.assert_array_equal(around[0], [0.123, 0.43, grid[6]])


def test_rounding_of_many_columns_offers_each_other_neighbour():
    space = Space({f"n{i}": Int(0, 100) for i in range(6)})
    X = np.full((2, 6), 0.504)
    around = rounded(space, X, np.ones(X.shape, dtype=bool))
    assert around.shape == (2, 7, 6)
    np.testing.assert_array_equal(around[1, 0], np.full(6, 0.5))
    for i in range(6):
        expected = np.full(6, 0.5)
        expected[i] = 0.51
        np.testing.assert_array_equal(around[0, i + 1], expected)


def test_rounding_keeps_within_the_bounds():
    space = Space({"n": Int(0, 100)})
    top, bottom = rounded(space, np.array([[1.0], [0.0]]), np.ones((2, 1), dtype=bool))
    np.testing.assert_array_equal(top, [[1.0], [1.0]])
    np.testing.assert_array_equal(bottom[0], [0.0])


def test_a_climb_ends_on_levels_and_not_below_its_start(rng):
    function = Waves.on(SPACE, 3, frequency=8.0)
    start = Scored.by(function, SPACE.from_uniform(rng.random((9, 8))))
    ends, tried = climbed(function, SPACE, start, np.ones(8), 30, relax=True)
    np.testing.assert_array_equal(SPACE.snap(ends.X), ends.X)
    np.testing.assert_array_equal(SPACE.snap(tried.X), tried.X)
    assert (ends.values >= start.values).all()
    np.testing.assert_allclose(ends.values, function(ends.X), rtol=1e-9)
    np.testing.assert_array_equal(ends.X[:, [1, 4, 5]], start.X[:, [1, 4, 5]])
    assert (ends.X[:, 2] != start.X[:, 2]).any()


def test_without_relaxation_integers_stay(rng):
    function = Waves.on(SPACE, 3)
    start = Scored.by(function, SPACE.from_uniform(rng.random((9, 8))))
    ends, _ = climbed(function, SPACE, start, np.ones(8), 30, relax=False)
    discrete = [1, 2, 3, 4, 5, 7]
    np.testing.assert_array_equal(ends.X[:, discrete], start.X[:, discrete])
    assert (ends.values > start.values).all()
