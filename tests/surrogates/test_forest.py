from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

import outcrop as oc
from outcrop.acquisition import Thompson
from outcrop.data import Observations
from outcrop.errors import ModelError, ShapeError
from outcrop.maximise import Maximiser
from outcrop.strategies import Method, strategy_for
from outcrop.strategies.initial import Sobol
from outcrop.surrogates import Forest
from outcrop.surrogates.forest_growth import grow
from outcrop.surrogates.situation import Situation
from outcrop.testing import POSTERIOR_CONTRACT, STRATEGY_CONTRACT, view_of
from tests.strategies.spaces import EVERY_SPACE

CODES = ((2, 4), (3, 3))  # of the observations below
FAST = Maximiser(spread=64, perturbations=32, resamples=16, starts=2, steps=10)
METHOD = Method(surrogate=Forest(trees=8), initial=Sobol(size=3), maximiser=FAST)
ALONE = {"bootstrap": False, "share": 1.0}  # trees without chance, but for thresholds


def points(rng, n):
    return np.column_stack([rng.random((n, 2)), rng.integers(4, size=n), rng.integers(3, size=n)])


def observations(seed=0, n=40, noise=None):
    rng = np.random.default_rng(seed)
    X = points(rng, n)
    return Observations(X, np.sin(6 * X[:, 0]) + (X[:, 2] == 1) * X[:, 1] - (X[:, 3] == 2), noise)


def fitted(data, seed=0, **settings):
    forest = Forest(**{"categories": CODES, **settings})
    return forest.fit(data, np.random.default_rng(seed)).components[0]


def walked(trees, root, x):
    """The leaf of `x`, one step after the other."""
    node = root
    while trees.column[node] >= 0:
        value = x[trees.column[node]]
        if trees.levels[node] >= 0:
            goes_left = trees.lefts[trees.levels[node], int(value)]
        else:
            goes_left = value <= trees.threshold[node]
        node = (trees.left if goes_left else trees.right)[node]
    return node


def squared_error(y):
    return ((y - y.mean()) ** 2).sum() if len(y) else np.inf


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
def test_a_forest_keeps_the_contract_of_posteriors(check, bootstrap):
    posterior = fitted(observations(), bootstrap=bootstrap, smallest=2)
    check(posterior, points(np.random.default_rng(5), 8))


