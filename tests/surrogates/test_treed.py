import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop import problems
from outcrop.acquisition import EI, Thompson
from outcrop.baselines import OneHot
from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import MAP, Laplace, Slice
from outcrop.kernels import Matern52, Offset, Scaled
from outcrop.maximise import Maximiser
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.space import Float, Space
from outcrop.strategies import Method, strategy_for
from outcrop.strategies.acquisition_function import AcquisitionFunction
from outcrop.surrogates import (
    GP,
    CategoryMix,
    Heteroscedastic,
    Latent,
    LeafwisePosterior,
    Mixture,
    Situation,
    Spartan,
    Treed,
    TreedGP,
    Warped,
)
from outcrop.surrogates.partition import Partition
from outcrop.surrogates.pseudo import Ancestry, AncestryTarget
from outcrop.surrogates.stack import LeafwiseStack
from outcrop.surrogates.warm_chains import AT_ONCE, LeafChains
from outcrop.testing import POSTERIOR_CONTRACT, STRATEGY_CONTRACT, central_differences, view_of
from tests.strategies.spaces import EVERY_NOISE, EVERY_SPACE

FAST = Slice(chains=2, burn_in=2)
LENGTHSCALES = free(LogNormal(-1.0, 0.7), size=2)
MODEL = GP(Offset(1.0, Scaled(free(LogNormal()), Matern52(LENGTHSCALES))), noise=1e-6)


def observations(seed=0, n=40, d=2, noise=None):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    y = np.where(X[:, 0] < 0.5, 0.2 * X[:, -1], np.sin(20 * X[:, 0]) * X[:, -1])
    return Observations(X, (y - y.mean()) / y.std(), noise)


def gp(rng, noise=1e-8, d=2):
    kernel = Scaled(float(np.exp(rng.normal())), Matern52(np.exp(rng.normal(-1, 0.5, d))))
    return GP(kernel, noise, mean=float(rng.normal()))


def treed(data, seed=0, smallest=5, noise=1e-8):
    """A tree whose leaves have numbers of their own."""
    rng = np.random.default_rng(seed)
    tree = Partition.of(data.X, data.y, range(data.dimension), smallest)
    leaves = tuple(
        gp(rng, noise, data.dimension).condition(Observations(data.X[rows], data.y[rows]))
        for rows in tree.leaf_rows
    )
    return LeafwisePosterior(tree, leaves)


def fitted(data, **more):
    return (
        Treed(smallest=5, chance=1.0, **more)
        .fitted(MODEL, FAST, (0, 1))
        .fit(data, np.random.default_rng(0))
    )


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
def test_a_treed_posterior_keeps_the_contract(check):
    posterior = treed(observations())
    assert len(posterior.division) > 3
    check(posterior, np.random.default_rng(5).random((8, 2)))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_one_leaf_predicts_as_the_plain_gp(seed):
    rng = np.random.default_rng(seed)
    data, X, model = observations(seed, n=12), rng.random((7, 2)), gp(rng)
    tree = Partition.of(data.X, data.y, (0, 1), smallest=len(data))
    alone, plain = LeafwisePosterior(tree, (model.condition(data),)), model.condition(data)
    np.testing.assert_array_equal(alone.predict(X), plain.predict(X))
    assert alone.incumbent() == plain.incumbent()
    np.testing.assert_array_equal(alone.predict_joint(X)[1], plain.predict_joint(X)[1])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_every_point_is_predicted_by_the_gp_of_its_leaf(seed):
    data = observations(seed)
    posterior, X = treed(data, seed), np.random.default_rng(seed).random((30, 2))
    mean, var = posterior.predict(X)
    for i, leaf in enumerate(posterior.division.leaf_of(X)):
        alone = posterior.leaves[leaf].predict(X[i : i + 1])
        np.testing.assert_allclose([mean[i], var[i]], np.ravel(alone), rtol=1e-8, atol=1e-10)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_without_noise_a_shared_point_is_interpolated_from_both_sides(seed):
    data = observations(seed)
    posterior = treed(data, seed, noise=0.0)
    tree = posterior.division
    holders = np.bincount(np.concatenate(tree.leaf_rows), minlength=len(data))
    assert (holders > 1).any()
    for rows, leaf in zip(tree.leaf_rows, posterior.leaves, strict=True):
        np.testing.assert_allclose(leaf.predict(data.X[rows])[0], data.y[rows], atol=1e-4)


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=20, deadline=None)
def test_with_weight_one_on_the_root_the_pseudo_likelihood_is_the_plain_one(seed, noisy):
    rng = np.random.default_rng(seed)
    data = observations(seed, noise=rng.random(40) if noisy else None)
    model = gp(rng, noise=1e-3)
    alone = Ancestry((data,), np.ones(1))
    assert alone.log_likelihood(model) == pytest.approx(model.log_likelihood(data), rel=1e-9)

    tree = Partition.of(data.X, data.y, (0, 1), 5)
    factors = [
        Observations(data.X[rows], data.y[rows], None if data.noise is None else data.noise[rows])
        for rows in tree.factor_rows(len(tree) - 1)
    ]
    root = Ancestry(tuple(factors), np.eye(len(factors))[-1])
    expected = model.log_likelihood(factors[-1])
    assert root.log_likelihood(model) == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_the_pseudo_likelihood_weighs_a_leaf_twice_and_its_ancestors_harmonically_less(seed):
    rng = np.random.default_rng(seed)
    data, model = observations(seed), gp(rng, noise=1e-4)
    tree = Partition.of(data.X, data.y, (0, 1), 5)
    rows = tree.factor_rows(0)
    factors = [Observations(data.X[own], data.y[own]) for own in rows]
    expected = sum(2 / (1 + i) * model.log_likelihood(part) for i, part in enumerate(factors))
    assert Ancestry.of(factors).log_likelihood(model) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("leaves", [None, Warped(), Spartan()], ids=repr)
