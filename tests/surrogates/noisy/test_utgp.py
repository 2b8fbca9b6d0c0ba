import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import MAP, Laplace
from outcrop.kernels import RBF, LocalGlobal, Matern52, Region, Scaled, Warp
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.surrogates import GP, Inferred, Mixture
from outcrop.surrogates.noisy import InputNoise, Transformed, Unscented
from outcrop.surrogates.noisy.input_noise import roots
from outcrop.surrogates.noisy.utgp import CHUNK
from outcrop.testing import POSTERIOR_CONTRACT, central_differences
from tests.surrogates.noisy.problems import ARD, FULL, KINDS, MATERN, MIXED, observations

NOISE = InputNoise(0.05)
RULES = ["thesis", "moment"]
TRANSFORMS = [None, Unscented(), Unscented(0.3, 2.0, 1.0)]


def transformed(gp, data, inputs=NOISE, transform=None, kind="simple", variance="moment"):
    surrogate = Transformed(None, inputs, transform, kind, variance)
    return surrogate.posterior(gp.condition(data), data, inputs.covariances(data))


def combination(transform, q, means, variances, rule):
    """Moments written down as they stand, with the central weight."""
    W = transform.weights(q)
    mean = W @ means
    var = W @ (variances + means**2) - mean**2
    if rule == "thesis":
        excess = 1 - transform.alpha**2 + transform.beta
        var += W @ (means - mean) ** 2 + excess * (means[0] - mean) ** 2
    return mean, var if W[0] >= 0 else np.maximum(var, variances[0])


@pytest.mark.parametrize("kind", ["simple", "full"])
@given(seed=st.integers(0, 10_000), n=st.integers(1, 20), noise=st.floats(1e-6, 0.1))
@settings(max_examples=25, deadline=None)
def test_without_input_noise_it_is_the_plain_process(kind, seed, n, noise):
    rng = np.random.default_rng(seed)
    data, new = observations(rng, n), rng.random((4, 2))
    plain = Inferred(GP(MATERN, noise, 0.2), MAP())
    for inputs in (InputNoise(), InputNoise(0.0)):
        belief = Transformed(plain, inputs, None, kind).fit(data, rng)
        np.testing.assert_allclose(
            belief.moments(new), plain.fit(data, rng).moments(new), rtol=1e-8, atol=1e-10
        )
    tiny = InputNoise(1e-7)
    found = transformed(GP(MATERN, noise, 0.2), data, tiny, kind=kind).predict(new)
    expected = GP(MATERN, noise, 0.2).condition(data).predict(new)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("transform", [Unscented(), Unscented(0.3, 2.0, 1.0)], ids=repr)
