import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.errors import MethodError, ShapeError, SpaceExhausted
from outcrop.kernels import Matern52
from outcrop.maximise import Maximiser
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from outcrop.space.enumeration import every
from outcrop.surrogates.gp import GP
from tests.maximise.functions import Constant, Counting, Waves, grid

maximise = Maximiser()


def cube(dimension):
    return Space({f"x{i}": Float(0, 1) for i in range(dimension)})


class Confidence:
    """Upper confidence bound of minus the mean, of a process fitted to waves."""

    def __init__(self, seed, dimension, n):
        rng = np.random.default_rng(seed)
        X = rng.random((n, dimension))
        y = Waves.on(cube(dimension), seed)(X)
        self.lengthscales = rng.uniform(0.1, 0.4, dimension)
        self.posterior = GP(Matern52(self.lengthscales), 1e-6).condition(Observations(X, y))
        self.incumbents = X[np.argsort(y)[:3]]

    def __call__(self, X):
        mean, var = self.posterior.predict(X)
        return 2 * np.sqrt(var) - mean

    def with_gradient(self, X):
        mean, var, pull = self.posterior.predict_with_pullback(X)
        return 2 * np.sqrt(var) - mean, pull(np.full(len(X), -1.0), 1 / np.sqrt(var))


# Against brute force


@pytest.mark.parametrize("seed", range(10))
def test_no_point_of_a_dense_line_is_better(seed):
    function = Waves.on(cube(1), seed, frequency=30.0)
    found = maximise(function, cube(1), np.random.default_rng(seed))
    assert found.value >= function(grid(20_001, 1)).max()


@pytest.mark.parametrize("seed", range(10))
def test_no_point_of_a_dense_square_is_better(seed):
    function = Waves.on(cube(2), seed, frequency=10.0)
    found = maximise(function, cube(2), np.random.default_rng(seed))
    assert found.value >= function(grid(401, 2)).max()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("dimension", "n", "per_axis"), [(1, 8, 5001), (2, 30, 301)])
def test_no_point_of_a_grid_has_a_higher_acquisition(seed, dimension, n, per_axis):
    function = Confidence(seed, dimension, n)
    found = maximise(
        function,
        cube(dimension),
        np.random.default_rng(seed),
        incumbents=function.incumbents,
        scales=function.lengthscales,
    )
    assert found.value >= function(grid(per_axis, dimension)).max() - 1e-9


def test_a_smooth_maximum_is_found_to_a_millionth_of_the_cube():
    function = Waves.on(cube(6), 4, frequency=3.0)
    found = maximise(function, cube(6), np.random.default_rng(1))
    _, G = function.with_gradient(found.point[None])
    held = ((found.point == 0) & (G < 0)) | ((found.point == 1) & (G > 0))
    assert np.abs(np.where(held, 0.0, G)).max() < 1e-4  # with curvatures of about 10


@pytest.mark.parametrize("seed", range(6))
def test_small_discrete_spaces_are_solved_exactly(seed):
    space = Space(
        {
            "n": Int(0, 20),
            "c": Categorical(["a", "b", "c"]),
            "m": Choice(
                {"u": {"k": Int(1, 9, log=True)}, "v": {"o": Ordinal([1, 2]), "z": Int(0, 1)}}
            ),
        }
    )
    function = Counting(Waves.on(space, seed))
    found = maximise(function, space, np.random.default_rng(seed))
    assert found.value == function(every(space)).max()
    assert found.evaluations == space.size
    assert function.calls[0] == "value"


@pytest.mark.parametrize("seed", range(8))
def test_larger_discrete_spaces_are_solved_too(seed):
    space = Space({"a": Int(0, 40), "b": Int(1, 60, log=True), "c": Categorical([*range(8)])})
    assert space.size == 41 * 60 * 8
    function = Waves.on(space, seed, frequency=3.0)
    found = maximise(function, space, np.random.default_rng(seed))
    assert found.value >= function(every(space)).max() - 1e-12


def mixed_space(number):
    return Space(
        {
            "x": number,
            "c": Categorical(["a", "b", "c", "d"]),
            "n": Int(0, 30),
            "o": Ordinal([1, 2, 3]),
        }
    )


def conditional_space(number):
    return Space(
        {
            "x": number,
            "model": Choice(
                {
                    "none": {},
                    "wide": {"w": number, "n": Int(0, 20)},
                    "deep": {"kind": Choice({"p": {"r": number}, "q": {"k": Int(0, 5)}})},
                }
            ),
        }
    )


