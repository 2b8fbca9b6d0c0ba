"""Processes in leaves against one for all, judged by what both predict."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Slice
from outcrop.kernels import Matern52
from outcrop.space import Choice, Float, Space
from outcrop.surrogates import GP, GPPosterior, Inferred, LeafwisePosterior, TreeStructured
from outcrop.surrogates.branch_chains import BranchChains
from outcrop.surrogates.contest import CLEAR, MOST_CHANGE, RESOLUTION, Contest, log_odds
from outcrop.surrogates.situation import ALL_MOVE, NoiseFacts, Situation
from tests.surrogates.trees import bound, random_data, random_space

FAST = Slice(chains=3, burn_in=4)
TWO = Space({"k": Choice({"a": {"x": Float(0, 1)}, "b": {"y": Float(0, 1)}}), "r": Float(0, 1)})


def surrogate_of(space, chance=0.5):
    kind = TreeStructured(chance=chance)
    exact = NoiseFacts(declared=False)
    return kind.surrogate(Situation(space, exact, FAST))


def first(data, n):
    return Observations(data.X[:n], data.y[:n])


def followed(surrogate, data, start, rng):
    """The belief once results after the first `start` have come in, four at a time."""
    belief = surrogate.fit(first(data, start), rng)
    for n in range(start + 4, len(data) + 1, 4):
        belief = surrogate.fit(first(data, n), rng, json.loads(json.dumps(belief.state)))
    return belief


def observed(space, function, n, rng):
    X = space.from_uniform(rng.random((n, len(space.columns))))
    y = np.array([function(params) for params in space.decode(X)])
    return Observations(X, (y - y.mean()) / y.std())


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_the_odds_move_by_the_densities_of_results_before_they_were_told(seed, several):
    rng = np.random.default_rng(seed)
    space, n = random_space(rng, depth=2), 12
    data = random_data(space, n + several, rng)
    leaves = bound(space, rng, data, noise=0.04)
    whole = GP(Matern52(np.full(len(space.columns), 0.7)), 0.01)
    contest = Contest(Inferred(whole, FAST), BranchChains(leaves, FAST), 0.25)
    before = contest.fit(first(data, n), rng)
    after = contest.fit(data, rng, before.state)

    expected = 0.25
    for i in range(n, n + several):
        densities = []
        for model in (leaves, whole):
            known = first(data, n)
            posterior = model.condition(leaves.sorted(known) if model is leaves else known)
            (mean,), (var,) = posterior.predict(data.X[i : i + 1])
            spread = np.sqrt(var + model.noise + RESOLUTION**2)
            densities.append(norm(mean, spread).logpdf(data.y[i]))
        expected += np.clip(densities[0] - densities[1], -MOST_CHANGE, MOST_CHANGE)
    assert after.state["lead"] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    believed = LeafwisePosterior if expected >= 0 else GPPosterior
    assert all(isinstance(part, believed) for part in after.components)


def test_leaves_are_believed_where_ways_have_nothing_in_common(rng):
    def unlike(params):
        if params["k"] == "a":
            return 3 + np.sin(25 * params["k.a.x"]) * np.cos(9 * params["r"])
        return 0.1 * params["k.b.y"] - 0.2 * params["r"]

    belief = followed(surrogate_of(TWO), observed(TWO, unlike, 60, rng), 20, rng)
    assert belief.state["lead"] > 0
    assert all(isinstance(part, LeafwisePosterior) for part in belief.components)


def test_one_process_is_believed_where_a_shared_parameter_bends_all_ways_alike(rng):
    def alike(params):
        own = params.get("k.a.x", params.get("k.b.y"))
        return np.sin(12 * params["r"]) + 0.05 * own

    belief = followed(surrogate_of(TWO), observed(TWO, alike, 60, rng), 12, rng)
    assert belief.state["lead"] < 0
    assert all(isinstance(part, GPPosterior) for part in belief.components)


def test_without_predictions_the_chance_decides(rng):
    data = observed(TWO, lambda params: params["r"], 10, rng)
    for chance, believed in ((0.5, LeafwisePosterior), (0.4, GPPosterior)):
        belief = surrogate_of(TWO, chance).fit(data, rng)
        assert belief.state["lead"] == pytest.approx(log_odds(chance))
        assert isinstance(belief.components[0], believed)


@pytest.mark.parametrize("lead", [2 * CLEAR, -2 * CLEAR])
def test_a_model_that_is_clearly_behind_is_fitted_in_its_turn_only(lead, rng):
    data = observed(TWO, lambda params: params["r"] ** 2, 16, rng)
    surrogate = surrogate_of(TWO)
    state = surrogate.fit(first(data, 10), rng).state | {"lead": lead}
    ahead, behind = ("tree", "whole") if lead > 0 else ("whole", "tree")
    contest = replace(surrogate, turn=3)
    for n in (11, 12):
        belief = contest.fit(first(data, n), rng, json.loads(json.dumps(state)))
        assert belief.state["lead"] == lead
        assert belief.state[behind] == state[behind]
        assert belief.state[ahead] != state[ahead]
        believed = LeafwisePosterior if lead > 0 else GPPosterior
        assert all(isinstance(part, believed) for part in belief.components)
        state = belief.state
    after = contest.fit(first(data, 13), rng, state).state
    assert after[behind] != state[behind]
    assert 0 < abs(after["lead"] - lead) <= MOST_CHANGE  # by the last result alone
    assert contest.fit(first(data, 14), rng, after).state["rested"] == 1


def test_without_a_clear_lead_results_count_while_the_model_that_is_behind_rests(rng):
    data = observed(TWO, lambda params: params["r"] ** 2, 11, rng)
    contest = surrogate_of(TWO)
    before = contest.fit(first(data, 10), rng).state | {"lead": -1.0}
    both = contest.fit(data, rng, before).state
    rested = replace(contest, turn=3).fit(data, rng, before).state
    assert rested["lead"] == both["lead"] != -1.0
    ahead, behind = ("tree", "whole") if rested["lead"] >= 0 else ("whole", "tree")
    assert rested[behind] == before[behind]
    assert rested[ahead] != before[ahead]


def test_a_model_that_takes_the_lead_is_fitted_at_once(rng):
    data = observed(TWO, lambda params: params["r"] ** 2, 11, rng)
    contest = replace(surrogate_of(TWO), turn=3)
    before = contest.fit(first(data, 10), rng).state
    gain = contest.fit(data, rng, before).state["lead"] - before["lead"]
    assert gain != 0
    turned = contest.fit(data, rng, {**before, "lead": -gain / 2})
    assert turned.state["lead"] == pytest.approx(gain / 2)
    ahead, believed = ("tree", LeafwisePosterior) if gain > 0 else ("whole", GPPosterior)
    assert turned.state[ahead] != before[ahead]
    assert all(isinstance(part, believed) for part in turned.components)


def test_chains_of_a_default_inference_start_at_a_mode_once_data_are_many():
    exact = NoiseFacts(declared=False)
    for n, many in ((ALL_MOVE, False), (ALL_MOVE + 1, True)):
        contest = TreeStructured().surrogate(Situation(TWO, exact, observations=n))
        for part in (contest.tree, contest.whole):
            assert part.inference.from_mode == part.inference.rejoins == many
        assert (contest.turn > 1) == many
    given = TreeStructured().surrogate(Situation(TWO, exact, FAST, observations=ALL_MOVE + 1))
    assert given.tree.inference == given.whole.inference == FAST


def test_certain_leaves_are_not_contested():
    assert isinstance(surrogate_of(TWO, chance=1.0), BranchChains)
    with pytest.raises(ModelError, match=r"chance=1\.5.*probability"):
        TreeStructured(chance=1.5)