@pytest.mark.parametrize("inputs", [NOISE, InputNoise((0.1, 0.0)), InputNoise(cov=FULL)], ids=repr)
def test_the_simple_one_is_the_mixture_over_moved_data_sets(inputs, transform, rule, rng):
    data, new = observations(rng), rng.random((6, 2))
    gp = GP(MATERN, 1e-3, 0.1)
    (root,) = roots(inputs.covariances(data))
    shifts = np.vstack([np.zeros(2), transform.shifts(root)])
    sets = [Observations(data.X + shift, data.y) for shift in shifts]
    assert np.ptp([gp.log_likelihood(own) for own in sets]) < 1e-9
    parts = [gp.condition(own).predict(new) for own in sets]
    means, variances = np.stack([m for m, _ in parts]), np.stack([v for _, v in parts])
    expected = combination(transform, len(root), means, variances, rule)
    found = transformed(gp, data, inputs, transform, "simple", rule).predict(new)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def naive(gp, data, cov, transform, new, rule):
    """One factorisation for each of 2Nd + 1 data sets."""
    own = roots(cov) * (len(data) if len(cov) == 1 else 1)
    q = sum(map(len, own))
    moved = []
    for sign in (1, -1):
        for i, root in enumerate(own):
            for direction in root:
                X = data.X.copy()
                X[i] += sign * transform.spread(q) * direction
                moved.append(Observations(X, data.y, data.noise))
    parts = [gp.condition(own).predict(new) for own in [data, *moved]]
    means, variances = np.stack([m for m, _ in parts]), np.stack([v for _, v in parts])
    return combination(transform, q, means, variances, rule)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "kernel", [ARD, MATERN, Warp([1.3], [0.8], MATERN)], ids=["rbf", "matern", "warped"]
)
def test_the_full_one_is_the_mixture_over_data_sets_with_one_moved_observation(
    kernel, kind, rule, rng
):
    data, new = observations(rng, 9, kind, noise=True), rng.random((6, 2))
    gp = GP(kernel, 1e-3, 0.1)
    cov = NOISE.covariances(data)
    for transform in (Unscented(0.4), Unscented(0.3, 2.0, 1.0)):
        expected = naive(gp, data, cov, transform, new, rule)
        found = transformed(gp, data, NOISE, transform, "full", rule).predict(new)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_in_more_dimensions_the_full_one_equals_the_naive_way(rng):
    data = Observations(rng.random((30, 4)), rng.normal(size=30))
    gp, new = GP(Matern52([0.4, 0.5, 0.6, 0.7]), 1e-4), rng.random((5, 4))
    posterior = transformed(gp, data, NOISE, None, "full")
    expected = naive(gp, data, NOISE.covariances(data), posterior.unscented, new, "moment")
    assert len(posterior.sets.X) == 2 * 30 * 4
    assert posterior.unscented.spread(120) == pytest.approx(np.sqrt(3))
    np.testing.assert_allclose(posterior.predict(new), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["simple", "full"])
def test_as_alpha_vanishes_the_transform_is_the_second_order_expansion(kind, rng):
    """μ + ½ tr SH and ∇μᵀS∇μ + ½ (tr SH)², here in what the thesis' rule adds to the moments."""
    data, new = observations(rng), rng.random((5, 2))
    gp = GP(ARD, 1e-2, 0.1)
    centre = gp.condition(data)
    thesis, moment = (
        transformed(gp, data, NOISE, Unscented(1e-3, 2.0, 0.0), kind, rule) for rule in RULES
    )
    if kind == "simple":
        gradient = centre.mean_gradient(new)
        hessian = np.stack(
            [
                (centre.mean_gradient(new + step)[:, i] - centre.mean_gradient(new - step)[:, i])
                / 2e-4
                for i, step in enumerate(1e-4 * np.eye(2))
            ]
        )
        trace, slope = 0.05**2 * hessian.sum(0), 0.05**2 * (gradient**2).sum(1)
    else:
        q, h = 24, 1e-3
        step = Unscented(
            h / np.sqrt(q)
        )  # differences of data sets by hand, one observation at a time
        ahead, behind = (
            np.stack(
                [
                    gp.condition(Observations(data.X + 0.05 * h * sign * unit, data.y)).predict(
                        new
                    )[0]
                    for unit in np.eye(24).reshape(24, 12, 2)
                ]
            )
            for sign in (1, -1)
        )
        assert step.spread(q) == pytest.approx(h)
        mean = centre.predict(new)[0]
        trace = (ahead + behind - 2 * mean).sum(0) / h**2
        slope = (((ahead - behind) / (2 * h)) ** 2).sum(0)
    mean, var = thesis.predict(new)
    np.testing.assert_allclose(mean, centre.predict(new)[0] + 0.5 * trace, atol=2e-5)
    within = moment.predict(new)[1]
    is_open = within > centre.predict(new)[1]
    assert is_open.sum() >= 3
    added = slope + 0.5 * trace**2
    np.testing.assert_allclose((var - within)[is_open], added[is_open], rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["simple", "full"])