def test_gradients_of_the_pseudo_posterior_agree_with_finite_differences(leaves, rng):
    data = observations()
    situation = Situation(EVERY_SPACE["box"])
    kernel = situation.kernel() if leaves is None else leaves.kernel(situation)
    model = GP(kernel, noise=free(LogNormal(-4.0)), mean=0.3)
    factors = [Observations(data.X[i::3], data.y[i::3]) for i in range(3)]
    target = AncestryTarget(model, factors[0], Ancestry.of(factors))
    theta = target.sample_prior(rng, 1)[0]
    value, gradient = target.log_likelihood_with_gradient(theta)
    assert value == pytest.approx(target.log_likelihood(theta), rel=1e-9)
    expected = central_differences(target.log_likelihood, theta)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4)


def test_components_on_one_tree_are_predicted_from_at_once(rng):
    data = observations()
    parts = [treed(data, seed) for seed in range(3)]
    stack = LeafwiseStack.of(parts)
    mixture = Mixture(tuple(parts), np.ones(3))
    X, mean_bar, var_bar = rng.random((25, 2)), rng.normal(size=(3, 25)), rng.normal(size=(3, 25))
    assert stack is not None
    for each, alone in zip(zip(*mixture.predict_each(X), strict=True), parts, strict=True):
        np.testing.assert_allclose(each, alone.predict(X), rtol=1e-6, atol=1e-9)
    *_, pull = mixture.predict_each_with_pullback(X)
    expected = sum(
        part.predict_with_pullback(X)[2](mean_bar[i], var_bar[i]) for i, part in enumerate(parts)
    )
    np.testing.assert_allclose(pull(mean_bar, var_bar), expected, rtol=1e-5, atol=1e-5)
    assert LeafwiseStack.of([parts[0], treed(observations(1))]) is None


def test_conditioning_keeps_the_tree_and_tells_both_sides_of_a_threshold():
    posterior = treed(observations())
    tree = posterior.division
    x = np.full((1, 2), 0.5)
    x[0, tree.columns[0]] = tree.thresholds[0]
    after = posterior.condition(x, np.array([1.5]))
    assert after.division is tree
    grown = [
        i
        for i, (old, new) in enumerate(zip(posterior.leaves, after.leaves, strict=True))
        if len(new.data) > len(old.data)
    ]
    assert len(grown) >= 2
    for leaf in grown:
        assert after.leaves[leaf].predict(x)[0][0] == pytest.approx(1.5, abs=1e-3)


def test_joint_draws_have_the_joint_moments():
    posterior, rng = treed(observations()), np.random.default_rng(3)
    X = rng.random((5, 2))
    mean, covariance = posterior.predict_joint(X)
    draws = posterior.sample(X, rng, 20_000)
    scale = np.sqrt(np.diagonal(covariance))
    np.testing.assert_allclose(draws.mean(0), mean, atol=0.05 * scale.max())
    np.testing.assert_allclose(
        np.cov(draws.T), covariance, atol=0.05 * float(np.outer(scale, scale).max())
    )


