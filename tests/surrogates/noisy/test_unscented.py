import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.errors import ModelError
from outcrop.surrogates.noisy.input_noise import roots
from outcrop.surrogates.noisy.unscented import Unscented
from outcrop.testing import central_differences

transforms = st.builds(Unscented, st.floats(1e-2, 2.0), st.floats(0.0, 3.0), st.floats(0.0, 3.0))


@given(transform=transforms, q=st.integers(1, 400))
def test_weights_add_up_to_one(transform, q):
    weights = transform.weights(q)
    assert len(weights) == 2 * q + 1
    assert weights.sum() == pytest.approx(1.0, abs=1e-9 * np.abs(weights).max())


def transformed(transform, function, mean, cov):
    """Mean and covariance of `function` of N(mean, cov), by differences from the central point."""
    values, axes = np.linalg.eigh(np.asarray(cov, dtype=float))
    root = (axes * np.sqrt(np.maximum(values, 0.0))).T
    centre = function(mean)
    others = np.stack([function(mean + shift) for shift in transform.shifts(root)])
    each, differences = transform.weight(len(root)), others - centre
    m = each * differences.sum(0)
    outer = each * differences.T @ differences
    return centre + m, outer + (transform.beta - transform.alpha**2) * np.outer(m, m)


def test_the_thesis_setting_has_the_spread_and_weights_of_one_scaling():
    transform = Unscented(1e-3, 2.0, 0.0)
    assert transform.spread(2) == pytest.approx(1e-3 * np.sqrt(2))
    assert transform.weight(2) == pytest.approx(1 / (4 * 1e-6))


@given(transform=transforms, seed=st.integers(0, 1000), d=st.integers(1, 4))
@settings(deadline=None)
def test_affine_functions_have_their_exact_moments(transform, seed, d):
    rng = np.random.default_rng(seed)
    A, b, mean = rng.normal(size=(3, d)), rng.normal(size=3), rng.normal(size=d)
    root = rng.normal(size=(d, d))
    found, cov = transformed(transform, lambda x: A @ x + b, mean, root @ root.T)
    np.testing.assert_allclose(found, A @ mean + b, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(cov, A @ root @ root.T @ A.T, rtol=1e-7, atol=1e-7)


@given(transform=transforms, seed=st.integers(0, 1000), d=st.integers(1, 3))
@settings(deadline=None)
def test_means_of_cubic_polynomials_of_gaussians_are_exact(transform, seed, d):
    rng = np.random.default_rng(seed)
    mean, root = rng.normal(size=d), 0.5 * rng.normal(size=(d, d))
    cov = root @ root.T
    a, Q, T = rng.normal(size=d), rng.normal(size=(d, d)), rng.normal(size=(d, d, d))

    def cubic(x):
        return np.array([a @ x + x @ Q @ x + np.einsum("i,j,k,ijk", x, x, x, T)])

    # E[xᵢxⱼ] = mᵢmⱼ + Sᵢⱼ and E[xᵢxⱼxₖ] = mᵢmⱼmₖ + mᵢSⱼₖ + mⱼSᵢₖ + mₖSᵢⱼ
    expected = cubic(mean)[0] + np.sum(Q * cov)
    for order in ("i,jk,ijk", "j,ik,ijk", "k,ij,ijk"):
        expected += np.einsum(order, mean, cov, T)
    assert transformed(transform, cubic, mean, cov)[0][0] == pytest.approx(
        expected, rel=1e-6, abs=1e-6
    )


def test_with_beta_two_the_variance_of_a_square_is_exact():
    for alpha in (1e-2, 0.5, 1.0):
        _, cov = transformed(Unscented(alpha), np.square, np.array([3.0]), np.array([[2.0]]))
        assert cov[0, 0] == pytest.approx(4 * 9 * 2 + 2 * 4, rel=1e-6)


@given(seed=st.integers(0, 1000), d=st.integers(1, 5), rank=st.integers(1, 5))
@settings(deadline=None)
def test_roots_add_up_to_covariances(seed, d, rank):
    factors = np.random.default_rng(seed).normal(size=(3, d, rank))
    cov = factors @ np.swapaxes(factors, 1, 2)
    for own, root in zip(cov, roots(cov), strict=True):
        assert len(root) == min(rank, d)
        np.testing.assert_allclose(root.T @ root, own, rtol=1e-8, atol=1e-10)
    variances = np.array([[0.0, 4.0, 9.0]])
    np.testing.assert_array_equal(roots(variances)[0], [[0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])


@pytest.mark.parametrize("rule", ["thesis", "moment"])
@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_combined_moments_are_the_weighted_sums_and_pull_back(rule, alpha, rng):
    q, transform = 2, Unscented(alpha, 2.0, 0.5)
    means = rng.normal(size=(5, 3)) * 0.01
    variances = 1 + np.vstack([np.zeros(3), rng.random((4, 3)) * 0.05])
    W = transform.weights(q)
    mean = W @ means
    var = W @ (variances + means**2) - mean**2
    if rule == "thesis":
        central = (1 - alpha**2 + 2.0) * (means[0] - mean) ** 2
        var = var + W @ (means - mean) ** 2 + central

    def combined(values):
        mu, v = values[:5], values[5:]
        return transform.combined(q, mu[0], v[0], mu[1:] - mu[0], v[1:] - v[0], rule)

    found = combined(np.vstack([means, variances]))
    np.testing.assert_allclose(found[0], mean, rtol=1e-10)
    np.testing.assert_allclose(found[1], var, rtol=1e-10)
    mean_bar, var_bar = rng.normal(size=(2, 3))
    central_mean, central_var, means_bar, variances_bar = found[2](mean_bar, var_bar)
    bars = [central_mean - means_bar.sum(0), means_bar]
    bars += [central_var - variances_bar.sum(0), variances_bar]

    def loss(values):
        mean, var, _ = combined(values)
        return float(mean_bar @ mean + var_bar @ var)

    expected = central_differences(loss, np.vstack([means, variances]))
    np.testing.assert_allclose(np.vstack(bars), expected, rtol=1e-6, atol=1e-7)


def test_with_a_negative_central_weight_no_variance_is_below_the_central_one():
    transform = Unscented(0.1)
    means = np.array([[1.0], [1.0]])  # both sides lie above: W₀ < 0 makes the spread negative
    mean, var, pull = transform.combined(
        1, np.zeros(1), np.ones(1), means, np.zeros((2, 1)), "moment"
    )
    assert mean[0] == pytest.approx(100.0)
    assert var[0] == 1.0
    _, central, means_bar, variances_bar = pull(np.zeros(1), np.ones(1))
    assert central[0] == 1.0
    assert not means_bar.any()
    assert not variances_bar.any()


@pytest.mark.parametrize(
    "wrong", [{"alpha": 0.0}, {"alpha": -1.0}, {"kappa": -1.0}, {"beta": np.nan}]
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ModelError, match=next(iter(wrong))):
        Unscented(**wrong)
