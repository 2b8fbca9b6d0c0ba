"""Averages over input noise, held against quadrature, Monte Carlo and joint covariances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_1samp, norm

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Laplace
from outcrop.kernels import (
    RBF,
    ExpectedRBF,
    Matern52,
    Offset,
    Overlap,
    Product,
    Scaled,
    Subspace,
    Warp,
)
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.space import Choice, Float, Space
from outcrop.strategies.model_based import averaged_over_noise
from outcrop.surrogates import GP, Forest, Inferred, InputNoise, LatentGP, Mixture
from outcrop.surrogates.noisy import AnalyticGP, NIGPModel, Transformed
from outcrop.surrogates.robust.average_moments import (
    CorrelatedAverage,
    JointAverage,
    ProcessAverage,
)
from outcrop.surrogates.robust.averaged_posterior import AveragedPosterior
from outcrop.surrogates.robust.noise_points import NoisePoints
from outcrop.testing import POSTERIOR_CONTRACT
from tests.surrogates.test_treed import treed

COVARIANCE = np.array([[0.006, 0.002], [0.002, 0.003]])
AROUND = NoisePoints.of(COVARIANCE)
MATERN = Offset(1.0, Scaled(1.3, Matern52([0.4, 0.6])))
SMOOTH = Scaled(1.3, RBF([0.3, 0.5]))
WARPED = Scaled(1.3, Warp([1.5, 0.8], [0.9, 1.2], Matern52([0.4, 0.6])))


def observations(seed=0, n=14):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return Observations(X, np.sin(5 * X[:, 0]) + X[:, 1] + 0.05 * rng.normal(size=n))


DATA = observations()
Z = 0.15 + 0.7 * np.random.default_rng(3).random((6, 2))


def marginal() -> Any:
    model = GP(Scaled(free(LogNormal()), Matern52([0.4, 0.6])), noise=1e-3)
    return Inferred(model, Laplace()).fit(DATA, np.random.default_rng(0)).components[0]


def unscented(kind: Any) -> Any:
    inner = GP(MATERN, 1e-3, mean=0.4).condition(DATA)
    cov = NOISY.covariances(DATA)
    assert cov is not None
    return Transformed(Inferred(inner.model, Laplace()), NOISY, kind=kind).posterior(
        inner, DATA, cov
    )


NOISY = InputNoise(cov=COVARIANCE)
BELIEFS = {
    "Matérn": lambda: GP(MATERN, 1e-3, mean=0.4).condition(DATA),
    "RBF": lambda: GP(SMOOTH, 1e-3, mean=0.4).condition(DATA),
    "warped": lambda: GP(WARPED, 1e-3).condition(DATA),
    "latent": lambda: LatentGP(MATERN, 0.2, (np.linspace(-1, 1, 14),), 1e-3).condition(DATA),
    "NIGP": lambda: NIGPModel(MATERN, 1e-3, inputs=NOISY).condition(DATA),
    "analytic": lambda: AnalyticGP(SMOOTH, 1e-3, inputs=NOISY).condition(DATA),
    "learnt noise": lambda: AnalyticGP(
        Scaled(1.3, ExpectedRBF([0.3, 0.5], [0.05])), 1e-3
    ).condition(DATA),
    "averaged before": lambda: AnalyticGP(SMOOTH, 1e-3, inputs=NOISY, expected=True).condition(
        DATA
    ),
    "unscented": lambda: unscented("simple"),
    "unscented, full": lambda: unscented("full"),
    "marginal": marginal,
}
JOINT = [name for name in BELIEFS if name != "marginal"]
BY_POINTS = [name for name in JOINT if name not in ("RBF", "analytic")]


def of(name: str) -> AveragedPosterior:
    return AveragedPosterior(BELIEFS[name](), AROUND, DATA.X)


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", BELIEFS)
def test_an_average_is_a_posterior_as_any_other(name, check):
    if name in JOINT or not check.__name__.startswith("joint"):
        check(of(name), Z)


@pytest.mark.parametrize("name", BY_POINTS)
def test_mean_and_variance_are_those_of_the_weighted_sum(name):
    belief = of(name)
    inner: Any = belief.posterior
    mean, var = belief.predict(Z)
    for i, z in enumerate(Z):
        means, covariance = inner.predict_joint(z + AROUND.shifts)
        assert mean[i] == pytest.approx(AROUND.weights @ means, rel=1e-9)
        assert var[i] == pytest.approx(AROUND.weights @ covariance @ AROUND.weights, rel=1e-6)


@pytest.mark.parametrize("name", ["RBF", "analytic", "Matérn", "latent"])
def test_mean_and_variance_are_those_of_the_integral(name):
    belief = of(name)
    inner: Any = belief.posterior
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    grid = np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2)
    shifts = grid @ np.linalg.cholesky(COVARIANCE).T
    w = np.multiply.outer(weights, weights).reshape(-1) / weights.sum() ** 2
    mean, var = belief.predict(Z)
    rel = 1e-8 if belief._average.is_exact else 1e-3  # type: ignore[attr-defined]
    for i, z in enumerate(Z):
        means, covariance = inner.predict_joint(z + shifts)
        assert mean[i] == pytest.approx(w @ means, rel=rel, abs=0.3 * rel)
        assert var[i] == pytest.approx(w @ covariance @ w, rel=max(10 * rel, 1e-6))


def test_mean_and_variance_are_those_of_averaged_draws():
    belief, rng = of("RBF"), np.random.default_rng(5)
    inner: Any = belief.posterior
    noise = rng.multivariate_normal(np.zeros(2), COVARIANCE, 150)
    noise = np.concatenate([noise, -noise])
    mean, var = belief.predict(Z[:2])
    for i in range(2):
        draws = inner.sample(Z[i] + noise, rng, 2000).mean(1)
        assert mean[i] == pytest.approx(draws.mean(), abs=0.02)
        assert np.sqrt(var[i]) == pytest.approx(draws.std(), rel=0.1)


@pytest.mark.parametrize("name", ["RBF", "analytic"])
def test_an_rbf_kernel_needs_no_points_and_others_do(name):
    for each, exact in ((name, True), ("Matérn", False), ("learnt noise", False)):
        belief = of(each)
        assert isinstance(belief._average, ProcessAverage)
        assert belief.is_exact == exact
    assert not of("marginal").is_exact


def test_categories_do_not_keep_an_rbf_kernel_from_being_exact():
    kernel = Product((Subspace((0,), RBF([0.3])), Subspace((1,), Overlap([0.8]))))
    X = np.column_stack([np.linspace(0.1, 0.9, 6), [0, 1, 2, 0, 1, 2]])
    inner = GP(kernel, 1e-3).condition(Observations(X, np.sin(5 * X[:, 0]) + X[:, 1]))
    belief = AveragedPosterior(inner, NoisePoints.of(np.diag([0.01, 0.0]), (0,)), X)
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    for x in X:
        around = np.column_stack([x[0] + 0.1 * nodes, np.full(20, x[1])])
        expected = weights @ inner.predict(around)[0] / weights.sum()
        assert belief.predict(x[None])[0][0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", JOINT)
def test_without_noise_the_average_is_the_objective(name):
    inner: Any = BELIEFS[name]()
    belief = AveragedPosterior(inner, NoisePoints.of(1e-14 * np.eye(2)), DATA.X)
    for ours, theirs in zip(belief.predict(Z), inner.predict(Z), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


@given(st.integers(0, 10**6), st.integers(1, 5))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_points_around_have_the_moments_of_the_noise(seed, rank):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(5, rank))
    around = NoisePoints.of(root @ root.T)
    w, shifts = around.weights, around.shifts
    assert (w > 0).all()
    assert len(around) == {1: 9, 2: 25}.get(rank, 2 * rank)
    assert w.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(w @ shifts, 0.0, atol=1e-12)
    np.testing.assert_allclose((w * shifts.T) @ shifts, root @ root.T, atol=1e-9)
    np.testing.assert_allclose(w @ shifts**3, 0.0, atol=1e-9)


def test_draws_have_the_mean_and_covariance_of_the_average():
    belief, rng = of("Matérn"), np.random.default_rng(7)
    mean, covariance = belief.predict_joint(Z[:3])
    draws = belief.sample(Z[:3], rng, 20_000)
    np.testing.assert_allclose(draws.mean(0), mean, atol=0.01)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.05 * covariance.max())


def test_a_drawn_function_is_the_average_of_one():
    belief = of("Matérn")
    path = belief.draw(np.random.default_rng(2), 64)
    inner: Any = BELIEFS["Matérn"]().draw(np.random.default_rng(2), 64)
    for z, value, gradient in zip(Z, path(Z), path.gradient(Z), strict=True):
        assert value == pytest.approx(AROUND.weights @ inner(z + AROUND.shifts))
        np.testing.assert_allclose(gradient, AROUND.weights @ inner.gradient(z + AROUND.shifts))


def test_the_incumbent_is_the_lowest_average_where_something_was_observed():
    belief = of("Matérn")
    assert belief.incumbent() == belief.predict(DATA.X)[0].min()
    believed = belief.condition(Z[:1], np.array([-9.0]))
    assert believed.incumbent() < belief.incumbent() - 0.5
    np.testing.assert_array_equal(believed.at, np.vstack([DATA.X, Z[:1]]))


def test_leaves_of_a_partition_are_averaged_by_their_joint_covariance():
    data = observations(1, 40)
    belief = AveragedPosterior(treed(data), NoisePoints.of(1e-4 * np.eye(2)), data.X)
    assert isinstance(belief._average, JointAverage)
    for check in POSTERIOR_CONTRACT:
        check(belief, Z[:3])


def test_without_covariances_points_are_taken_to_vary_as_one():
    forest = Forest(trees=8).fit(DATA, np.random.default_rng(0)).components[0]
    belief = AveragedPosterior(forest, AROUND, DATA.X)
    assert isinstance(belief._average, CorrelatedAverage)
    assert isinstance(of("marginal")._average, CorrelatedAverage)
    mean, var = belief.predict(Z)
    means, variances = forest.predict(AROUND.points(Z))
    np.testing.assert_allclose(mean, means.reshape(6, -1) @ AROUND.weights)
    np.testing.assert_allclose(np.sqrt(var), np.sqrt(variances).reshape(6, -1) @ AROUND.weights)
    with pytest.raises(ModelError, match="ForestPosterior cannot draw functions"):
        belief.draw(np.random.default_rng(0))


def test_draws_of_a_marginal_process_are_averaged_too():
    belief, rng = of("marginal"), np.random.default_rng(3)
    mean, _ = belief.predict(Z[:1])
    draws = belief.sample(Z[:1], rng, 3000)[:, 0]
    assert ks_1samp(draws, norm(mean[0], draws.std()).cdf).pvalue > 1e-3


@pytest.mark.parametrize("kind", ["simple", "full"])
def test_an_unscented_process_is_averaged_within_a_category(kind):
    kernel = Product((Subspace((0,), Matern52([0.3])), Subspace((1,), Overlap([0.8]))))
    X = np.column_stack([np.linspace(0.1, 0.9, 6), [0, 1, 2, 0, 1, 2]])
    data = Observations(X, np.sin(5 * X[:, 0]) + X[:, 1])
    inputs = InputNoise((0.1, 0.0))
    cov = inputs.covariances(data)
    assert cov is not None
    model = GP(kernel, 1e-3)
    transformed = Transformed(Inferred(model, Laplace()), inputs, kind=kind)
    inner: Any = transformed.posterior(model.condition(data), data, cov)
    around = NoisePoints.of(np.diag([0.01, 0.0]), (0,))
    mean, var = AveragedPosterior(inner, around, X).predict(X)
    for i, x in enumerate(X):
        means, covariance = inner.predict_joint(x + around.shifts)
        assert mean[i] == pytest.approx(around.weights @ means, rel=1e-9)
        assert var[i] == pytest.approx(around.weights @ covariance @ around.weights, rel=1e-6)


def test_what_is_inactive_is_not_moved():
    space = Space(
        {
            "x": Float(0, 1, input_std=0.05),
            "m": Choice({"a": {}, "b": {"y": Float(0, 1, input_std=0.1)}}),
        }
    )
    X = np.array([[0.4, 0.0, 0.0], [0.4, 1.0, 0.7]])
    rng = np.random.default_rng(4)
    seen = space.encode(space.sample(rng, 12)).X
    kernel = Scaled(1.1, Matern52([0.4, 0.8, 0.5]))
    inner = GP(kernel, 1e-3).condition(Observations(seen, rng.normal(size=12)))
    belief = averaged_over_noise(Mixture.single(inner), space, seen).components[0]
    assert isinstance(belief, AveragedPosterior)
    around = belief.around.points(X).reshape(2, -1, 3)
    assert (around[0, :, 2] == 0).all()
    assert np.ptp(around[1, :, 2]) > 0.1
    for k in range(2):
        shifts = around[k]
        means, covariance = inner.predict_joint(shifts)
        w = belief.around.weights
        mean, var = belief.predict(X[k : k + 1])
        assert mean[0] == pytest.approx(w @ means)
        assert var[0] == pytest.approx(w @ covariance @ w, rel=1e-6)
