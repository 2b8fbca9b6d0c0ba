import json
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from outcrop.data import Observations
from outcrop.inference import MAP, Slice
from outcrop.kernels import Matern52, Offset, Scaled
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.surrogates import GP, Inferred, Treed, TreedGP
from outcrop.surrogates.contest import MOST_CHANGE, RESOLUTION
from outcrop.surrogates.partition import Partition
from outcrop.surrogates.treed import CHANCE, Contested

FAST = Slice(chains=3, burn_in=4)
KERNEL = Scaled(free(LogNormal()), Matern52(free(LogNormal(-1.0, 1.0), size=1)))
MODEL = GP(Offset(1.0, KERNEL), noise=1e-8)


def kinked(x):
    """A slow wave on the left of 0.6, a fast one on its right."""
    return np.where(x < 0.6, 2 + np.sin(2 * x), np.sin(60 * x))


def observed(objective, n, seed=0):
    x = np.random.default_rng(seed).random(n)
    return Observations(x[:, None], objective(x))


def first(data, n):
    return Observations(data.X[:n], data.y[:n], None if data.noise is None else data.noise[:n])


def followed(surrogate, data, start, rng):
    """The belief once results after the first `start` have come in, four at a time."""
    belief = surrogate.fit(first(data, start), rng)
    for n in range(start + 4, len(data) + 1, 4):
        belief = surrogate.fit(first(data, n), rng, json.loads(json.dumps(belief.state)))
    return belief


def leaves_of(belief):
    return len(belief.components[0].division)


def test_a_tree_that_has_predicted_nothing_yet_leaves_the_belief_to_the_process_without_one(rng):
    data = observed(kinked, 30)
    belief = Treed().fitted(MODEL, FAST, (0,)).fit(data, np.random.default_rng(1))
    alone = Inferred(MODEL, FAST).fit(data, np.random.default_rng(1))
    X = rng.random((20, 1))
    assert leaves_of(belief) == 1
    assert "tree" in belief.state
    np.testing.assert_allclose(belief.predict_each(X), alone.predict_each(X), rtol=1e-9)
    assert belief.state["lead"] == pytest.approx(log(CHANCE / (1 - CHANCE)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_odds_move_by_the_densities_of_results_before_they_were_told(seed, several, is_noisy):
    rng = np.random.default_rng(seed)
    x, n = rng.random(30 + several), 30
    noise = rng.uniform(0.01, 0.1, len(x)) if is_noisy else None
    data = Observations(x[:, None], kinked(x) + 0.3 * rng.normal(size=len(x)), noise)
    whole, tree = GP(Matern52([0.3]), 0.01), GP(Matern52([0.1]), 0.04, mean=0.5)
    surrogate = Contested(Inferred(whole, FAST), TreedGP(tree, FAST, (0,), 8, beyond=0), 0.25)
    before = surrogate.fit(first(data, n), rng)
    after = surrogate.fit(data, rng, before.state)

    partition = Partition.of(data.X[:n], data.y[:n], (0,), 8, surrogate.tree.least)
    expected = 0.25
    for i in range(n, len(x)):
        densities = []
        rows = partition.leaf_rows[partition.leaf_of(data.X[i : i + 1])[0]]
        for model, own in ((tree, rows), (whole, np.arange(n))):
            own_noise = None if noise is None else noise[own]
            posterior = model.condition(Observations(data.X[own], data.y[own], own_noise))
            (mean,), (var,) = posterior.predict(data.X[i : i + 1])
            var += model.noise + RESOLUTION**2 + (0.0 if noise is None else noise[i])
            densities.append(norm(mean, np.sqrt(var)).logpdf(data.y[i]))
        expected += np.clip(densities[0] - densities[1], -MOST_CHANGE, MOST_CHANGE)
    assert len(partition) > 1
    assert after.state["lead"] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert leaves_of(after) == (1 if expected <= 0 else len(surrogate.tree.partition(data)))


def test_a_tree_takes_over_where_one_process_does_not_fit(rng):
    surrogate = Treed().fitted(MODEL, FAST, (0,))
    belief = followed(surrogate, observed(kinked, 60), 20, rng)
    assert belief.state["lead"] > 0
    assert leaves_of(belief) > 1


def test_a_tree_stays_away_where_one_process_fits(rng):
    surrogate = Treed().fitted(MODEL, FAST, (0,))
    belief = followed(surrogate, observed(lambda x: np.sin(12 * x), 48), 16, rng)
    assert "tree" in belief.state
    assert leaves_of(belief) == 1


def test_what_was_known_already_says_nothing_in_whatever_order_it_comes(rng):
    data = observed(kinked, 40)
    surrogate = Treed().fitted(MODEL, FAST, (0,))
    before = followed(surrogate, data, 36, rng).state
    order = rng.permutation(len(data))
    again = surrogate.fit(Observations(data.X[order], data.y[order]), rng, before).state
    assert again["lead"] == before["lead"] != surrogate.lead


def test_a_space_that_cannot_be_cut_is_left_alone_and_the_tree_waits(rng):
    data = observed(kinked, 30)
    surrogate = Treed().fitted(MODEL, FAST, (0,))
    assert "tree" not in surrogate.fit(first(data, 6), rng).state
    before = surrogate.fit(data, rng).state
    fewer = surrogate.fit(first(data, 6), rng, before)
    assert leaves_of(fewer) == 1
    assert fewer.state["tree"] == before["tree"]


def test_so_many_observations_that_one_process_would_be_slow_leave_the_tree_alone(rng):
    data = observed(kinked, 201)
    belief = Treed().fitted(MODEL, MAP(starts=1), (0,)).fit(data, rng)
    assert leaves_of(belief) > 1
    assert set(belief.state) == {"tree"}
    fewer = Treed().fitted(MODEL, MAP(starts=1), (0,)).fit(first(data, 30), rng, belief.state)
    assert leaves_of(fewer) == 1


def test_a_certain_tree_is_not_contested():
    assert isinstance(Treed(chance=1.0).fitted(MODEL, FAST, (0,)), TreedGP)
    assert isinstance(Treed(chance=0.999).fitted(MODEL, FAST, (0,)), Contested)
