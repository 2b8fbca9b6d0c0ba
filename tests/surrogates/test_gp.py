import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from outcrop.data import Observations
from outcrop.errors import ModelError, ShapeError
from outcrop.kernels import (
    RBF,
    Matern12,
    Matern32,
    Matern52,
    Overlap,
    RationalQuadratic,
    Scaled,
    Subspace,
)
from outcrop.surrogates import GP
from outcrop.testing import POSTERIOR_CONTRACT, central_differences
from outcrop.testing.differences import numbers, with_number

PAIRS = [
    (RBF, sk.RBF),
    (Matern12, lambda scales: sk.Matern(scales, nu=0.5)),
    (Matern32, lambda scales: sk.Matern(scales, nu=1.5)),
    (Matern52, lambda scales: sk.Matern(scales, nu=2.5)),
]


def problem(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 40), rng.integers(1, 7)
    return rng, rng.random((n, d)), rng.normal(size=n), rng.uniform(0.2, 2.0, d)


@pytest.mark.parametrize("seed", range(50))
def test_predictions_and_likelihood_equal_scikit_learns(seed):
    rng, X, y, scales = problem(seed)
    ours, theirs = PAIRS[seed % len(PAIRS)]
    variance, noise = rng.uniform(0.5, 3.0), 10 ** rng.uniform(-4, -1)
    reference = GaussianProcessRegressor(
        sk.ConstantKernel(variance) * theirs(scales), alpha=noise, optimizer=None
    ).fit(X, y)
    data = Observations(X, y)
    model = GP(Scaled(variance, ours(scales)), noise=noise)
    posterior = model.condition(data)
    new = rng.random((20, X.shape[1]))
    mean, std = reference.predict(new, return_std=True)
    _, covariance = reference.predict(new, return_cov=True)
    np.testing.assert_allclose(posterior.predict(new)[0], mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(posterior.predict(new)[1]), std, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(posterior.predict_joint(new)[1], covariance, atol=1e-8)
    likelihood = reference.log_marginal_likelihood()
    assert model.log_likelihood(data) == pytest.approx(likelihood, rel=1e-8)
    assert posterior.log_likelihood == pytest.approx(likelihood, rel=1e-8)


@pytest.mark.parametrize("noise", [None, "given"])
@pytest.mark.parametrize(
    "kernel",
    [
        Scaled(1.4, Matern52([0.3, 0.8])),
        RationalQuadratic([0.4, 0.6], alpha=1.3),
        Subspace((0,), Matern12(0.3)) * RBF(0.7),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_likelihood_gradients_agree_with_finite_differences(kernel, noise, rng):
    own = rng.uniform(0.01, 0.2, 9) if noise else None
    data = Observations(rng.random((9, 2)), rng.normal(size=9), own)
    model = GP(kernel, noise=0.02, mean=0.3)
    value, gradient = model.log_likelihood_with_gradient(data)
    assert value == pytest.approx(model.log_likelihood(data), rel=1e-12)
    for path, number in numbers(model):
        expected = central_differences(
            lambda v, path=path: with_number(model, path, v).log_likelihood(data), number
        )
        actual = gradient
        for step in path:
            actual = actual[step] if isinstance(step, int) else getattr(actual, step)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6, err_msg=str(path))


def test_noise_given_per_observation_is_the_dense_formula(rng):
    X, y, own = rng.random((8, 2)), rng.normal(size=8), rng.uniform(0.01, 0.5, 8)
    kernel, new = Matern52(0.5), rng.random((5, 2))
    posterior = GP(kernel, noise=0.1, mean=0.7).condition(Observations(X, y, own))
    inverse = np.linalg.inv(kernel.gram(X) + np.diag(0.1 + own))
    cross = kernel(new, X)
    np.testing.assert_allclose(
        posterior.predict(new)[0], 0.7 + cross @ inverse @ (y - 0.7), rtol=1e-10
    )
    np.testing.assert_allclose(
        posterior.predict(new)[1], 1 - np.einsum("ij,jk,ik->i", cross, inverse, cross), rtol=1e-8
    )


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "kernel", [Scaled(1.7, Matern52([0.4, 0.7])), RBF(0.5) + Matern12(0.3)], ids=["scaled", "sum"]
)
def test_posterior_keeps_the_contract(kernel, check, rng):
    data = Observations(rng.random((10, 2)), rng.normal(size=10), rng.uniform(0, 0.1, 10))
    check(GP(kernel, noise=0.01, mean=0.2).condition(data), rng.random((6, 2)))


@given(seed=st.integers(0, 10_000), cut=st.integers(1, 11))
@settings(deadline=None, max_examples=50)
def test_row_by_row_conditioning_equals_one_factorisation(seed, cut):
    rng = np.random.default_rng(seed)
    X, y, own = rng.random((12, 3)), rng.normal(size=12), rng.uniform(0.0, 0.1, 12)
    model = GP(Scaled(2.0, Matern52([0.3, 0.5, 1.0])), noise=1e-4, mean=-0.5)
    whole = model.condition(Observations(X, y, own))
    grown = model.condition(Observations(X[:cut], y[:cut], own[:cut]))
    for i in range(cut, 12):
        grown = grown.condition(X[i : i + 1], y[i : i + 1], own[i : i + 1])
    np.testing.assert_allclose(grown.chol, whole.chol, atol=1e-9)
    np.testing.assert_allclose(grown.white, whole.white, atol=1e-6)
    np.testing.assert_allclose(grown.alpha, whole.alpha, rtol=1e-5, atol=1e-5)


def test_leave_one_out_equals_refitting_without_each_point(rng):
    X, y = rng.random((9, 2)), rng.normal(size=9)
    model = GP(Matern32(0.5), noise=0.05, mean=0.4)
    mean, var = model.condition(Observations(X, y)).leave_one_out()
    for i in range(9):
        rest = np.arange(9) != i
        m, v = model.condition(Observations(X[rest], y[rest])).predict(X[i : i + 1])
        assert mean[i] == pytest.approx(m[0], rel=1e-9)
        assert var[i] == pytest.approx(v[0] + 0.05, rel=1e-9)


def test_one_step_log_densities_add_up_to_the_marginal_likelihood(rng):
    X, y = rng.random((15, 2)), rng.normal(size=15)
    model = GP(Scaled(1.3, Matern52(0.4)), noise=0.02, mean=0.1)
    total = 0.0
    for i in range(15):
        if i == 0:
            mean, var = np.array([0.1]), model.kernel.diag(X[:1])
        else:
            mean, var = model.condition(Observations(X[:i], y[:i])).predict(X[i : i + 1])
        total += -0.5 * (
            (y[i] - mean[0]) ** 2 / (var[0] + 0.02) + np.log(2 * np.pi * (var[0] + 0.02))
        )
    assert total == pytest.approx(model.log_likelihood(Observations(X, y)), abs=1e-9)


def test_incumbent_is_the_lowest_value_if_exact_and_the_lowest_mean_under_noise(rng):
    data = Observations(rng.random((8, 2)), rng.normal(size=8))
    assert GP(Matern52(0.5), noise=1e-8).condition(data).incumbent() == data.y.min()
    for noisy in (
        GP(Matern52(0.5), noise=0.3, mean=0.2).condition(data),
        GP(Matern52(0.5), noise=0.1).condition(Observations(data.X, data.y, np.linspace(0, 1, 8))),
    ):
        assert noisy.incumbent() == pytest.approx(noisy.predict(data.X)[0].min(), rel=1e-9)


def test_mean_gradient_agrees_with_finite_differences(rng):
    posterior = GP(Matern52([0.3, 0.6]), noise=1e-3).condition(
        Observations(rng.random((8, 2)), rng.normal(size=8))
    )
    new = rng.random((4, 2))
    expected = central_differences(lambda x: float(posterior.predict(x)[0].sum()), new)
    np.testing.assert_allclose(posterior.mean_gradient(new), expected, rtol=1e-5, atol=1e-7)


def test_exact_samples_have_the_posteriors_mean_and_covariance(rng):
    posterior = GP(Matern52(0.3), noise=0.01).condition(
        Observations(rng.random((5, 1)), rng.normal(size=5))
    )
    new = rng.random((4, 1))
    mean, covariance = posterior.predict_joint(new)
    draws = posterior.sample(new, rng, 40_000)
    np.testing.assert_allclose(draws.mean(0), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.02)


@pytest.mark.parametrize(
    "kernel",
    [
        Scaled(1.5, Matern52(0.4)),
        RBF(0.5),
        Matern12(0.8),
        RationalQuadratic(0.5, alpha=1.0),
        Scaled(0.6, RBF(0.2)) + Scaled(0.9, Matern32(0.7)),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_pathwise_samples_have_the_posteriors_mean_and_covariance(kernel):
    rng = np.random.default_rng(6)
    posterior = GP(kernel, noise=0.02, mean=0.5).condition(
        Observations(rng.random((6, 2)), rng.normal(size=6))
    )
    new = rng.random((4, 2))
    draws = np.array([posterior.draw(rng, features=200)(new) for _ in range(1000)])
    mean, covariance = posterior.predict_joint(new)
    # 1000 draws: the standard error of a mean is sd/32, of a covariance about sd²/22.
    np.testing.assert_allclose(draws.mean(0), mean, atol=4 * np.sqrt(covariance.max() / 1000))
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=4 * covariance.max() / 22)


def test_a_noise_free_path_passes_through_the_data(rng):
    X, y = rng.random((6, 2)), rng.normal(size=6)
    path = GP(Matern52(0.5), noise=1e-8).condition(Observations(X, y)).draw(rng)
    np.testing.assert_allclose(path(X), y, atol=1e-3)


def test_path_gradient_agrees_with_finite_differences(rng):
    X = np.hstack([rng.random((6, 2)), rng.integers(0, 3, (6, 1))])
    kernel = Subspace((0, 1), Matern52([0.5, 0.3])) * Subspace((2,), Overlap(0.8))
    path = GP(kernel, noise=0.01).condition(Observations(X, rng.normal(size=6))).draw(rng)
    new = X[:3] + np.array([0.05, -0.03, 0.0])
    expected = central_differences(lambda x: float(path(x).sum()), new)
    expected[:, 2] = 0.0
    np.testing.assert_allclose(path.gradient(new), expected, rtol=1e-5, atol=1e-6)


def test_wrong_input_is_refused_with_what_came(rng):
    with pytest.raises(ShapeError, match=r"X \(n, d\) and y \(n,\), got \(5, 2\) and \(4,\)"):
        Observations(np.zeros((5, 2)), np.zeros(4))
    with pytest.raises(ShapeError, match="noise"):
        Observations(np.zeros((5, 2)), np.zeros(5), np.zeros(4))
    posterior = GP(Matern52(0.5), noise=0.1).condition(Observations(np.zeros((5, 2)), np.zeros(5)))
    with pytest.raises(ShapeError, match=r"X \(m, 2\), got \(3, 4\)"):
        posterior.predict(np.zeros((3, 4)))
    with pytest.raises(ShapeError, match=r"X \(k, 2\)"):
        posterior.condition(np.zeros((1, 3)), np.zeros(1))
    with pytest.raises(ModelError, match="at least 0"):
        GP(Matern52(0.5), noise=-1.0)
    with pytest.raises(ModelError, match="expected a kernel"):
        GP("matern")
