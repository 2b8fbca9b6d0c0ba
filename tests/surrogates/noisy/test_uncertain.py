"""Analytic and RandFunc: processes whose kernel knows of uncertain points."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.data import Observations
from outcrop.errors import ModelError, NumericalError, ShapeError
from outcrop.inference import MAP, Slice
from outcrop.kernels import RBF, ExpectedRBF, Matern52, Scaled, TaylorRBF, Warp
from outcrop.kernels.uncertain import UncertainPairs
from outcrop.params import free
from outcrop.priors import LogNormal, Normal
from outcrop.surrogates import GP, Inferred
from outcrop.surrogates.inferred import ModelTarget
from outcrop.surrogates.noisy import AnalyticGP, InputNoise, RandFuncGP
from outcrop.surrogates.stack import Stack
from outcrop.testing import POSTERIOR_CONTRACT, central_differences
from tests.surrogates.noisy.problems import ARD, FULL, KINDS, MIXED, observations

NOISE = InputNoise(0.05)
MODELS = [AnalyticGP, RandFuncGP]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "inputs", [InputNoise(), InputNoise(0.0), InputNoise(cov=np.zeros((2, 2)))]
)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 25), noise=st.floats(1e-6, 0.1))
@settings(max_examples=25, deadline=None)
def test_without_input_noise_it_is_the_plain_process(model, inputs, seed, n, noise):
    rng = np.random.default_rng(seed)
    data, new = observations(rng, n), rng.random((4, 2))
    own, plain = model(ARD, noise, 0.2, inputs), GP(ARD, noise, 0.2)
    assert own.log_likelihood(data) == pytest.approx(plain.log_likelihood(data), rel=1e-8)
    one, other = own.condition(data), plain.condition(data)
    np.testing.assert_allclose(one.predict(new), other.predict(new), rtol=1e-8, atol=1e-10)
    assert one.incumbent() == pytest.approx(other.incumbent(), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_its_posterior_keeps_the_contract(model, kind, check, rng):
    posterior = model(ARD, 1e-3, 0.1, NOISE).condition(observations(rng, kind=kind, noise=True))
    check(posterior, rng.random((5, 2)))


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_the_posterior_of_the_average_keeps_the_contract(kind, check, rng):
    model = AnalyticGP(ARD, 1e-3, 0.1, NOISE, expected=True)
    check(model.condition(observations(rng, kind=kind)), rng.random((5, 2)))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", KINDS)
def test_likelihoods_have_the_gradient_of_finite_differences(model, kind, rng):
    kernel = Scaled(free(LogNormal()), RBF(free(LogNormal(-0.5, 0.2), size=2)))
    target = ModelTarget(
        model(kernel, free(LogNormal(-4)), free(Normal()), NOISE), observations(rng, 8, kind)
    )
    theta = target.sample_prior(rng, 1)[0]
    value, gradient = target.log_likelihood_with_gradient(theta)
    assert value == pytest.approx(target.log_likelihood(theta), rel=1e-9)
    expected = central_differences(target.log_likelihood, theta)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_a_learnt_spread_has_the_gradient_of_finite_differences(rng):
    leaf = ExpectedRBF(free(LogNormal(-1.0, 0.3), size=2), free(LogNormal(-2.5), size=2))
    target = ModelTarget(AnalyticGP(Scaled(1.2, leaf), free(LogNormal(-4))), observations(rng, 8))
    theta = target.sample_prior(rng, 1)[0]
    assert target.layout.names[:2] == ("kernel.kernel.lengthscales", "kernel.kernel.spread")
    value, gradient = target.log_likelihood_with_gradient(theta)
    assert value == pytest.approx(target.log_likelihood(theta), rel=1e-9)
    expected = central_differences(target.log_likelihood, theta)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_a_spread_is_learnt_only_where_observations_say_nothing(rng):
    known = observations(rng, 8, "rows")
    leaf = ExpectedRBF([0.3, 0.6], spread=[0.1, 0.2])
    found = AnalyticGP(leaf, 1e-3).log_likelihood(known)
    assert found == pytest.approx(
        AnalyticGP(RBF([0.3, 0.6]), 1e-3).log_likelihood(known), rel=1e-12
    )
    silent = Observations(known.X, known.y)
    learnt = AnalyticGP(leaf, 1e-3).log_likelihood(silent)
    stated = AnalyticGP(RBF([0.3, 0.6]), 1e-3, 0.0, InputNoise((0.1, 0.2))).log_likelihood(silent)
    assert learnt == pytest.approx(stated, rel=1e-12)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 25), noise=st.floats(1e-6, 0.1))
@settings(max_examples=25, deadline=None)
def test_where_places_were_told_to_be_exact_it_is_the_plain_process_whatever_its_spread(
    seed, n, noise
):
    rng = np.random.default_rng(seed)
    silent, new = observations(rng, n), rng.random((4, 2))
    leaf, kernel = ExpectedRBF([0.3, 0.6], spread=[0.1, 0.2]), RBF([0.3, 0.6])
    own, plain = AnalyticGP(Scaled(1.3, leaf), noise, 0.2), GP(Scaled(1.3, kernel), noise, 0.2)
    expected = plain.condition(silent)
    for told in (np.zeros((n, 2)), np.zeros((n, 2, 2))):
        exact = replace(silent, input_cov=told)
        assert own.log_likelihood(exact) == pytest.approx(plain.log_likelihood(silent), rel=1e-8)
        for expecting in (own, replace(own, expected=True)):
            found = expecting.condition(exact)
            np.testing.assert_allclose(
                found.predict(new), expected.predict(new), rtol=1e-7, atol=1e-9
            )
            assert found.incumbent() == pytest.approx(expected.incumbent(), rel=1e-7, abs=1e-9)
    doubted = own.condition(silent).predict(silent.X)[1]
    assert np.abs(doubted - expected.predict(silent.X)[1]).max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_the_analytic_posterior_is_the_gaussian_with_the_moments_of_monte_carlo(kind, rng):
    """All moments of observations and function are drawn, none comes from a formula."""
    data = observations(rng, 3, kind)
    new, noise = rng.random((2, 2)), 0.05
    cov = NOISE.covariances(data)
    roots = np.linalg.cholesky(cov if cov.ndim == 3 else cov[:, :, None] * np.eye(2))
    moved = data.X + (roots @ rng.standard_normal((100_000, 3, 2, 1)))[..., 0]
    points = np.concatenate([moved, np.broadcast_to(new, (100_000, 2, 2))], axis=1)
    apart = points[:, :, None, :] - points[:, None, :, :]
    moments = (0.4 + 1.3 * np.exp(-0.5 * (apart**2 / [0.09, 0.36]).sum(-1))).mean(0)
    K, cross = moments[:3, :3] + noise * np.eye(3), moments[3:, :3]
    mean = cross @ np.linalg.solve(K, data.y)
    var = 1.7 - np.einsum("ij,ji->i", cross, np.linalg.solve(K, cross.T))
    found = AnalyticGP(ARD, noise, 0.0, NOISE).condition(data).predict(new)
    np.testing.assert_allclose(found, [mean, var], atol=0.02)


def test_the_average_is_that_of_the_posterior_over_points(rng):
    data, x = observations(rng), rng.random((1, 2))
    model = AnalyticGP(ARD, 1e-2, 0.1, InputNoise((0.1, 0.05)))
    mean, var = replace(model, expected=True).condition(data).predict(x)
    around = x + rng.standard_normal((1500, 2)) * [0.1, 0.05]
    means, covariance = model.condition(data).predict_joint(around)
    error = means.std() / np.sqrt(len(around))
    assert abs(means.mean() - mean[0]) < 4 * error
    assert covariance.mean() == pytest.approx(var[0], rel=0.05)


def test_the_average_of_an_exact_process_is_that_of_its_mean(rng):
    """With exact observations only the points of prediction are uncertain."""
    data, x = observations(rng), rng.random((1, 2))
    posterior = AnalyticGP(ARD, 1e-2, 0.1).condition(data)
    uncertain = replace(posterior.data, at=np.array([[0.01, 0.0025]]), ends=2)
    mean, var = replace(posterior, data=uncertain).predict(x)
    around = x + rng.standard_normal((1500, 2)) * [0.1, 0.05]
    means, covariance = GP(ARD, 1e-2, 0.1).condition(data).predict_joint(around)
    assert abs(means.mean() - mean[0]) < 4 * means.std() / np.sqrt(len(around))
    assert covariance.mean() == pytest.approx(var[0], rel=0.05)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", KINDS)
def test_mixtures_predict_as_their_components(model, kind, rng):
    data, new = observations(rng, kind=kind), rng.random((4, 2))
    parts = [
        model(Scaled(s, RBF([0.3, 0.5 * s])), 1e-3, 0.1, NOISE).condition(data) for s in (1.0, 2.0)
    ]
    stack = Stack.of(parts)
    expected = np.stack([part.predict(new) for part in parts], axis=1)
    np.testing.assert_allclose(stack.predict(new), expected, rtol=1e-6, atol=1e-9)
    mean_bar, var_bar = rng.normal(size=(2, 2, 4))
    pulled = [
        part.predict_with_pullback(new)[2](*bars)
        for part, *bars in zip(parts, mean_bar, var_bar, strict=True)
    ]
    found = stack.predict_with_pullback(new)[2](mean_bar, var_bar)
    np.testing.assert_allclose(found, sum(pulled), rtol=1e-5, atol=1e-7)
    other = model(Scaled(1.0, RBF([0.3, 0.5])), 1e-3, 0.1, InputNoise(0.01)).condition(
        Observations(data.X, data.y)
    )
    assert Stack.of([parts[0], other]) is None


@pytest.mark.parametrize("model", MODELS)
def test_categories_and_conditions_are_taken(model, rng):
    X = np.hstack([rng.random((10, 2)), rng.integers(0, 2, (10, 1))])
    data = Observations(X, np.sin(4 * X[:, 0]) + X[:, 2])
    posterior = model(MIXED, 1e-3, 0.0, InputNoise(0.05, columns=(0,))).condition(data)
    mean, var = posterior.predict(X)
    plain, _ = GP(MIXED, 1e-3).condition(data).predict(X)
    assert (var > 0).all()
    assert 1e-4 < np.abs(mean - plain).max() < 1.0


def test_more_noise_smooths_and_doubts_more(rng):
    data = observations(rng)
    spread, doubt = [], []
    for std in (0.0, 0.03, 0.1, 0.3):
        mean, var = AnalyticGP(ARD, 1e-3, 0.0, InputNoise(std)).condition(data).predict(data.X)
        spread.append(mean.std())
        doubt.append(var.mean())
    assert spread == sorted(spread, reverse=True)
    assert doubt == sorted(doubt)


@pytest.mark.parametrize("model", MODELS)
def test_paths_have_its_mean_and_variance(model, rng):
    posterior = model(ARD, 1e-2, 0.1, NOISE).condition(observations(rng, 6))
    X = rng.random((3, 2))
    draws = np.stack([posterior.draw(rng, 128)(X) for _ in range(800)])
    mean, var = posterior.predict(X)
    assert (np.abs(draws.mean(0) - mean) < 5 * np.sqrt(var / 800)).all()
    np.testing.assert_allclose(draws.var(0), var, rtol=0.2)
    path = posterior.draw(rng, 64)
    expected = central_differences(lambda x: float(path(x).sum()), X)
    np.testing.assert_allclose(path.gradient(X), expected, rtol=1e-4, atol=1e-5)


def test_joint_draws_have_the_joint_moments(rng):
    posterior = AnalyticGP(ARD, 1e-2, 0.1, NOISE).condition(observations(rng, 6))
    X = rng.random((3, 2))
    mean, covariance = posterior.predict_joint(X)
    draws = posterior.sample(X, rng, 20_000)
    np.testing.assert_allclose(draws.mean(0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.05 * covariance.max())


def test_lengthscales_below_the_noise_are_refused_by_the_expansion(rng):
    data = observations(rng)
    model = RandFuncGP(RBF([0.3, 0.04]), 1e-3, 0.0, NOISE)
    for refused in (model.condition, model.log_likelihood, model.log_likelihood_with_gradient):
        with pytest.raises(NumericalError, match="AnalyticGP"):
            refused(data)


@pytest.mark.parametrize(
    "inference", [MAP(starts=3), Slice(chains=2, burn_in=4)], ids=["map", "slice"]
)
def test_inference_keeps_the_expansions_lengthscales_above_the_noise(inference, rng):
    data = observations(rng)
    rough = Observations(data.X, rng.normal(size=12))
    model = RandFuncGP(RBF(free(LogNormal(-2.0, 1.0), size=2)), 1e-3, 0.0, InputNoise(0.2))
    belief = Inferred(model, inference).fit(rough, rng)
    assert all((part.model.kernel.lengthscales >= 0.2).all() for part in belief.components)


def test_the_learnt_spread_is_near_the_true_one(rng):
    x = rng.random(150)
    y = np.sin(12 * (x + 0.05 * rng.standard_normal(150)))
    leaf = ExpectedRBF([0.15], free(LogNormal(-3.5, 1.0), size=1))
    belief = Inferred(AnalyticGP(leaf, 1e-4), MAP(starts=3)).fit(Observations(x[:, None], y), rng)
    assert 0.03 < belief.components[0].model.kernel.spread[0] < 0.08


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "kernel",
    [
        Matern52([0.3]),
        Warp([1.0], [1.0], RBF([0.3])),
        RBF([0.3]) * RBF([0.4]),
        Scaled(1.0, Matern52([0.3])),
    ],
)
def test_kernels_without_a_formula_are_refused_with_a_way_out(model, kernel):
    with pytest.raises(ModelError, match="NIGP or UTGP"):
        model(kernel)


def test_rbf_kernels_become_those_of_uncertain_points():
    assert isinstance(AnalyticGP(ARD).kernel.kernel.kernel, ExpectedRBF)
    assert isinstance(RandFuncGP(RBF([0.3]) + RBF([0.4])).kernel.kernels[1], TaylorRBF)


def test_noise_has_its_place(rng):
    data = observations(rng)
    np.testing.assert_allclose(InputNoise((0.1, 0.0)).covariances(data), [[0.01, 0.0]])
    np.testing.assert_allclose(InputNoise(0.1, columns=(1,)).covariances(data), [[0.0, 0.01]])
    np.testing.assert_allclose(InputNoise(cov=FULL).covariances(data), FULL[None])
    np.testing.assert_allclose(InputNoise(cov=np.eye(2)).covariances(data), [[1.0, 1.0]])
    assert InputNoise().covariances(data) is None
    for exact in (InputNoise(0.0), InputNoise((0.0, 0.0)), InputNoise(cov=np.zeros((2, 2)))):
        np.testing.assert_array_equal(exact.covariances(data), np.zeros((1, 2)))
    rows = observations(rng, kind="rows")
    np.testing.assert_array_equal(InputNoise(0.1).covariances(rows), rows.input_cov)
    alike = Observations(data.X, data.y, None, np.repeat(FULL[None], 12, axis=0))
    np.testing.assert_array_equal(InputNoise().covariances(alike), FULL[None])
    with pytest.raises(ShapeError, match="3 columns"):
        InputNoise((0.1, 0.1, 0.1)).covariances(data)


@pytest.mark.parametrize(
    "wrong",
    [
        {"std": -0.1},
        {"std": np.inf},
        {"std": (0.1, np.nan)},
        {"cov": ((1.0, 0.5), (0.2, 1.0))},
        {"cov": ((1.0, 2.0), (2.0, 1.0))},
        {"cov": (0.1, 0.1)},
    ],
)
def test_impossible_noise_is_refused(wrong):
    with pytest.raises(ModelError, match="input_"):
        InputNoise(**wrong)


def test_impossible_covariances_of_observations_are_refused(rng):
    X, y = rng.random((3, 2)), np.zeros(3)
    with pytest.raises(ShapeError, match="input_cov"):
        Observations(X, y, None, np.zeros((3, 3)))
    for wrong in (
        np.full((3, 2), -1.0),
        np.full((3, 2), np.nan),
        np.ones((3, 2, 2)) - 2 * np.eye(2),
    ):
        with pytest.raises(ModelError, match="input_cov"):
            Observations(X, y, None, wrong)


def test_appended_rows_are_as_uncertain_as_the_others_on_average(rng):
    data = observations(rng, kind="full")
    grown = data.append(rng.random((2, 2)), np.zeros(2))
    np.testing.assert_allclose(grown.input_cov[-2:], np.repeat(data.input_cov.mean(0)[None], 2, 0))
    assert UncertainPairs.of(grown.pairs, grown.input_cov, None).shape == (14, 14)
