"""Noisy-input models as surrogates of a search."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

import outcrop as oc
from outcrop.acquisition import EI, UCB, LogEI, MaxValueEntropy, Thompson
from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import MAP, Laplace, Slice
from outcrop.kernels import RBF, Offset, Scaled
from outcrop.maximise import Maximiser
from outcrop.strategies import Method, strategy_for
from outcrop.surrogates import GP, NIGP, UTGP, Analytic, RandFunc
from outcrop.surrogates.noisy import AnalyticGP, InputNoise
from outcrop.testing import STRATEGY_CONTRACT
from tests.strategies.spaces import EVERY_SPACE
from tests.strategies.test_strategies import example

FAST = Slice(chains=2, burn_in=1)
KINDS = {
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
@pytest.mark.parametrize("kind", KINDS)
def test_its_strategy_keeps_the_contract(kind, check):
    space = EVERY_SPACE["box"]
    method = Method(surrogate=KINDS[kind], inference=FAST)
    check(strategy_for(method, space), space, example(space))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["line", "mixed", "conditional", "categories"])
def test_every_space_is_searched(space, kind):
    space = EVERY_SPACE[space]
    strategy = strategy_for(Method(surrogate=KINDS[kind], inference=FAST), space)
    suggestion = strategy.propose(example(space, noise=False), np.random.default_rng(0))
    assert suggestion.why["source"] == "model"
    space.validate(suggestion.params)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "acquisition",
    [EI(), UCB(), LogEI(), MaxValueEntropy(samples=4), Thompson(features=32)],
    ids=repr,
)
def test_every_acquisition_works_with_running_trials(acquisition, kind):
    space = EVERY_SPACE["box"]
    method = Method(surrogate=KINDS[kind], inference=FAST, acquisition=acquisition)
    view = example(space, noise=False)
    suggestion = strategy_for(method, space).propose(view, np.random.default_rng(0))
    assert suggestion.why["source"] == "model"


@dataclass
class Listening:
    """A maximiser that notes over which lengths it is told that the function changes."""

    maximiser: Maximiser = field(default_factory=Maximiser)
    heard: list[object] = field(default_factory=list)

    def candidates(self, *arguments):
        return self.maximiser.candidates(*arguments)

    def __call__(self, *arguments, **options):
        self.heard.append(options["scales"])
        return self.maximiser(*arguments, **options)


def lengths_heard(kind, inference):
    space, maximiser = EVERY_SPACE["box"], Listening()
    method = Method(surrogate=kind, inference=inference, maximiser=maximiser)
    strategy_for(method, space).propose(example(space, noise=True), np.random.default_rng(0))
    return maximiser.heard[0]


@pytest.mark.parametrize("kind", ["simple", "full"])
def test_the_search_is_told_the_lengthscales_of_the_central_process(kind):
    kind = UTGP(input_std=0.05, kind=kind)
    expected = lengths_heard(None, FAST)  # all moved data sets have the hyperparameters of this one
    assert len(set(expected)) == len(expected)
    np.testing.assert_array_equal(lengths_heard(kind, FAST), expected)


def test_where_the_central_belief_has_no_lengthscales_they_are_those_of_the_cube():
    heard = lengths_heard(UTGP(input_std=0.05), Laplace(starts=1))
    np.testing.assert_array_equal(heard, np.ones(len(EVERY_SPACE["box"].columns)))


@pytest.mark.parametrize("shape", [(14, 2), (14, 2, 2)], ids=["variances", "covariances"])
def test_noise_of_inputs_is_learnt_where_nothing_is_known_and_not_where_they_are_exact(shape):
    space, new = EVERY_SPACE["box"], np.random.default_rng(1).random((5, 2))
    strategy = strategy_for(Method(surrogate=Analytic(), inference=FAST), space)
    for told in (np.zeros(shape), None):
        view = example(space, noise=True, input_cov=told)
        for part in strategy.belief(view, np.random.default_rng(0)).mixture.components:
            around, leaf = part.model.kernel, part.model.kernel.kernel.kernel
            scaled = Scaled(around.kernel.variance, RBF(leaf.lengthscales))
            plain = Offset(around.variance, scaled), part.model.noise, part.model.mean
            exact = GP(*plain).condition(part.data.visible).predict(new)
            learnt = AnalyticGP(*plain, InputNoise(tuple(leaf.spread)))
            noisy = learnt.condition(Observations(part.data.X, part.data.y)).predict(new)
            assert np.abs(noisy[1] - exact[1]).max() > 1e-6
            expected = noisy if told is None else exact
            np.testing.assert_allclose(part.predict(new), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("noise", [None, True, False, 0.3])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_noise_is_taken(kind, noise):
    space = EVERY_SPACE["box"]
    strategy = strategy_for(Method(surrogate=KINDS[kind], inference=MAP(starts=1)), space)
    view = example(space, noise=noise)
    mean, std = strategy.belief(view, np.random.default_rng(0)).predict(view.X)
    assert np.isfinite(mean).all()
    assert (std > 0).all()


@pytest.mark.parametrize("kind", ["analytic", "nigp", "utgp"])
def test_a_mode_with_its_curvature_will_do_as_inference(kind):
    space = EVERY_SPACE["box"]
    method = Method(surrogate=KINDS[kind], inference=Laplace(starts=1))
    belief = strategy_for(method, space).belief(example(space), np.random.default_rng(0))
    assert (belief.predict(example(space).X)[1] > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_method_with_it_is_stored_and_read_back(kind):
    method = Method(surrogate=KINDS[kind])
    again = Method.from_json(json.loads(json.dumps(method.to_json())))
    assert again.surrogate == method.surrogate


def test_covariances_are_stored_and_read_back():
    method = Method(surrogate=NIGP(input_cov=np.array([[0.01, 0.002], [0.002, 0.01]])))
    again = Method.from_json(json.loads(json.dumps(method.to_json())))
    assert again.surrogate == method.surrogate == NIGP(input_cov=[[0.01, 0.002], [0.002, 0.01]])


def test_a_search_goes_on_from_trial_to_trial():
    rng = np.random.default_rng(0)
    space = oc.Space({"x": oc.Float(0, 1)})
    for kind in KINDS.values():
        optimizer = oc.Optimizer(space, method=Method(surrogate=kind, inference=FAST), seed=0)
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