def test_its_posterior_keeps_the_contract(way, kind, rule, check, rng):
    data = observations(rng, kind=kind)
    transforms = TRANSFORMS
    if check.__name__.startswith("believing") and way == "simple":
        transforms = TRANSFORMS[:2]  # a negative central weight extrapolates variances
    for transform in transforms:
        posterior = transformed(GP(MATERN, 1e-3, 0.1), data, NOISE, transform, way, rule)
        check(posterior, rng.random((5, 2)))


@pytest.mark.parametrize("way", ["simple", "full"])
def test_draws_have_its_mean_and_variance(way, rng):
    posterior = transformed(GP(MATERN, 1e-2, 0.1), observations(rng, 6), NOISE, None, way)
    X = rng.random((3, 2))
    mean, var = posterior.predict(X)
    paths = np.stack([posterior.draw(rng, 128)(X) for _ in range(600)])
    for draws in (paths, posterior.sample(X, rng, 4000)):
        assert (np.abs(draws.mean(0) - mean) < 5 * np.sqrt(var / len(draws))).all()
        np.testing.assert_allclose(draws.var(0), var, rtol=0.2)
    path = posterior.draw(rng, 64)
    expected = central_differences(lambda x: float(path(x).sum()), X)
    np.testing.assert_allclose(path.gradient(X), expected, rtol=1e-4, atol=1e-5)


def test_the_incumbent_is_the_lowest_mean_at_the_data(rng):
    data = observations(rng)
    for way in ("simple", "full"):
        posterior = transformed(GP(MATERN, 1e-3), data, NOISE, None, way)
        assert posterior.incumbent() == posterior.predict(data.X)[0].min()
        X = rng.random((1, 2))
        lower = posterior.condition(X, np.array([-9.0]))
        assert lower.incumbent() < posterior.incumbent() - 1


def test_many_points_are_predicted_in_parts(rng, monkeypatch):
    posterior = transformed(GP(MATERN, 1e-3), observations(rng), NOISE, None, "full")
    X = rng.random((50, 2))
    whole = posterior.predict(X)
    assert CHUNK > 50 * 48
    monkeypatch.setattr("outcrop.surrogates.noisy.utgp.CHUNK", 48 * 7)
    np.testing.assert_allclose(posterior.predict(X), whole, rtol=1e-10)


@pytest.mark.parametrize("way", ["simple", "full"])
def test_categories_and_conditions_are_taken(way, rng):
    X = np.hstack([rng.random((10, 2)), rng.integers(0, 2, (10, 1))])
    data = Observations(X, np.sin(4 * X[:, 0]) + X[:, 2])
    inputs = InputNoise(0.05, columns=(0,))
    posterior = transformed(GP(MIXED, 1e-3), data, inputs, None, way)
    mean, var = posterior.predict(X)
    assert np.isfinite(mean).all()
    assert (var > 0).all()


def test_a_kernel_that_is_not_stationary_needs_the_full_one(rng):
    kernel = LocalGlobal((Region([0.5, 0.5], 0.2, Matern52([0.2])),), Matern52([0.5]))
    data = observations(rng)
    with pytest.raises(ModelError, match="full"):
        transformed(GP(Scaled(1.0, kernel), 1e-3), data)
    assert transformed(GP(kernel, 1e-3), data, kind="full").predict(data.X)[0].shape == (12,)


def test_the_simple_one_takes_a_marginal_process_and_the_full_one_says_it_does_not(rng):
    data = observations(rng)
    inner = Inferred(GP(RBF(free(LogNormal(-0.7), size=2)), 1e-3), Laplace(starts=2))
    belief = Transformed(inner, NOISE).fit(data, rng)
    assert isinstance(belief, Mixture)
    assert (belief.moments(data.X)[1] > 0).all()
    with pytest.raises(ModelError, match="Slice"):
        Transformed(inner, NOISE, kind="full").fit(data, rng)
    with pytest.raises(ModelError, match="cannot draw functions; use a GP with Slice"):
        belief.components[0].draw(rng)
