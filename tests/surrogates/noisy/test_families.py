"""Noisy-input models as surrogates of a search."""

import json

import numpy as np
import pytest

import outcrop as oc
from outcrop.acquisition import EI, UCB, LogEI, MaxValueEntropy, Thompson
from outcrop.errors import ModelError
from outcrop.inference import MAP, Laplace, Slice
from outcrop.strategies import Method, strategy_for
from outcrop.surrogates import NIGP, UTGP, Analytic, RandFunc
from outcrop.testing import STRATEGY_CONTRACT
from tests.strategies.spaces import EVERY_SPACE
from tests.strategies.test_strategies import example

FAST = Slice(chains=2, burn_in=2)
FAMILIES = {
    "analytic": Analytic(input_std=0.05),
    "analytic-learnt": Analytic(),
    "analytic-expected": Analytic(input_std=0.05, expected=True),
    "randfunc": RandFunc(input_std=0.05),
    "nigp": NIGP(input_std=0.05),
    "utgp": UTGP(input_std=0.05),
    "utgp-thesis": UTGP(input_std=0.05, alpha=1e-3, variance="thesis"),
    "utgp-full": UTGP(input_std=0.05, kind="full"),
}


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("family", FAMILIES)
def test_its_strategy_keeps_the_contract(family, check):
    space = EVERY_SPACE["box"]
    method = Method(surrogate=FAMILIES[family], inference=FAST)
    check(strategy_for(method, space), space, example(space))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("space", ["line", "mixed", "conditional", "categories"])
def test_every_space_is_searched(space, family):
    space = EVERY_SPACE[space]
    strategy = strategy_for(Method(surrogate=FAMILIES[family], inference=FAST), space)
    suggestion = strategy.propose(example(space), np.random.default_rng(0))
    assert suggestion.why["source"] == "model"
    space.validate(suggestion.params)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "acquisition",
    [EI(), UCB(), LogEI(), MaxValueEntropy(samples=4), Thompson(features=32)],
    ids=repr,
)
def test_every_acquisition_works_with_running_trials(acquisition, family):
    space = EVERY_SPACE["box"]
    method = Method(surrogate=FAMILIES[family], inference=FAST, acquisition=acquisition)
    suggestion = strategy_for(method, space).propose(example(space), np.random.default_rng(0))
    assert suggestion.why["source"] == "model"


@pytest.mark.parametrize("noise", [None, True, False, 0.3])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_kind_of_noise_is_taken(family, noise):
    space = EVERY_SPACE["box"]
    strategy = strategy_for(Method(surrogate=FAMILIES[family], inference=MAP(starts=1)), space)
    view = example(space, noise=noise)
    mean, std = strategy.belief(view, np.random.default_rng(0)).predict(view.X)
    assert np.isfinite(mean).all()
    assert (std > 0).all()


@pytest.mark.parametrize("family", ["analytic", "nigp", "utgp"])
def test_a_mode_with_its_curvature_will_do_as_inference(family):
    space = EVERY_SPACE["box"]
    method = Method(surrogate=FAMILIES[family], inference=Laplace(starts=1))
    belief = strategy_for(method, space).belief(example(space), np.random.default_rng(0))
    assert (belief.predict(example(space).X)[1] > 0).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_method_with_it_is_stored_and_read_back(family):
    method = Method(surrogate=FAMILIES[family])
    again = Method.from_json(json.loads(json.dumps(method.to_json())))
    assert again.surrogate == method.surrogate


def test_covariances_are_stored_and_read_back():
    method = Method(surrogate=NIGP(input_cov=np.array([[0.01, 0.002], [0.002, 0.01]])))
    again = Method.from_json(json.loads(json.dumps(method.to_json())))
    assert again.surrogate == method.surrogate == NIGP(input_cov=[[0.01, 0.002], [0.002, 0.01]])


def test_a_search_goes_on_from_trial_to_trial():
    rng = np.random.default_rng(0)
    space = oc.Space({"x": oc.Float(0, 1)})
    for family in FAMILIES.values():
        optimizer = oc.Optimizer(space, method=Method(surrogate=family, inference=FAST), seed=0)
        for _ in range(7):
            trial = optimizer.ask()
            x = trial.params["x"] + 0.05 * rng.standard_normal()
            optimizer.tell(trial, (x - 0.3) ** 2)
        assert optimizer.best_trial.value < 0.1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: NIGP(input_std=-0.1),
        lambda: Analytic(input_std=0.1, input_cov=[[0.01]]),
        lambda: RandFunc(input_cov=[[1.0, 2.0], [0.0, 1.0]]),
        lambda: UTGP(kind="half"),
        lambda: UTGP(variance="other"),
        lambda: UTGP(alpha=0.0),
        lambda: UTGP(kind="full", kappa=1.0),
    ],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ModelError):
        wrong()
