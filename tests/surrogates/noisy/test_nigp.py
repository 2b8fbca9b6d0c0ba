import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import MAP, Laplace, Slice
from outcrop.kernels import RBF, Matern52, Scaled, Warp
from outcrop.params import free
from outcrop.priors import LogNormal, Shifted
from outcrop.surrogates import GP, Inferred
from outcrop.surrogates.noisy import Alternating, InputNoise, NIGPModel
from outcrop.surrogates.noisy.fixed_point import ATTEMPTS, TOLERANCE, fixed_point
from outcrop.testing import POSTERIOR_CONTRACT, central_differences
from tests.surrogates.noisy.problems import ARD, KINDS, MATERN, MIXED, decaying_sine, observations

NOISE = InputNoise(0.05)
FREE = NIGPModel(
    Scaled(free(LogNormal()), RBF(free(LogNormal(np.log(0.5)), size=1))),
    free(Shifted(LogNormal(-6.0, 3.0), 1e-6)),
)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 25), noise=st.floats(1e-6, 0.1))
@settings(max_examples=40, deadline=None)
def test_without_input_noise_it_is_the_plain_process(seed, n, noise):
    rng = np.random.default_rng(seed)
    data, new = observations(rng, n), rng.random((4, 2))
    own, plain = NIGPModel(MATERN, noise, 0.2, InputNoise(0.0)), GP(MATERN, noise, 0.2)
    assert own.log_likelihood(data) == pytest.approx(plain.log_likelihood(data), rel=1e-8)
    one, other = own.condition(data), plain.condition(data)
    np.testing.assert_allclose(one.predict(new), other.predict(new), rtol=1e-8, atol=1e-10)
    assert one.incumbent() == other.incumbent()
    assert one.has_converged


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "kernel", [ARD, MATERN, Warp([1.3], [0.8], ARD)], ids=["rbf", "matern", "warped"]
)
def test_variances_are_those_of_their_own_means_slope(kernel, kind, rng):
    """Slopes by finite differences of what the posterior predicts."""
    data = observations(rng, kind=kind, noise=True)
    posterior = NIGPModel(kernel, 1e-3, 0.1, NOISE).condition(data)
    assert posterior.has_converged
    G = central_differences(lambda x: float(posterior.predict(x)[0].sum()), data.X)
    cov = NOISE.covariances(data)
    matrices = cov if cov.ndim == 3 else cov[:, :, None] * np.eye(2)
    expected = np.einsum("ni,nij,nj->n", G, np.broadcast_to(matrices, (12, 2, 2)), G)
    np.testing.assert_allclose(posterior.slopes.value, expected, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(posterior.data.noise, data.noise + posterior.slopes.value)


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_its_posterior_keeps_the_contract(kind, check, rng):
    posterior = NIGPModel(MATERN, 1e-3, 0.1, NOISE).condition(observations(rng, kind=kind))
    check(posterior, rng.random((5, 2)))


def test_believed_observations_have_the_noise_of_the_slope_where_they_are(rng):
    posterior = NIGPModel(ARD, 1e-3, 0.1, NOISE).condition(observations(rng))
    X = rng.random((2, 2))
    believed = posterior.condition(X, np.zeros(2))
    slopes = 0.05**2 * (posterior.mean_gradient(X) ** 2).sum(1)
    np.testing.assert_allclose(believed.data.noise[-2:], slopes)
    again = believed.condition(X, np.ones(2), np.full(2, 0.1))
    np.testing.assert_allclose(again.data.noise[-2:], slopes + 0.1)


def test_fixed_points_are_found_where_repetition_oscillates():
    def function(v):  # answers any v with a much smaller or larger one: slope −9 where v = 1
        return v**-9.0, lambda: np.diag(-9.0 * v**-10.0)

    for start in (0.1, 1.5, 40.0):
        found = fixed_point(function, np.full(2, start), np.full(2, 1e-6))
        assert found.has_converged
        np.testing.assert_allclose(found.value, 1.0, rtol=1e-5)


def test_what_is_not_found_is_said():
    def function(v):  # never meets v
        return 2 * v + 1.0, lambda: 2 * np.eye(1)

    found = fixed_point(function, np.ones(1), np.ones(1))
    assert not found.has_converged
    assert found.steps == sum(most for _, _, most in ATTEMPTS)
    assert found.residual > TOLERANCE


def fitted(seed):
    """Models as they are met in use, their hyperparameters inferred by alternation."""
    rng = np.random.default_rng([7, seed])
    data, std = decaying_sine(rng)
    model = NIGPModel(FREE.kernel, FREE.noise, 0.0, InputNoise(std))
    return Alternating(model, MAP(starts=2)).fit(data, rng).components[0]


def repeated(posterior):
    """The thesis' recursion, twenty times from none: how much its last step still changes."""
    data, model = posterior.data, posterior.model
    variances = np.zeros(len(data))
    for _ in range(20):
        before = variances
        noisy = Observations(data.X, data.y, before)
        G = GP(model.kernel, model.noise, model.mean).condition(noisy).mean_gradient(data.X)
        variances = (posterior.inputs.std * G[:, 0]) ** 2
    prior = model.kernel.diag(data.X)
    return (np.abs(variances - before) / (model.noise + 1e-6 * prior + before)).max()


def test_variances_converge_on_the_decaying_sine():
    assert all(fitted(seed).has_converged for seed in range(6))


@pytest.mark.slow
def test_variances_converge_on_five_hundred_decaying_sines_where_repetition_often_does_not():
    posteriors = [fitted(seed) for seed in range(500)]
    assert all(posterior.has_converged for posterior in posteriors)
    unfinished = np.mean([repeated(posterior) > TOLERANCE for posterior in posteriors])
    assert unfinished > 0.2


@pytest.mark.parametrize(
    "inference", [Slice(chains=3, burn_in=4), MAP(starts=2), Laplace(starts=2)], ids=repr
)
def test_alternation_starts_from_its_state(inference, rng):
    data = observations(rng)
    kernel = Scaled(free(LogNormal()), Matern52(free(LogNormal(-0.7), size=2)))
    surrogate = Alternating(NIGPModel(kernel, free(LogNormal(-5.0)), 0.0, NOISE), inference)
    first = surrogate.fit(data, rng)
    state = json.loads(json.dumps(first.state))
    later = surrogate.fit(data.append(rng.random((1, 2)), np.zeros(1)), rng, state)
    assert len(later) == len(first)
    mean, var = later.moments(rng.random((3, 2)))
    assert np.isfinite(mean).all()
    assert (var > 0).all()


def test_input_noise_is_less_mistaken_for_noise_of_the_output(rng):
    x = rng.random(60)
    y = np.sin(9 * (x + 0.05 * rng.standard_normal(60)))
    data = Observations(x[:, None], y)
    free_noise = free(LogNormal(-5.0, 2.0))
    kernel = Scaled(1.0, RBF([0.2]))
    plain = Inferred(GP(kernel, free_noise), MAP(starts=2)).fit(data, rng)
    aware = Alternating(NIGPModel(kernel, free_noise, 0.0, NOISE), MAP(starts=2)).fit(data, rng)
    assert aware.components[0].model.noise < 0.8 * plain.components[0].model.noise


def test_categories_and_conditions_are_taken(rng):
    X = np.hstack([rng.random((10, 2)), rng.integers(0, 2, (10, 1))])
    data = Observations(X, np.sin(4 * X[:, 0]) + X[:, 2])
    posterior = NIGPModel(MIXED, 1e-3, 0.0, InputNoise(0.05, columns=(0,))).condition(data)
    assert posterior.has_converged
    assert (posterior.slopes.value > 0).any()


def test_impossible_models_are_refused():
    with pytest.raises(ModelError, match="noise"):
        NIGPModel(ARD, -1.0)
