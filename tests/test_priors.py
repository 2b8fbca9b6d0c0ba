import numpy as np
import pytest
from scipy import integrate, stats

from outcrop.errors import ModelError
from outcrop.priors import (
    Beta,
    Gamma,
    HalfCauchy,
    Horseshoe,
    LogNormal,
    Normal,
    Shifted,
    Uniform,
)
from outcrop.testing import central_differences

EVERY_PRIOR = [
    LogNormal(0.4, 0.8),
    Gamma(2.5, 1.7),
    HalfCauchy(0.6),
    Horseshoe(0.3),
    Uniform(-1.0, 2.5),
    Normal(0.4, 1.3),
    Beta(2.0, 3.5),
    Shifted(LogNormal(-1.0, 0.5), 0.2),
    Shifted(Normal(), 3.0),
]
every_prior = pytest.mark.parametrize("prior", EVERY_PRIOR, ids=str)


@every_prior
def test_density_integrates_to_one(prior):
    low, high = prior.support
    split = float(np.median(prior.sample(np.random.default_rng(0), 999)))
    total = sum(
        integrate.quad(
            lambda x: float(np.exp(prior.log_density(np.array([x])))[0]), a, b, limit=200
        )[0]
        for a, b in ((low, split), (split, high))
    )
    assert total == pytest.approx(1.0, abs=1e-6)


@every_prior
def test_density_of_theta_integrates_to_one(prior):
    def density(theta):
        return float(np.exp(prior.log_prior(np.array([theta]))))

    total = sum(integrate.quad(density, a, b, limit=400)[0] for a, b in ((-40, 0), (0, 40)))
    assert total == pytest.approx(1.0, abs=1e-6)


@every_prior
def test_slopes_agree_with_finite_differences(prior, rng):
    x = prior.sample(rng, 6)
    expected = central_differences(lambda v: float(prior.log_density(v).sum()), x, 1e-7)
    np.testing.assert_allclose(prior.slope(x), expected, rtol=1e-5, atol=1e-5)


@every_prior
def test_gradients_in_theta_agree_with_finite_differences(prior, rng):
    theta = rng.normal(size=5)
    for function in (prior.log_prior_with_gradient, prior.log_jacobian):
        expected = central_differences(lambda t, f=function: f(t)[0], theta)
        np.testing.assert_allclose(function(theta)[1], expected, rtol=1e-6, atol=1e-7)
    expected = [
        central_differences(lambda t: float(prior.natural(t)[0]), theta[i : i + 1])[0]
        for i in range(5)
    ]
    np.testing.assert_allclose(prior.derivative(theta), expected, rtol=1e-6)


@every_prior
def test_theta_and_natural_coordinates_are_inverse(prior, rng):
    x = prior.sample(rng, 20)
    np.testing.assert_allclose(prior.natural(prior.unconstrained(x)), x, rtol=1e-10)


@every_prior
def test_samples_follow_the_density(prior):
    """Against the distribution function found by numerical integration in θ."""
    draws = np.sort(prior.unconstrained(prior.sample(np.random.default_rng(4), 2000)))
    grid = np.linspace(-40, 40, 200_001)
    step = grid[1] - grid[0]
    density = np.exp([prior.log_prior(grid[i : i + 1]) for i in range(0, len(grid), 20)])
    cumulative = np.cumsum(density) * step * 20
    p = stats.kstest(draws, lambda t: np.interp(t, grid[::20], cumulative)).pvalue
    assert p > 1e-3


@pytest.mark.parametrize(
    ("prior", "reference"),
    [
        (LogNormal(0.4, 0.8), stats.lognorm(0.8, scale=np.exp(0.4))),
        (Gamma(2.5, 1.7), stats.gamma(2.5, scale=1 / 1.7)),
        (HalfCauchy(0.6), stats.halfcauchy(scale=0.6)),
        (Uniform(-1.0, 2.5), stats.uniform(-1.0, 3.5)),
        (Normal(0.4, 1.3), stats.norm(0.4, 1.3)),
        (Beta(2.0, 3.5), stats.beta(2.0, 3.5)),
    ],
    ids=str,
)
def test_densities_equal_scipys(prior, reference, rng):
    x = prior.sample(rng, 10)
    np.testing.assert_allclose(prior.log_density(x), reference.logpdf(x), rtol=1e-10)


def test_gaussian_priors_of_theta_say_so(rng):
    theta = rng.normal(size=4)
    for prior in EVERY_PRIOR:
        if prior.gaussian is not None:
            mean, std = prior.gaussian
            expected = stats.norm(mean, std).logpdf(theta).sum()
            assert prior.log_prior(theta) == pytest.approx(expected)


def test_lengthscale_prior_has_its_modes_where_numerics_say():
    """LogNormal(√2 + ½ ln d, √3), as a density in ℓ and as one in ln ℓ."""
    for d, in_l, in_log in ((2, 0.29, 5.8), (6, 0.50, 10.1), (10, 0.65, 13.0)):
        prior = LogNormal(np.sqrt(2), np.sqrt(3), growth=0.5).for_size(d)
        x = np.geomspace(0.01, 100, 20_001)
        assert x[np.argmax(prior.log_density(x))] == pytest.approx(in_l, rel=0.02)
        assert x[np.argmax(prior.log_density(x) + np.log(x))] == pytest.approx(in_log, rel=0.02)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: LogNormal(0, -1),
        lambda: Gamma(0, 1),
        lambda: HalfCauchy(np.inf),
        lambda: Uniform(1, 1),
        lambda: Normal(0, 0),
        lambda: Beta(1, -2),
    ],
)
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ModelError, match="expected"):
        wrong()