def test_a_drawn_function_has_the_gradient_it_says_and_passes_through_the_data(rng):
    data = observations()
    path = treed(data).draw(rng, features=64)
    X = rng.random((6, 2))
    expected = central_differences(lambda x: float(path(x).sum()), X)
    np.testing.assert_allclose(path.gradient(X), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(path(data.X), data.y, atol=0.05)


def test_suggestions_do_not_pile_up_at_the_borders_of_leaves():
    """A process that knows nothing beyond its leaf is most uncertain at the leaf's borders."""
    problem = problems.get("exp-2d")
    fixed = GP(Scaled(1.0, Matern52(np.full(2, 0.25))), noise=1e-6)

    def share_at_borders(beyond, sets=12):
        tree = Treed(smallest=5, least=0.0, chance=1.0, beyond=beyond)
        surrogate = tree.fitted(fixed, FAST, (0, 1))
        count = 0
        for seed in range(sets):
            rng = np.random.default_rng(seed)
            X = rng.random((30, 2))
            y = problem.evaluate(problem.from_unit(X))
            data = Observations(X, (y - y.mean()) / y.std())
            belief = surrogate.fit(data, rng)
            acquisition = EI().prepare(belief, np.array([data.y.min()]), X, rng, 1)
            function = AcquisitionFunction(acquisition, belief)
            found = Maximiser(spread=200)(function, problem.space, rng).point
            count += is_at_a_border(belief.components[0].division, found)
        return count / sets

    assert share_at_borders(beyond=0) > 0.3  # the source's
    assert share_at_borders(beyond=None) < 0.15


def is_at_a_border(partition, point):
    """Whether a border between leaves is within a thousandth of the cube."""
    boxes = partition.boxes(len(point))
    outer = np.array([[0.0], [1.0]])
    near = (np.abs(boxes - point) <= 1e-3) & (boxes != outer)
    inside = (boxes[:, 0] - 1e-3 <= point) & (point <= boxes[:, 1] + 1e-3)
    return bool((near.any((1, 2)) & inside.all(1)).any())


def test_a_leaf_also_sees_the_observations_nearest_to_its_box():
    data = observations()
    tree = Treed(smallest=5, least=0.0, chance=1.0, beyond=3)
    belief = tree.fitted(gp(np.random.default_rng(0)), FAST, (0, 1)).fit(data, None)
    division = belief.components[0].division
    leaves = belief.components[0].leaves
    boxes = division.boxes(2)
    assert len(leaves) > 3
    for (low, high), own, leaf in zip(boxes, division.leaf_rows, leaves, strict=True):
        away = np.linalg.norm(data.X - np.clip(data.X, low, high), axis=1)
        others = sorted(set(range(len(data))) - set(own), key=lambda row: away[row])
        np.testing.assert_array_equal(leaf.data.X, data.X[sorted([*own, *others[:3]])])


def test_a_belief_survives_json_and_goes_on_from_there(rng):
    data = observations()
    first = fitted(data)
    state = json.loads(json.dumps(first.state))
    surrogate = Treed(smallest=5, chance=1.0).fitted(MODEL, replace(FAST, sweeps=0), (0, 1))
    second = surrogate.fit(data, rng, state)
    X = rng.random((20, 2))
    for one, two in zip(first.components, second.components, strict=True):
        np.testing.assert_allclose(one.predict(X)[0], two.predict(X)[0], atol=0.05)
    assert second.state["thetas"] == state["thetas"]


def test_every_leaf_is_sampled_since_its_ancestors_have_every_new_observation(rng):
    data = observations()
    surrogate = Treed(smallest=5, least=0.0, chance=1.0).fitted(MODEL, FAST, (0, 1))
    before = surrogate.fit(data, rng).state
    assert 4 < len(before["ages"]) <= AT_ONCE
    x = data.X[:1] + 1e-9  # beside an observation, of the same value: the tree stays
    after = surrogate.fit(data.append(x, data.y[:1]), rng, before).state
    assert after["tree"] == before["tree"]
    assert after["ages"] == [0] * len(after["ages"])
    assert all(a != b for a, b in zip(before["thetas"], after["thetas"], strict=True))


def test_of_many_leaves_those_with_new_observations_come_first_then_the_longest_unsampled(rng):
    data = observations()
    partition = Partition.of(data.X, data.y, (0, 1), 2)
    count = len(partition)
    assert count > AT_ONCE + 2
    ages = rng.permutation(count).tolist()
    chains = LeafChains(partition, [np.zeros((1, 1))] * count, [0] * count, ages, None)
    marks = [0] * count
    marks[ages.index(0)] = 1  # a new observation in the leaf that was sampled last
    due = chains.due(marks)
    assert len(due) == AT_ONCE
    assert due[0] == ages.index(0)
    assert [ages[leaf] for leaf in due[1:]] == [*range(count - 1, count - AT_ONCE, -1)]


def test_a_state_of_other_slots_is_not_used(rng):
    data = observations()
    state = fitted(data).state
    other = TreedGP(GP(Matern52(free(LogNormal(), size=2)), 1e-4), FAST, (0, 1))
    belief = other.fit(data, rng, state)
    assert len(belief) == FAST.chains


def test_the_level_of_a_leaf_is_inferred_instead_of_integrated_out():
    components = fitted(observations()).components
    means = [leaf.model.mean for part in components for leaf in part.leaves]
    assert len(set(means)) > len(components)
    assert not any(isinstance(leaf.model.kernel, Offset) for leaf in components[0].leaves)


def test_map_gives_one_component(rng):
    surrogate = Treed(smallest=10, chance=1.0).fitted(MODEL, MAP(starts=2), (0, 1))
    assert len(surrogate.fit(observations(), rng)) == 1


def test_the_default_leaf_holds_five_observations_for_each_column(rng):
    surrogate = Treed(chance=1.0).fitted(MODEL, FAST, (0, 1))
    tree = surrogate.fit(observations(), rng).components[0].division
    assert min(len(rows) for rows in tree.leaf_rows) >= 10


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Treed(leaves=Treed()),
        lambda: Treed(leaves="warped"),
        lambda: Treed(leaves=Latent()),
        lambda: Treed(leaves=Heteroscedastic()),
        lambda: Treed(leaves=CategoryMix()),
        lambda: Treed(leaves=OneHot()),
        lambda: Treed(smallest=1),
        lambda: Treed(least=-0.1),
        lambda: Treed(beyond=-1),
        lambda: Treed(chance=0.0),
        lambda: Treed(chance=1.1),
        lambda: Treed().fitted(MODEL, Laplace(), (0,)),
    ],
)
def test_senseless_settings_are_refused(wrong):
    with pytest.raises(ModelError):
        wrong()


