"""Searches with latent inputs, as a method and as its parts."""

import json

import numpy as np
import pytest
from scipy import stats

import outcrop as oc
from outcrop.inference import MAP, Slice
from outcrop.strategies import Method, strategy_for
from outcrop.surrogates import Latent
from outcrop.surrogates.stack import Stack
from outcrop.testing import STRATEGY_CONTRACT, view_of
from tests.strategies.spaces import EVERY_NOISE, EVERY_SPACE
from tests.strategies.test_strategies import example

FAST = Slice(chains=2, burn_in=1)
SPREADS = {"0.1", "0.01", "0.0"}  # by which their states are known


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("together", [False, True], ids=["drawn", "together"])
@pytest.mark.parametrize("space", ["box", "integers", "mixed", "conditional"])
def test_every_latent_strategy_keeps_the_contract(space, together, check):
    space = EVERY_SPACE[space]
    method = Method(surrogate=Latent(together=together), inference=FAST)
    check(strategy_for(method, space), space, example(space, noise=False))


@pytest.mark.parametrize(("space", "noise"), EVERY_NOISE)
def test_every_kind_of_noise_works_on_every_space(space, noise):
    space = EVERY_SPACE[space]
    method = Method(surrogate=Latent(coordinates=2), inference=FAST)
    suggestion = strategy_for(method, space).propose(
        example(space, noise=noise), np.random.default_rng(0)
    )
    space.validate(suggestion.params)
    assert suggestion.why["source"] == "model"


@pytest.mark.parametrize(
    "parts",
    [
        {"inference": MAP(starts=2)},
        {"acquisition": oc.acquisition.Thompson(features=64)},
        {"maximiser": oc.baselines.DeltaCover(spread=50, boxed=5)},
    ],
    ids=["map", "thompson", "cover"],
)
def test_other_parts_go_with_it(parts):
    space = EVERY_SPACE["mixed"]
    method = Method(surrogate=Latent((0.1,)), **{"inference": FAST, **parts})
    why = strategy_for(method, space).propose(example(space), np.random.default_rng(0)).why
    assert why["source"] == "model"
    assert why["surrogate"] == "latent GP"


def test_spreads_are_in_units_of_the_diagonal_of_numbers_that_are_always_there(rng):
    space = oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])})
    view = example(space, noise=False)
    method = Method(surrogate=Latent((0.5,)), inference=Slice(chains=200, burn_in=0, sweeps=0))
    view = view_of(space, view.X, view.y, np.zeros((0, 3)), noise=1e9)  # says nothing
    belief = strategy_for(method, space).belief(view, rng)
    moves = np.concatenate([part.latents[:, 0] for part in belief.mixture.components])
    assert stats.kstest(moves / (0.5 * np.sqrt(2)), "norm").pvalue > 1e-3


def test_one_spread_is_drawn_for_each_suggestion_and_the_others_wait():
    space = EVERY_SPACE["box"]
    strategy = strategy_for(Method(surrogate=Latent(), inference=FAST), space)
    warm, drawn = {}, set()
    for seed in range(12):
        view = example(space, noise=False, warm=warm)
        after = strategy.propose(view, np.random.default_rng(seed)).warm
        changed = [name for name in SPREADS if after.get(name) != warm.get(name)]
        assert len(changed) == 1
        drawn.update(changed)
        warm = after
    assert drawn == SPREADS


def test_together_all_spreads_share_the_belief():
    space = EVERY_SPACE["box"]
    method = Method(surrogate=Latent(together=True), inference=Slice(chains=6, burn_in=2))
    belief = strategy_for(method, space).belief(
        example(space, noise=False), np.random.default_rng(0)
    )
    still = [not part.latents.any() for part in belief.mixture.components]
    assert sorted(still) == [False] * 4 + [True] * 2
    assert set(belief.mixture.state) == SPREADS
    assert Stack.of(belief.mixture.components) is not None


@pytest.mark.parametrize("power", [-900, 5])
def test_values_scaled_by_a_power_of_two_give_the_same_suggestion(power):
    space = EVERY_SPACE["mixed"]
    strategy = strategy_for(Method(surrogate=Latent(), inference=FAST), space)
    plain = example(space)
    scaled = view_of(space, plain.X, plain.y * 2.0**power, plain.pending, plain.failed)
    one, two = (strategy.propose(view, np.random.default_rng(5)) for view in (plain, scaled))
    assert one.params == two.params


def test_a_method_with_it_is_stored_and_read_back():
    method = Method(surrogate=Latent((0.2, 0.0), together=True, coordinates=3))
    again = Method.from_json(json.loads(json.dumps(method.to_json())))
    assert again.surrogate == method.surrogate


def test_it_is_known_by_name():
    space = EVERY_SPACE["box"]
    assert strategy_for("latent", space).kind == Latent()
