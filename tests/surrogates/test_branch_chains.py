"""Inference in leaves: what moves, what is kept, and that it is the posterior."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import MAP, Laplace, Slice, slice_chain
from outcrop.inference.target import log_posterior
from outcrop.kernels import Linear
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.problems import get
from outcrop.surrogates import BranchChains, BranchGP
from outcrop.surrogates.branch_chains import BranchTarget
from outcrop.surrogates.inferred import ModelTarget
from outcrop.surrogates.tree_structured import leaf_kernels
from outcrop.testing import central_differences
from tests.surrogates.trees import random_data, random_points, random_space, situation

SPACE = get("tree-small-shared").space


def model(noise=None):
    shared, leaves = leaf_kernels(situation(SPACE), Linear(), True)
    return BranchGP(shared, leaves, free(LogNormal(-4.0, 1.0)) if noise is None else noise)


def data(n=20, seed=0):
    return random_data(SPACE, n, np.random.default_rng(seed))


def test_kept_leaves_give_the_likelihood_that_fresh_ones_do():
    rng = np.random.default_rng(1)
    observations = data()
    kept = BranchTarget(model(), observations)
    plain = ModelTarget(model(), observations)
    theta = kept.sample_prior(rng, 1)[0]
    for _ in range(60):  # one coordinate at a time, as a sampler moves
        theta[rng.integers(len(theta))] += rng.normal()
        assert kept.log_likelihood(theta) == pytest.approx(plain.log_likelihood(theta), abs=1e-9)
        assert kept.log_prior(theta) == plain.log_prior(theta)


def test_gradients_in_theta_are_those_of_finite_differences():
    target = BranchTarget(model(), data())
    theta = target.sample_prior(np.random.default_rng(2), 1)[0]
    value, gradient = target.log_likelihood_with_gradient(theta)
    assert value == pytest.approx(target.log_likelihood(theta), abs=1e-9)
    expected = central_differences(target.log_likelihood, theta)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_warm_chains_move_the_leaf_with_the_new_point_and_what_is_shared():
    chains, rng = BranchChains(model(), Slice(chains=3, burn_in=2)), np.random.default_rng(3)
    before = chains.fit(data(), rng).state
    more = data().append(random_points(SPACE, 1, rng), np.array([0.3]))
    after = chains.fit(more, rng, json.loads(json.dumps(before))).state
    leaf = _leaf_of(more.X[-1:])
    for one, two in zip(before["thetas"], after["thetas"], strict=True):
        moved = {name for name in one if one[name] != two[name]}
        own = {name for name in one if name.startswith(f"leaves.{leaf}.")}
        assert moved == own | {"shared.variance", "noise"}
    assert json.loads(json.dumps(after)) == after


def _leaf_of(X):
    return next(i for i, leaf in enumerate(model().leaves) if leaf._holds(X)[0])


def test_without_a_new_point_only_what_is_shared_moves():
    chains, rng = BranchChains(model(), Slice(chains=2, burn_in=2)), np.random.default_rng(3)
    before = chains.fit(data(), rng).state
    after = chains.fit(data(), rng, before).state
    for one, two in zip(before["thetas"], after["thetas"], strict=True):
        assert {n for n in one if one[n] != two[n]} == {"shared.variance", "noise"}


def test_as_many_chains_move_as_inference_says():
    chains, rng = BranchChains(model(), Slice(chains=4, burn_in=2)), np.random.default_rng(3)
    before = chains.fit(data(), rng).state
    few = BranchChains(model(), Slice(chains=4, moved=1))
    after = few.fit(data(), rng, before).state
    pairs = zip(before["thetas"], after["thetas"], strict=True)
    assert sum(one != two for one, two in pairs) == 1


@pytest.mark.parametrize("moved", [None, 1])
def test_only_a_chain_that_is_out_of_patience_starts_cold_and_only_in_what_moves(moved):
    still = Slice(chains=4, burn_in=4, sweeps=0, moved=moved, patience=2.5)
    rng = np.random.default_rng(8)
    state = BranchChains(model(), Slice(chains=4, burn_in=20)).fit(data(), rng).state
    stuck = dict(state["thetas"][2])
    own = {name for name in stuck if name.startswith("leaves.1.")}
    stuck |= {name: np.subtract(stuck[name], 8.0).tolist() for name in own}  # tiny lengthscales
    state["thetas"][2] = stuck
    state["marks"][1] += 1  # as if leaf 1 had got a point
    after = BranchChains(model(), still).fit(data(), rng, state).state["thetas"]
    for i, (one, two) in enumerate(zip(state["thetas"], after, strict=True)):
        moving = own | {"shared.variance", "noise"} if i == 2 else set()
        assert {name for name in one if one[name] != two[name]} == moving
    target = BranchTarget(model(), model().sorted(data()))
    before, now = (log_posterior(target)(target.layout.join(one)) for one in (stuck, after[2]))
    assert now > before + 20


def test_a_stuck_chain_may_take_over_what_moves_from_the_chain_that_suits_it_best():
    still = Slice(chains=4, sweeps=0, patience=2.5, rejoins=True)
    rng = np.random.default_rng(8)
    state = BranchChains(model(), Slice(chains=4, burn_in=20)).fit(data(), rng).state
    stuck = dict(state["thetas"][2])
    own = {name for name in stuck if name.startswith("leaves.1.")}
    stuck |= {name: np.subtract(stuck[name], 8.0).tolist() for name in own}
    state["thetas"][2] = stuck
    state["marks"][1] += 1  # as if leaf 1 had got a point
    after = BranchChains(model(), still).fit(data(), rng, state).state["thetas"]
    target = BranchTarget(model(), data())
    density, moving = log_posterior(target), [*own, "shared.variance", "noise"]
    swapped = [stuck | {name: other[name] for name in moving} for other in state["thetas"]]
    best = max(swapped, key=lambda parts: density(target.layout.join(parts)))
    assert after == [*state["thetas"][:2], best, state["thetas"][3]]


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
@settings(max_examples=15, deadline=None)
def test_unseen_coordinates_are_those_that_the_likelihood_does_not_depend_on(seed, n):
    rng = np.random.default_rng(seed)
    space = random_space(rng, depth=2)
    shared, leaves = leaf_kernels(situation(space), Linear(), True)
    target = ModelTarget(BranchGP(shared, leaves, 0.01), random_data(space, n, rng))
    unseen = BranchTarget(target.model, target.data).unseen
    theta = 0.3 * target.sample_prior(rng, 1)[0]
    for i in range(target.dim):
        values = []
        for step in (0.0, 0.5):
            moved = theta.copy()
            moved[i] += step
            values.append(target.log_likelihood(moved))
        assert unseen[i] == (np.ptp(values) < 1e-9 * max(1, np.abs(values).max()))


def test_lengthscales_of_a_leaf_with_one_observation_are_unseen():
    X = random_points(SPACE, 1, np.random.default_rng(0))
    target = BranchTarget(model(), Observations(X, np.array([0.3])))
    leaf = _leaf_of(X)
    seen = {slot.name for slot in target.layout.slots if not target.unseen[slot.part].any()}
    assert seen == {"shared.variance", "noise", f"leaves.{leaf}.kernel.variance"}


@pytest.mark.slow
def test_prior_draws_of_unseen_coordinates_leave_the_posterior_as_it_is():
    """A chain that moves every coordinate by likelihoods has the same means and deviations."""
    rng = np.random.default_rng(9)
    observations = data(5)
    target = BranchTarget(model(), observations)
    assert 0.2 < target.unseen.mean() < 0.8
    long = slice_chain(ModelTarget(model(), observations), rng, 2000, burn_in=50)[::10]
    drawn = Slice(chains=200, burn_in=20).infer(target, rng).thetas
    for one, two in ((long, drawn), (long**2, drawn**2)):
        error = np.sqrt((one.var(0) + two.var(0)) / 200)
        assert (np.abs(one.mean(0) - two.mean(0)) / error).max() < 5  # of 2 × 13 comparisons


def test_map_finds_a_higher_density_than_draws_of_the_prior():
    rng = np.random.default_rng(4)
    belief = BranchChains(model(), MAP(starts=2, iterations=60)).fit(data(), rng)
    target = BranchTarget(model(), data())

    def found(belief):
        (parts,) = belief.state["thetas"]
        return target.log_likelihood(target.layout.join(parts))

    others = [target.log_likelihood(theta) for theta in target.sample_prior(rng, 40)]
    assert found(belief) > max(others)
    again = BranchChains(model(), MAP(starts=2, iterations=60)).fit(data(), rng, belief.state)
    assert found(again) == pytest.approx(found(belief), abs=2.0)


def test_a_model_without_free_slots_is_conditioned_as_it_is():
    rng = np.random.default_rng(5)
    target = BranchTarget(model(), data())
    fixed = target.layout.bind(target.sample_prior(rng, 1)[0])
    belief = BranchChains(fixed, Slice()).fit(data(), rng)
    assert len(belief) == 1
    X = random_points(SPACE, 4, rng)
    np.testing.assert_array_equal(
        belief.components[0].predict(X)[0], fixed.condition(data()).predict(X)[0]
    )


def test_another_number_of_chains_starts_from_those_there_are():
    rng = np.random.default_rng(6)
    before = BranchChains(model(), Slice(chains=2, burn_in=1)).fit(data(), rng).state
    belief = BranchChains(model(), Slice(chains=3, burn_in=1)).fit(data(), rng, before)
    assert len(belief) == 3


def test_laplace_is_refused():
    with pytest.raises(ModelError, match="Laplace"):
        BranchChains(model(), Laplace())


@pytest.mark.slow
def test_moving_some_coordinates_at_a_time_leaves_the_posterior_as_it_is():
    """Long runs that resample one leaf after the other, and all at once, agree in their means."""
    rng = np.random.default_rng(7)
    observations = Observations(data(12).X, data(12).y)
    target = BranchTarget(model(), observations)
    whole = Slice(chains=200, burn_in=30, sweeps=1).infer(target, rng).thetas
    chains = BranchChains(model(), Slice(chains=200, burn_in=30))
    state = chains.fit(observations, rng).state
    for turn in range(12):
        marks = list(state["marks"])
        marks[turn % len(marks)] += 1  # as if that leaf had got a point
        state = chains.fit(observations, rng, {**state, "marks": marks}).state
    parts = np.array([target.layout.join(one) for one in state["thetas"]])
    error = np.sqrt((whole.var(0) + parts.var(0)) / 200)
    assert (np.abs(whole.mean(0) - parts.mean(0)) / error).max() < 4.5
