"""One-hot codes: the cube, its points and configurations, and the search that is rounded."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outcrop as oc
from outcrop.baselines import OneHot
from outcrop.baselines.one_hot import Cube
from outcrop.errors import SpaceExhausted
from outcrop.inference import Slice
from outcrop.kernels import Matern52
from outcrop.maximise import Maximiser
from outcrop.strategies import Method, strategy_for
from outcrop.strategies.initial import Sobol
from outcrop.strategies.one_hot import Rounding, at_codes
from outcrop.surrogates import GP
from outcrop.testing import central_differences, view_of
from tests.maximise.functions import Waves
from tests.space.strategies import spaces
from tests.strategies.spaces import EVERY_SPACE

FAST = Method(
    surrogate=OneHot(),
    inference=Slice(chains=2, burn_in=2),
    initial=Sobol(size=4),
    maximiser=Maximiser(spread=48, perturbations=24, resamples=8, starts=2, steps=8, rounds=1),
)


WITH_CODES = spaces().filter(lambda space: any(column.is_code for column in space.columns))


def points(space, n, seed=0):
    return space.from_uniform(np.random.default_rng(seed).random((n, len(space.columns))))


@given(WITH_CODES, st.integers(0, 1000))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_configuration_comes_back_from_its_one_hot_codes(space, seed):
    X = points(space, 6, seed)
    cube = Cube(space)
    W = cube.encoded(X)
    assert W.shape == (6, len(cube.wide.columns))
    assert (W >= 0).all()
    assert (W <= 1).all()
    np.testing.assert_array_equal(cube.rounded(W), X)


def test_codes_of_active_categories_are_one_hot_and_the_rest_is_neutral():
    space = EVERY_SPACE["conditional"]
    linear = {"lr": 1.0, "model": "linear"}
    deep = {**linear, "model": "mlp", "model.mlp.act": "tanh", "model.mlp.opt": "adam"}
    W = Cube(space).encoded(space.encode([linear, deep]).X)
    # lr, three models, depth, two activations, two optimisers, momentum
    np.testing.assert_array_equal(
        W, [[1, 1, 0, 0, 0.5, 0, 0, 0, 0, 0.5], [1, 0, 0, 1, 0.5, 0, 1, 0, 1, 0.5]]
    )


def test_the_largest_number_of_a_category_says_which_level_is_meant():
    space = EVERY_SPACE["categories"]
    W = np.array([[0.1, 0.2, 0.9, 0.3, 0.8, 0.4, 0.5, 0.6], [0.2, 0.1, 0, 0, 0, 0.3, 0.3, 0.1]])
    np.testing.assert_array_equal(Cube(space).rounded(W), [[2, 2], [0, 0]])


def test_levels_that_differ_are_the_square_root_of_two_apart():
    space = EVERY_SPACE["mixed"]
    X = points(space, 8)
    W = Cube(space).encoded(X)
    numbers = [0, 1, 3]
    squares = ((X[:, None, numbers] - X[None, :, numbers]) ** 2).sum(-1)
    squares = squares + 2 * (X[:, None, 2] != X[None, :, 2])
    np.testing.assert_allclose(((W[:, None] - W[None]) ** 2).sum(-1), squares, atol=1e-12)
    assert Matern52([0.7])(W[:1], W[:1])[0, 0] == 1


def test_a_model_of_ones_own_takes_the_place_of_the_one_on_the_cube():
    space = EVERY_SPACE["mixed"]
    model = GP(Matern52([0.7]), noise=1e-4)
    strategy = strategy_for(replace(FAST, surrogate=OneHot(model)), space)
    assert strategy.model.kind.model is model
    view = view_of(space, points(space, 6), np.arange(6.0))
    W, X = Cube(space).encoded(view.X), points(space, 3, seed=1)
    y = (view.y - view.y.mean()) / view.y.std()
    mean = Matern52([0.7])(Cube(space).encoded(X), W) @ np.linalg.solve(
        Matern52([0.7])(W, W) + 1e-4 * np.eye(6), y
    )
    found, _ = strategy.belief(view, np.random.default_rng(0)).predict(X)
    np.testing.assert_allclose(found, view.y.mean() + view.y.std() * mean, rtol=1e-6)


def test_gradients_reach_the_numbers_of_the_space():
    space = EVERY_SPACE["mixed"]
    cube = Cube(space)
    function = at_codes(Waves.on(cube.wide, 1), cube)
    X = points(space, 4)
    expected = central_differences(lambda x: float(function(x).sum()), X)
    expected[:, 2] = 0.0  # a step off a code is no level
    np.testing.assert_allclose(function.with_gradient(X)[1], expected, rtol=1e-5, atol=1e-6)


def search(space, function, forbidden=(), seed=0):
    cube, rng = Cube(space), np.random.default_rng(seed)
    known = np.array(forbidden).reshape(-1, len(space.columns))
    names = dict(zip(cube.wide.keys(cube.encoded(known)), space.keys(known), strict=True))
    rounding = Rounding(Maximiser(), cube, names)
    candidates = rounding.candidates(cube.wide, rng)
    found = rounding(
        function, cube.wide, rng, candidates=candidates, scales=None, forbidden=frozenset(names)
    )
    return cube, found


class Hill:
    """Highest at one point of a cube, which need not be a corner."""

    def __init__(self, top):
        self.top = np.array(top)

    def __call__(self, W):
        return -((W - self.top) ** 2).sum(1)

    def with_gradient(self, W):
        return self(W), -2 * (W - self.top)


def test_the_maximum_is_sought_between_levels_and_then_rounded():
    space = oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(["u", "v", "w"])})
    _, found = search(space, Hill([0.3, 0.4, 0.7, 0.2]))
    np.testing.assert_allclose(found.point, [0.3, 0, 1, 0], atol=1e-6)
    assert found.value == pytest.approx(-(0.4**2 + 0.3**2 + 0.2**2), abs=1e-9)


def test_of_rounded_points_the_best_that_is_not_known_is_taken():
    space = EVERY_SPACE["categories"]
    top = [0.9, 0.1, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1]
    _, best = search(space, Hill(top))
    cube, other = search(space, Hill(top), forbidden=[[0, 0]])
    np.testing.assert_array_equal(cube.rounded(best.point[None]), [[0, 0]])
    assert cube.rounded(other.point[None]).tolist() != [[0, 0]]


def test_if_nothing_it_rounds_to_is_new_the_configurations_are_searched():
    space = EVERY_SPACE["categories"]
    every = [[c, d] for c in range(5) for d in range(3)]
    cube, found = search(space, Hill(np.full(8, 0.1)), forbidden=every[:-1])
    np.testing.assert_array_equal(cube.rounded(found.point[None]), every[-1:])
    with pytest.raises(SpaceExhausted):
        search(space, Hill(np.full(8, 0.1)), forbidden=every)


def test_a_space_of_categories_is_searched_to_its_end_without_repeats():
    space = EVERY_SPACE["categories"]
    optimizer = oc.Optimizer(space, method=FAST, seed=0, noise=False)
    for _ in range(15):
        trial = optimizer.ask()
        optimizer.tell(trial, float(space.encode([trial.params]).X.sum()))
    assert len({space.key(trial.params) for trial in optimizer.trials}) == 15
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


def test_running_and_failed_trials_are_accounted_for():
    space = EVERY_SPACE["conditional"]
    X = points(space, 16)
    view = view_of(space, X[:10], np.sin(X[:10].sum(1)), X[10:13], X[13:], noise=False)
    found = strategy_for(FAST, space).propose(view, np.random.default_rng(1))
    assert found.why["pending"] == 3
    assert 0 <= found.why["feasible"] <= 1
    assert space.key(found.params) not in view.known


def test_the_belief_passes_through_exact_values():
    space = EVERY_SPACE["mixed"]
    X = points(space, 8)
    y = np.sin(3 * X.sum(1))
    belief = strategy_for(FAST, space).belief(
        view_of(space, X, y, noise=False), np.random.default_rng(0)
    )
    mean, std = belief.predict(X)
    np.testing.assert_allclose(mean, y, atol=1e-3)
    assert (std < 0.02).all()
    assert belief.sample(X, np.random.default_rng(0), 3).shape == (3, 8)


def test_the_design_is_that_of_the_space():
    space = EVERY_SPACE["mixed"]
    one, two = (
        [trial.params for trial in oc.Optimizer(space, method=method, seed=4).ask(4)]
        for method in (FAST, Method(initial=Sobol(size=4)))
    )
    assert one == two


def test_the_same_seed_and_values_give_the_same_trials():
    space = EVERY_SPACE["mixed"]

    def run():
        optimizer = oc.Optimizer(space, method=FAST, seed=3, noise=False)
        for _ in range(8):
            trial = optimizer.ask()
            optimizer.tell(trial, float(space.encode([trial.params]).X.sum()))
        return [trial.params for trial in optimizer.trials]

    assert run() == run()