@pytest.mark.parametrize("space", EVERY_SPACE)
@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
def test_a_method_with_a_forest_keeps_the_contract_on_every_space(check, space):
    space = EVERY_SPACE[space]
    X = space.from_uniform(np.random.default_rng(0).random((13, len(space.columns))))
    view = view_of(space, X[:9], np.sin(3 * X[:9].sum(1)), X[9:11], X[11:])
    check(strategy_for(METHOD, space), space, view)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_moments_follow_from_the_values_in_the_leaves_of_every_tree(seed, smallest):
    rng = np.random.default_rng(seed)
    data, X = observations(seed, n=15), points(rng, 5)
    posterior = fitted(data, seed, trees=4, smallest=smallest, bootstrap=False)
    trees = posterior.trees
    for x, mean, var in zip(X, *posterior.predict(X), strict=True):
        values = []
        for root in range(4):
            leaf = walked(trees, root, x)
            values.append(data.y[[walked(trees, root, other) == leaf for other in data.X]])
            assert len(values[-1]) >= smallest
        means = [part.mean() for part in values]
        assert mean == pytest.approx(np.mean(means))
        total = np.mean([part.var() for part in values]) + np.var(means)
        assert var == pytest.approx(max(total, 1e-8 * data.y.var()), rel=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_first_cut_is_the_best_of_all_cuts_and_all_divisions_of_levels(seed, smallest):
    rng = np.random.default_rng(seed)
    X, y = points(rng, 14), rng.normal(size=14)
    trees = grow(X, y, np.ones((1, 14)), dict(CODES), smallest, 1.0, rng)
    sides = [X[:, j] <= value for j in (0, 1) for value in X[:, j]]
    for column, levels in CODES:
        for k in range(1, levels):
            sides += [np.isin(X[:, column], some) for some in combinations(range(levels), k)]
    errors = [
        squared_error(y[side]) + squared_error(y[~side])
        for side in sides
        if min(side.sum(), (~side).sum()) >= smallest
    ]
    j = trees.column[0]
    assert (trees.levels[0] >= 0) == (j >= 2)
    side = (
        X[:, j] <= trees.threshold[0]
        if j < 2
        else trees.lefts[trees.levels[0]][X[:, j].astype(int)]
    )
    found = squared_error(y[side]) + squared_error(y[~side])
    assert found == pytest.approx(min(errors))
    assert min(side.sum(), (~side).sum()) >= smallest


def test_a_tree_of_all_observations_returns_them():
    data = observations()
    posterior = fitted(data, trees=3, **ALONE)
    mean, var = posterior.predict(data.X)
    np.testing.assert_allclose(mean, data.y)
    np.testing.assert_allclose(var, 1e-8 * data.y.var())
    assert posterior.incumbent() == pytest.approx(data.y.min())


def test_what_levels_are_called_does_not_matter_where_there_are_data():
    data = observations(n=30)
    names = np.array([2, 0, 3, 1])
    renamed = data.X.copy()
    renamed[:, 2] = names[data.X[:, 2].astype(int)]
    one = fitted(data, smallest=4, trees=2, **ALONE)
    two = fitted(Observations(renamed, data.y), smallest=4, trees=2, **ALONE)
    np.testing.assert_allclose(one.predict(data.X), two.predict(renamed), rtol=1e-9)


def test_it_predicts_about_as_well_as_the_forest_of_scikit_learn():
    ours, theirs = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.random((650, 5))
        y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + (X[:, 3] > 0.6) * X[:, 0]
        data, X, y = Observations(X[:150], y[:150]), X[150:], y[150:]
        mean, _ = Forest().fit(data, rng).components[0].predict(X)
        peer = RandomForestRegressor(32, max_features=5 / 6, random_state=seed)
        ours.append(((mean - y) ** 2).mean() / y.var())
        theirs.append(((peer.fit(data.X, data.y).predict(X) - y) ** 2).mean() / y.var())
    assert np.mean(ours) < 1.1 * np.mean(theirs)


def test_its_standard_deviations_are_about_as_large_as_its_errors():
    data, rng = observations(n=150), np.random.default_rng(1)
    later = observations(1, n=500)
    mean, var = fitted(data, int(rng.integers(9))).predict(later.X)
    z = (later.y - mean) / np.sqrt(var)
    assert 0.4 < np.sqrt((z**2).mean()) < 2.5


def test_a_level_without_observations_is_more_uncertain_than_others():
    data = observations(n=60)
    data = Observations(data.X[data.X[:, 3] != 0], data.y[data.X[:, 3] != 0])
    X = points(np.random.default_rng(3), 200)
    posterior = fitted(data)
    spread = [posterior.predict(np.column_stack([X[:, :3], np.full(200, c)]))[1] for c in range(3)]
    assert spread[0].mean() > max(spread[1].mean(), spread[2].mean())


def test_believing_values_is_having_seen_them_in_the_same_leaves():
    data, rng = observations(n=25), np.random.default_rng(2)
    X, y = points(rng, 6), rng.normal(size=6)
    before = fitted(data, trees=5, smallest=3, bootstrap=False)
    after = before.condition(X, y)
    both, values = np.vstack([data.X, X]), np.concatenate([data.y, y])
    leaf = before.trees.leaf_of(both)
    for x, mean, var in zip(X, *after.predict(X), strict=True):
        mine = [values[row == row[np.flatnonzero((both == x).all(1))[0]]] for row in leaf]
        assert mean == pytest.approx(np.mean([part.mean() for part in mine]))
        spread = np.mean([part.var() for part in mine]) + np.var([part.mean() for part in mine])
        assert var == pytest.approx(spread)
    assert len(after.data) == 31


def test_draws_have_the_moments_that_are_predicted():
    posterior = fitted(observations(), smallest=3)
    X = points(np.random.default_rng(4), 6)
    draws = posterior.sample(X, np.random.default_rng(5), 20_000)
    mean, var = posterior.predict(X)
    np.testing.assert_allclose(draws.mean(0), mean, atol=5 * np.sqrt(var.max() / 20_000))
    np.testing.assert_allclose(draws.var(0), var, rtol=0.1)


def test_columns_that_are_not_active_count_as_their_defaults():
    space = EVERY_SPACE["conditional"]
    forest = Forest(trees=4).surrogate(Situation(space))
    rng = np.random.default_rng(0)
    X = space.from_uniform(rng.random((30, len(space.columns))))
    belief = forest.fit(Observations(X, X.sum(1)), rng)
    active = space.active(X)
    codes = np.array([column.is_code for column in space.columns])
    completed = np.where(active, X, np.where(codes, 0.0, 0.5))
    np.testing.assert_array_equal(forest.completed(X), completed)
    noise = np.where(active, X, 0.77)
    np.testing.assert_array_equal(belief.moments(noise), belief.moments(X))


def test_an_observation_of_great_noise_says_next_to_nothing():
    X = np.array([[0.1], [0.1], [0.9], [0.9]])
    noise = np.array([0.0, 1e12, 0.0, 1e12])
    data = Observations(X, [0.0, 50.0, 1.0, -50.0], noise)
    forest = Forest(trees=1, bootstrap=False, smallest=2)
    mean, _ = forest.fit(data, np.random.default_rng(0)).moments(X)
    np.testing.assert_allclose(mean, [0.0, 0.0, 1.0, 1.0], atol=1e-4)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_noises_of_any_size_leave_predictions_within_the_values(seed):
    rng = np.random.default_rng(seed)
    noise = 10.0 ** rng.uniform(-12, 12, 30)
    data = observations(seed, n=30, noise=noise)
    mean, var = fitted(data, seed, trees=8).predict(points(rng, 50))
    assert data.y.min() - 1e-9 <= mean.min() <= mean.max() <= data.y.max() + 1e-9
    assert (var > 0).all()
    assert np.isfinite(var).all()


@pytest.mark.parametrize("y", [[3.0], [1.0, 1.0, 1.0]])
def test_constant_values_make_trees_of_one_leaf(y):
    data = Observations(np.random.default_rng(0).random((len(y), 4)) // 0.5, y)
    posterior = fitted(data)
    assert posterior.trees.depth == 0
    mean, var = posterior.predict(data.X)
    np.testing.assert_array_equal(mean, y)
    assert (var > 0).all()


def test_observations_at_one_point_share_a_leaf():
    data = Observations(np.full((4, 4), 1.0), [0.0, 1.0, 2.0, 3.0])
    mean, var = fitted(data, trees=2, bootstrap=False).predict(data.X)
    np.testing.assert_allclose(mean, 1.5)
    np.testing.assert_allclose(var, 1.25)


def test_a_method_with_a_forest_learns_which_levels_are_right():
    space = oc.Space({"x": oc.Float(0, 1), **{n: oc.Categorical(list("abcd")) for n in "pqr"}})
    optimizer = oc.Optimizer(space, method=replace(METHOD, initial=None), seed=0)
    rng = np.random.default_rng(0)
    for params in space.sample(rng, 60):
        wrong = sum(params[n] != "c" for n in "pqr")
        optimizer.add(params, wrong + (params["x"] - 0.3) ** 2)
    trial = optimizer.ask()
    assert trial.why["surrogate"] == "Forest"
    samples = space.sample(rng, 50)
    for name in "pqr":
        means = {
            level: np.mean(
                [optimizer.belief.predict({**params, name: level})[0] for params in samples]
            )
            for level in "abcd"
        }
        assert min(means, key=lambda level: means[level]) == "c"
    best = optimizer.recommend()
    assert best.trial.value < 2
    assert 0 <= best.probability <= 1


@pytest.mark.parametrize(
    "wrong", [{"trees": 0}, {"trees": 2.0}, {"smallest": 0}, {"share": 0.0}, {"share": 1.1}]
)
def test_impossible_settings_are_refused_by_name(wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(ModelError, match=rf"Forest\({name}={value}\): expected"):
        Forest(**wrong)


def test_nothing_to_learn_from_and_points_of_another_shape_are_refused():
    with pytest.raises(ModelError, match="at least one observation"):
        Forest().fit(Observations(np.zeros((0, 2)), []), np.random.default_rng(0))
    with pytest.raises(ShapeError, match=r"expected X \(m, 4\)"):
        fitted(observations()).predict(np.zeros((2, 3)))


def test_thompson_sampling_says_that_it_needs_a_gaussian_process():
    space = EVERY_SPACE["mixed"]
    X = space.from_uniform(np.random.default_rng(0).random((9, len(space.columns))))
    method = Method(surrogate=Forest(trees=4), acquisition=Thompson(), initial=Sobol(size=3))
    with pytest.raises(ModelError, match="cannot draw functions"):
        strategy_for(method, space).propose(view_of(space, X, X.sum(1)), np.random.default_rng(0))