@pytest.mark.parametrize("declare", [mixed_space, conditional_space])
def test_brute_force_on_a_mixed_or_conditional_space_is_rarely_and_hardly_better(declare):
    space, gridded = declare(Float(0, 1)), declare(Float(0, 1, step=0.01))
    X = every(gridded)
    misses = []
    for seed in range(12):
        function = Waves.on(space, seed, frequency=3.0)
        found = maximise(function, space, np.random.default_rng(seed))
        values = function(X)
        misses.append(max(values.max() - found.value, 0.0) / values.std())
        np.testing.assert_array_equal(space.snap(found.point[None])[0], found.point)
    assert np.count_nonzero(misses) <= 1
    assert max(misses) < 0.1


@pytest.mark.parametrize("corner", [(0, 0, 0), (1, 0, 1), (1, 1, 1)])
def test_a_maximum_in_a_corner_is_met_exactly(corner):
    class Slope:
        towards = 2.0 * np.array(corner) - 1

        def __call__(self, X):
            return X @ self.towards

        def with_gradient(self, X):
            return self(X), np.tile(self.towards, (len(X), 1))

    found = maximise(Slope(), cube(3), np.random.default_rng(1))
    np.testing.assert_array_equal(found.point, corner)


# Symmetries


def test_a_permuted_and_reflected_function_has_the_permuted_and_reflected_maximum():
    function = Waves.on(cube(3), 7, frequency=4.0)
    order = [2, 0, 1]

    class Mirrored:
        def __call__(self, X):
            return function((1 - X)[:, order])

        def with_gradient(self, X):
            values, G = function.with_gradient((1 - X)[:, order])
            back = np.empty_like(G)
            back[:, order] = -G
            return values, back

    plain = maximise(function, cube(3), np.random.default_rng(1))
    mirrored = maximise(Mirrored(), cube(3), np.random.default_rng(2))
    np.testing.assert_allclose((1 - mirrored.point)[order], plain.point, atol=1e-6)


def test_adding_a_constant_or_doubling_does_not_move_the_maximum():
    function = Waves.on(cube(2), 3)

    class Doubled:
        def __call__(self, X):
            return 2 * function(X)

        def with_gradient(self, X):
            values, G = function.with_gradient(X)
            return 2 * values, 2 * G

    one = maximise(function, cube(2), np.random.default_rng(5))
    two = maximise(Doubled(), cube(2), np.random.default_rng(5))
    np.testing.assert_array_equal(one.point, two.point)
    assert two.value == 2 * one.value


# What may not be returned


def test_told_points_are_never_proposed_until_all_are_told():
    space = Space({"n": Int(0, 5), "c": Categorical(["a", "b"]), "fixed": Fixed(3)})
    function = Waves.on(space, 1)
    values, known = [], set()
    for number in range(12):
        found = maximise(function, space, np.random.default_rng(number), forbidden=known)
        values.append(found.value)
        known |= set(space.keys(found.point[None]))
    assert len(known) == 12
    assert values == sorted(values, reverse=True)
    with pytest.raises(SpaceExhausted, match=r"all 12 configurations .*noise=True"):
        maximise(function, space, np.random.default_rng(0), forbidden=known)


def test_the_last_configurations_of_a_larger_space_are_found():
    space = Space({"a": Int(0, 99), "b": Int(0, 99)})
    X = every(space)
    left = {1234, 5678, 9999}
    known = {key for i, key in enumerate(space.keys(X)) if i not in left}
    function = Waves.on(space, 2)
    found = maximise(function, space, np.random.default_rng(0), forbidden=known)
    assert found.value == function(X[sorted(left)]).max()
    with pytest.raises(SpaceExhausted, match="10000"):
        maximise(function, space, np.random.default_rng(0), forbidden=frozenset(space.keys(X)))


def test_beside_a_forbidden_maximum_something_else_is_found():
    function = Waves.on(cube(2), 3)
    known = set()
    for seed in range(5):
        found = maximise(function, cube(2), np.random.default_rng(seed), forbidden=known)
        assert not known & set(cube(2).keys(found.point[None]))
        known |= set(cube(2).keys(found.candidates))
    best = maximise(function, cube(2), np.random.default_rng(0)).value
    assert found.value > best - 0.1


