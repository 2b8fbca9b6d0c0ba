import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Slice
from outcrop.kernels import Matern52, Scaled
from outcrop.params import Per, free
from outcrop.priors import LogNormal, Normal
from outcrop.strategies import Method, strategy_for
from outcrop.surrogates import GP, Heteroscedastic, HeteroscedasticGP, Inferred
from outcrop.surrogates.heteroscedastic import LEAST
from outcrop.surrogates.inferred import ModelTarget
from outcrop.testing import POSTERIOR_CONTRACT, STRATEGY_CONTRACT, central_differences
from tests.strategies.spaces import EVERY_SPACE
from tests.strategies.test_strategies import example

FAST = Slice(chains=2, burn_in=1)
KERNEL = Scaled(1.3, Matern52([0.3, 0.6]))


def observations(rng, n=12):
    X = rng.random((n, 2))
    return Observations(X, np.sin(5 * X[:, 0]) + X[:, 1])


@given(seed=st.integers(0, 10_000), n=st.integers(1, 30), level=st.floats(1e-6, 1.0))
@settings(max_examples=30, deadline=None)
def test_with_equal_noises_it_is_the_homoscedastic_process(seed, n, level):
    rng = np.random.default_rng(seed)
    data, new = observations(rng, n), rng.random((4, 2))
    log = rng.normal()
    model = HeteroscedasticGP(KERNEL, level, np.full(n, log), mean=0.2)
    same = GP(KERNEL, level * np.exp(log) + LEAST, mean=0.2)
    assert model.log_likelihood(data) == pytest.approx(same.log_likelihood(data), rel=1e-8)
    np.testing.assert_allclose(
        model.condition(data).predict(new), same.condition(data).predict(new), rtol=1e-7, atol=1e-9
    )


def test_a_noisier_observation_counts_for_less(rng):
    data = observations(rng)
    logs = rng.normal(size=12)
    rest = np.arange(1, 12)
    without = HeteroscedasticGP(KERNEL, 1e-3, logs[rest])
    expected = without.condition(Observations(data.X[rest], data.y[rest])).predict(data.X)
    logs[0] = 40.0
    found = HeteroscedasticGP(KERNEL, 1e-3, logs).condition(data).predict(data.X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_known_noise_comes_on_top(rng):
    data = observations(rng)
    known = Observations(data.X, data.y, np.linspace(0, 0.1, 12))
    logs = rng.normal(size=12)
    whole = GP(KERNEL, LEAST).log_likelihood(
        Observations(data.X, data.y, known.noise + 0.02 * np.exp(logs))
    )
    assert HeteroscedasticGP(KERNEL, 0.02, logs).log_likelihood(known) == pytest.approx(whole)


def test_gradients_agree_with_finite_differences(rng):
    model = HeteroscedasticGP(
        Matern52(free(LogNormal(), size=2)),
        free(LogNormal(-4)),
        free(Normal(), size=Per.OBSERVATION),
        mean=free(Normal()),
    )
    target = ModelTarget(model, observations(rng, 7))
    theta = target.sample_prior(rng, 1)[0]
    value, gradient = target.log_likelihood_with_gradient(theta)
    assert value == pytest.approx(target.log_likelihood(theta), rel=1e-9)
    expected = central_differences(target.log_likelihood, theta)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
def test_its_posterior_keeps_the_contract(check, rng):
    model = HeteroscedasticGP(KERNEL, 1e-3, rng.normal(size=12))
    check(model.condition(observations(rng)), rng.random((5, 2)))


def test_an_outlier_is_given_more_noise_than_the_others(rng):
    X = np.linspace(0, 1, 15)[:, None]
    y = np.sin(3 * X[:, 0])
    y[7] += 2.0
    surrogate = Inferred(
        HeteroscedasticGP(Matern52(0.6), free(LogNormal(np.log(1e-2), 2.0))),
        Slice(chains=8, burn_in=60),
    )
    belief = surrogate.fit(Observations(X, y), rng)
    noises = np.mean([np.log(part.data.noise) for part in belief.components], axis=0)
    assert noises.argmax() == 7


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("space", ["box", "mixed", "conditional"])
def test_its_strategy_keeps_the_contract(space, check):
    space = EVERY_SPACE[space]
    method = Method(surrogate=Heteroscedastic(), inference=FAST)
    check(strategy_for(method, space), space, example(space))


def test_whatever_is_said_of_noise_it_is_learnt():
    space = EVERY_SPACE["box"]
    strategy = strategy_for(Method(surrogate=Heteroscedastic(), inference=FAST), space)
    for noise in (None, True, False, 0.3):
        belief = strategy.belief(example(space, noise=noise), np.random.default_rng(0))
        assert all(len(np.unique(p.data.noise)) == 14 for p in belief.mixture.components)


def test_a_method_with_it_is_stored_and_read_back():
    method = Method(surrogate=Heteroscedastic(LogNormal(-5.0, 1.0)))
    again = Method.from_json(json.loads(json.dumps(method.to_json())))
    assert again.surrogate == method.surrogate


def test_a_negative_level_is_refused():
    with pytest.raises(ModelError, match="level"):
        HeteroscedasticGP(KERNEL, -1.0)