METHODS = {
    "treed": Method(surrogate=Treed(smallest=5, chance=1.0), inference=FAST),
    "treed-warped": Method(surrogate=Treed(Warped(), smallest=5, chance=1.0), inference=FAST),
    "map": Method(surrogate=Treed(smallest=5), inference=MAP(starts=1)),
    "thompson": Method(
        surrogate=Treed(smallest=5), inference=FAST, acquisition=Thompson(features=32)
    ),
}


def example(space, seed=0, n=20, **more):
    rng = np.random.default_rng(seed)
    X = space.from_uniform(rng.random((n + 2, len(space.columns))))
    y = np.sin(3 * X.sum(1)) + 0.1 * X[:, 0]
    return view_of(space, X[:n], y[:n], X[n:], **more)


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("space", ["box", "mixed"])
def test_treed_methods_keep_the_contract_with_trials_running(space, method, check):
    space = EVERY_SPACE[space]
    check(strategy_for(METHODS[method], space), space, example(space, noise=False))


@pytest.mark.parametrize(("space", "noise"), EVERY_NOISE)
def test_every_kind_of_noise_works_on_every_space(space, noise):
    space = EVERY_SPACE[space]
    view = example(space, noise=noise)
    strategy = strategy_for(METHODS["treed"], space)
    first = strategy.propose(view, np.random.default_rng(0))
    again = strategy.propose(replace(view, warm=first.warm), np.random.default_rng(1))
    for suggestion in (first, again):
        assert space.validate(suggestion.params)
        assert suggestion.why["source"] == "model"


@pytest.mark.parametrize("name", ["treed", "treed-warped"])
def test_methods_are_known_by_name(name):
    space = Space({"x": Float(0, 1)})
    x = np.linspace(0.0, 1.0, 12)[:, None]
    view = view_of(space, x, np.sin(9 * x[:, 0]))
    suggestion = strategy_for(name, space).propose(view, np.random.default_rng(0))
    assert suggestion.why["surrogate"] == "treed GP"
    exact, noisy = (suggestion.warm[part]["tree"] for part in ("exact", "noisy"))
    assert exact["tree"] == noisy["tree"]
    assert len(exact["thetas"]) > 1


def test_a_treed_method_survives_json():
    method = Method(surrogate=Treed(Warped(), smallest=7))
    assert Method.from_json(json.loads(json.dumps(method.to_json()))).surrogate == method.surrogate
