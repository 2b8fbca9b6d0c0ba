import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Laplace
from outcrop.kernels import Matern52, Scaled
from outcrop.params import Per, free
from outcrop.priors import LogNormal
from outcrop.surrogates import GP, Inferred, MarginalPosterior
from outcrop.surrogates.inferred import STEP, ModelTarget
from outcrop.testing import POSTERIOR_CONTRACT, central_differences

MODEL = GP(
    Scaled(free(LogNormal(0, 0.5)), Matern52(free(LogNormal(-1, 0.7), size=Per.DIMENSION))),
    noise=free(LogNormal(-4, 1)),
)


@pytest.fixture
def data(rng):
    X = rng.random((10, 2))
    return Observations(X, np.sin(5 * X[:, 0]) + 0.1 * rng.normal(size=10))


def marginal(target, theta, covariance, variance="thesis"):
    columns = np.linalg.cholesky(covariance + 1e-300 * np.eye(len(theta))).T

    def at(point):
        return target.layout.bind(point).condition(target.data)

    return MarginalPosterior(
        at(theta),
        tuple(at(theta + STEP * c) for c in columns),
        tuple(at(theta - STEP * c) for c in columns),
        variance,
    )


@pytest.mark.parametrize(("variance", "factor"), [("thesis", 4 / 3), ("moment", 1.0)])
def test_certain_hyperparameters_keep_the_mean_and_a_stated_share_of_the_variance(
    data, rng, variance, factor
):
    target = ModelTarget(MODEL, data)
    theta, new = np.array([0.2, -1.0, -0.5, -3.0]), rng.random((6, 2))
    plain = target.layout.bind(theta).condition(data).predict(new)
    certain = marginal(target, theta, np.zeros((4, 4)), variance).predict(new)
    np.testing.assert_allclose(certain[0], plain[0], rtol=1e-14)
    np.testing.assert_allclose(certain[1], factor * plain[1], rtol=1e-12)


def test_variance_is_the_printed_formula(data, rng):
    """Equations 6.5 and 6.6 with derivatives in θ taken another way: one coordinate at a time."""
    target = ModelTarget(MODEL, data)
    theta, new = np.array([0.2, -1.0, -0.5, -3.0]), rng.random((3, 2))
    root = rng.normal(size=(4, 4)) * 0.3
    covariance = root @ root.T
    V = target.layout.bind(theta).condition(data).predict(new)[1]
    got = {
        kind: marginal(target, theta, covariance, kind).predict(new)[1]
        for kind in ("thesis", "moment")
    }
    for i in range(3):

        def at(t, which, i=i):
            return float(target.layout.bind(t).condition(data).predict(new[i : i + 1])[which][0])

        dm = central_differences(lambda t: at(t, 0), theta, 1e-5)
        dV = central_differences(lambda t: at(t, 1), theta, 1e-5)
        between = dm @ covariance @ dm
        thesis = 4 / 3 * V[i] + between + dV @ covariance @ dV / (3 * V[i])
        assert got["thesis"][i] == pytest.approx(thesis, rel=1e-5)
        assert got["moment"][i] == pytest.approx(V[i] + between, rel=1e-5)


def test_moment_variance_is_that_of_sampled_hyperparameters_where_they_are_nearly_certain(
    data, rng
):
    target = ModelTarget(MODEL, data)
    theta, new = np.array([0.2, -1.0, -0.5, -3.0]), rng.random((4, 2))
    covariance = 0.01**2 * np.eye(4)
    means, variances = zip(
        *(
            target.layout.bind(theta + 0.01 * rng.normal(size=4)).condition(data).predict(new)
            for _ in range(4000)
        ),
        strict=True,
    )
    expected = np.mean(variances, 0) + np.var(means, 0)
    moment = marginal(target, theta, covariance, "moment").predict(new)[1]
    np.testing.assert_allclose(moment, expected, rtol=0.01)


@pytest.mark.parametrize("variance", ["thesis", "moment"])
@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
def test_marginal_posterior_keeps_the_contract(data, rng, check, variance):
    belief = Inferred(MODEL, Laplace(), variance).fit(data, rng)
    check(belief.components[0], rng.random((5, 2)))


def test_joint_draws_have_the_marginal_mean_and_variance(data, rng):
    posterior = Inferred(MODEL, Laplace()).fit(data, rng).components[0]
    new = rng.random((3, 2))
    mean, var = posterior.predict(new)
    draws = posterior.sample(new, rng, 40_000)
    np.testing.assert_allclose(draws.mean(0), mean, atol=0.02)
    np.testing.assert_allclose(draws.var(0), var, rtol=0.05)


def test_an_unknown_variance_is_refused():
    with pytest.raises(ModelError, match='"thesis" or "moment"'):
        MarginalPosterior(None, (), (), "other")