def test_a_continuum_of_two_floats_can_be_exhausted():
    space = Space({"x": Float(0.0, 5e-324)})
    known = set(space.keys(np.array([[0.0], [1.0]])))
    with pytest.raises(SpaceExhausted, match="found no new one"):
        maximise(Constant(0.0), space, np.random.default_rng(0), forbidden=known)


def test_a_space_without_a_choice_is_proposed_once():
    space = Space({"a": Fixed(1), "b": Fixed("x")})
    found = maximise(Constant(1.0), space, np.random.default_rng(0))
    assert found.point.shape == (0,)
    assert space.decode(found.point[None]) == [{"a": 1, "b": "x"}]
    with pytest.raises(SpaceExhausted, match="all 1 "):
        maximise(
            Constant(1.0), space, np.random.default_rng(0), forbidden=space.keys(found.point[None])
        )


# Functions that misbehave

AWKWARD = Space({"x": Float(0, 1), "n": Int(0, 50), "c": Categorical(["a", "b"])})


@pytest.mark.parametrize("space", [cube(2), AWKWARD, Space({"n": Int(0, 9)})], ids=repr)
@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, -np.inf, -1e300])
def test_plateaus_and_nonsense_give_a_random_legal_point(space, value):
    points = []
    for seed in range(8):
        found = maximise(Constant(value), space, np.random.default_rng(seed))
        np.testing.assert_array_equal(space.snap(found.point[None])[0], found.point)
        assert found.value == (value if np.isfinite(value) else -np.inf)
        points.append(tuple(found.point))
    assert len(set(points)) > 3


def test_where_the_function_is_no_number_nothing_is_found():
    waves = Waves.on(AWKWARD, 3)

    class Torn:
        def __call__(self, X):
            return np.where(X[:, 0] < 0.5, np.nan, waves(X))

        def with_gradient(self, X):
            values, G = waves.with_gradient(X)
            bad = X[:, 0] < 0.5
            return np.where(bad, np.nan, values), np.where(bad[:, None], np.nan, G)

    found = maximise(Torn(), AWKWARD, np.random.default_rng(2))
    X = every(Space({**AWKWARD.declared, "x": Float(0, 1, step=0.005)}))
    assert found.point[0] >= 0.5
    assert found.value >= np.nanmax(Torn()(X)) - 1e-9


# How it is called


def test_incumbents_help_where_the_maximum_is_a_needle():
    class Needle:
        at = np.array([0.31, 0.77, 0.52, 0.11])

        def __call__(self, X):
            return np.exp(-0.5 * np.square((X - self.at) / 0.01).sum(1))

        def with_gradient(self, X):
            values = self(X)
            return values, -values[:, None] * (X - self.at) / 1e-4

    near = Needle.at + 0.04
    found = maximise(Needle(), cube(4), np.random.default_rng(0), incumbents=near[None])
    np.testing.assert_allclose(found.point, Needle.at, atol=1e-6)


def test_purely_discrete_spaces_need_no_gradient():
    space = Space({f"c{i}": Categorical([*range(6)]) for i in range(8)})
    function = Counting(Waves.on(space, 1))
    maximise(function, space, np.random.default_rng(0))
    assert set(function.calls) == {"value"}


def test_evaluations_count_every_row():
    function = Counting(Waves.on(AWKWARD, 1))
    found = maximise(function, AWKWARD, np.random.default_rng(0))
    assert found.evaluations == function.rows
    assert found.evaluations >= len(found.values) == len(found.candidates)


def test_few_calls_serve_one_search():
    function = Counting(Waves.on(cube(6), 1))
    maximise(function, cube(6), np.random.default_rng(0))
    assert len(function.calls) <= 2 + maximise.steps


def test_wrong_shapes_and_numbers_are_refused():
    with pytest.raises(ShapeError, match="one scale per column"):
        maximise(Constant(0.0), cube(2), np.random.default_rng(0), scales=np.ones(3))
    with pytest.raises(ShapeError, match="expected X"):
        maximise(Constant(0.0), cube(2), np.random.default_rng(0), incumbents=np.ones((1, 3)))
    with pytest.raises(MethodError, match="spread of at least 1"):
        Maximiser(spread=0)
    with pytest.raises(MethodError, match="no number below 0"):
        Maximiser(starts=-1)


def test_every_part_can_be_switched_off():
    plain = Maximiser(spread=64, perturbations=0, resamples=0, starts=0, steps=0, rounds=0)
    found = plain(
        Waves.on(AWKWARD, 2), AWKWARD, np.random.default_rng(0), incumbents=np.zeros((1, 3))
    )
    assert found.evaluations == 64
