import numpy as np
import pytest

from outcrop.maximise.base import Scored
from outcrop.maximise.sweeps import improved
from outcrop.space import Categorical, Choice, Float, Int, Space
from tests.maximise.functions import Waves

SPACE = Space(
    {
        "x": Float(0, 1),
        "n": Int(0, 10),
        "model": Choice({"none": {}, "deep": {"drop": Float(0, 1), "layers": Int(1, 40)}}),
    }
)


class NoGradient:
    def with_gradient(self, X):
        return self(X), np.zeros_like(X)


def sweep(function, space, start, rng, seen=None):
    return improved(
        function,
        space,
        start,
        start if seen is None else seen,
        np.ones(len(space.columns)),
        10,
        rng,
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_sweep_finds_the_best_change_of_one_column(seed, rng):
    space = Space({"a": Int(0, 30), "b": Int(0, 7), "c": Categorical([1, 2, 3, 4])})
    function = Waves.on(space, seed)
    start = Scored.by(function, space.from_uniform(rng.random((1, 3))))
    better, _ = sweep(function, space, start, rng)
    best = start.values[0]
    for j, levels in ((0, np.arange(31) / 30), (1, np.arange(8) / 7), (2, np.arange(4.0))):
        X = np.repeat(start.X, len(levels), axis=0)
        X[:, j] = levels
        best = max(best, function(X).max())
    assert best > start.values[0]
    assert better.values[0] >= best - 1e-12


def test_every_point_keeps_its_own_best(rng):
    space = Space({"a": Int(0, 12), "b": Categorical([*range(7)])})
    function = Waves.on(space, 3)
    start = Scored.by(function, space.from_uniform(rng.random((3, 2))))
    better, tried = sweep(function, space, start, rng)
    alone = [sweep(function, space, start.at(np.array([i])), rng)[0].values for i in range(3)]
    np.testing.assert_allclose(better.values, np.concatenate(alone))
    np.testing.assert_array_equal(space.snap(tried.X), tried.X)


def test_nothing_is_improved_at_the_best_point(rng):
    space = Space({"a": Int(0, 12), "b": Categorical([*range(7)])})

    class Peak(NoGradient):
        def __call__(self, X):
            return -np.abs(X[:, 0] - 0.5) - (X[:, 1] != 4)

    start = Scored.by(Peak(), np.array([[0.5, 4.0]]))
    better, tried = sweep(Peak(), space, start, rng)
    assert len(better) == 0
    assert len(tried) == 12 + 6


def test_independent_columns_are_all_improved_by_one_sweep(rng):
    class Separable(NoGradient):
        target = np.array([0.1, 0.7, 0.4, 1.0, 0.0])

        def __call__(self, X):
            return -np.abs(X - self.target).sum(1)

    space = Space({f"n{i}": Int(0, 10) for i in range(5)})
    start = Scored.by(Separable(), np.full((1, 5), 0.5))
    better, _ = sweep(Separable(), space, start, rng)
    np.testing.assert_allclose(better.X[0], Separable.target)


def test_a_level_that_is_better_only_after_a_climb_is_found(rng):
    class Ridge:
        """At each level the best x is elsewhere; higher levels have higher tops."""

        def __call__(self, X):
            return self.with_gradient(X)[0]

        def with_gradient(self, X):
            off = X[:, 0] - 0.9 * X[:, 1]
            G = np.zeros_like(X)
            G[:, 0] = -100 * off
            return X[:, 1] - 50 * off**2, G

    start = Scored.by(Ridge(), SPACE.snap(np.array([[0.0, 0.0, 0.0, 0.0, 0.0]])))
    better, _ = sweep(Ridge(), SPACE, start, rng)
    assert better.X[0, 1] > 0.0
    np.testing.assert_allclose(better.X[0, 0], 0.9 * better.X[0, 1], atol=1e-6)


def test_a_new_option_takes_over_what_the_best_seen_point_has_below_it(rng):
    class NarrowPeak(NoGradient):
        def __call__(self, X):
            return np.where(X[:, 2] == 1, 5 - 1e4 * (X[:, 3] - 0.37) ** 2, 0.0)

    X = SPACE.from_uniform(rng.random((20, 5)))
    X[:10, 2], X[10:, 2] = 0.0, 1.0
    X[12, 3] = 0.37
    seen = Scored.by(NarrowPeak(), SPACE.snap(X))
    better, _ = sweep(NarrowPeak(), SPACE, seen.at(np.array([0])), rng, seen)
    np.testing.assert_array_equal(better.X[0, 2:4], [1.0, 0.37])
    np.testing.assert_array_equal(better.X[0, :2], seen.X[0, :2])


def test_an_option_nobody_has_seen_is_tried_with_random_values(rng):
    class OnlyDeep(NoGradient):
        def __call__(self, X):
            return X[:, 2]

    start = Scored.by(OnlyDeep(), np.zeros((1, 5)))
    better, _ = sweep(OnlyDeep(), SPACE, start, rng)
    assert better.values[0] == 1.0
    assert 0 < better.X[0, 3] < 1
    np.testing.assert_array_equal(SPACE.snap(better.X), better.X)


def test_of_many_levels_a_sample_and_the_neighbours_are_tried(rng):
    space = Space({"n": Int(0, 10**6)})
    function = Waves.on(space, 1)
    start = Scored.by(function, np.array([[0.5]]))
    _, tried = sweep(function, space, start, rng)
    assert len(tried) <= 64 + 4
    assert {499_998, 499_999, 500_001, 500_002} <= {p["n"] for p in space.decode(tried.X)}
