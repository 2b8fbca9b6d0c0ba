import json

import numpy as np
import pytest
from scipy import stats

from outcrop.data import Observations
from outcrop.inference import MAP, Laplace, Slice, slice_chain
from outcrop.kernels import Matern52, Scaled
from outcrop.params import Per, free
from outcrop.priors import LogNormal, Normal
from outcrop.surrogates import GP, Inferred, MarginalPosterior
from outcrop.surrogates.inferred import ModelTarget

MODEL = GP(
    Scaled(free(LogNormal(0, 0.5)), Matern52(free(LogNormal(-1, 0.7), size=Per.DIMENSION))),
    noise=free(LogNormal(-4, 1)),
    mean=free(Normal()),
)


def observations(rng, n=12, d=2):
    X = rng.random((n, d))
    return Observations(X, np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=n))


def test_sampling_gives_one_component_per_chain(rng):
    belief = Inferred(MODEL, Slice(chains=5)).fit(observations(rng), rng)
    assert len(belief) == 5
    np.testing.assert_allclose(belief.weights, 0.2)
    assert len({part.model.kernel.variance for part in belief.components}) == 5


def test_map_gives_one_component_no_worse_than_any_prior_draw(rng):
    data = observations(rng)
    belief = Inferred(MODEL, MAP(jacobian=True)).fit(data, rng)
    target = ModelTarget(MODEL, data)
    best = target.layout.join(belief.state["thetas"][0])
    value = target.log_prior(best) + target.log_likelihood(best)
    draws = target.sample_prior(rng, 300)
    assert value >= max(target.log_prior(t) + target.log_likelihood(t) for t in draws)


def test_laplace_gives_a_marginal_posterior_with_the_modes_mean(rng):
    data, new = observations(rng), rng.random((5, 2))
    belief = Inferred(MODEL, Laplace()).fit(data, rng)
    (component,) = belief.components
    assert isinstance(component, MarginalPosterior)
    np.testing.assert_array_equal(component.predict(new)[0], component.centre.predict(new)[0])
    assert (component.predict(new)[1] >= 4 / 3 * component.centre.predict(new)[1]).all()


def test_state_is_plain_data_and_continues_the_chains(rng):
    data = observations(rng)
    surrogate = Inferred(MODEL, Slice(chains=3, sweeps=0))
    first = surrogate.fit(data, rng)
    state = json.loads(json.dumps(first.state))
    second = surrogate.fit(data, rng, state)
    for one, two in zip(first.components, second.components, strict=True):
        assert one.model.noise == pytest.approx(two.model.noise, rel=1e-12)


def test_warm_state_survives_new_data_and_a_changed_model(rng):
    data = observations(rng)
    first = Inferred(
        GP(Matern52(free(LogNormal(), size=Per.DIMENSION)), noise=1e-3), Slice(chains=3)
    )
    state = first.fit(data, rng).state
    more = data.append(rng.random((1, 2)), np.zeros(1))
    belief = Inferred(MODEL, Slice(chains=4)).fit(more, rng, state)
    assert len(belief) == 4


def test_same_generator_gives_the_same_belief(rng):
    data = observations(rng)
    a = Inferred(MODEL, Slice(chains=3)).fit(data, np.random.default_rng(7))
    b = Inferred(MODEL, Slice(chains=3)).fit(data, np.random.default_rng(7))
    assert a.state == b.state


def test_a_model_without_free_slots_is_conditioned_as_it_is(rng):
    data = observations(rng)
    belief = Inferred(GP(Matern52(0.3), noise=0.1), Slice()).fit(data, rng)
    assert len(belief) == 1


def test_many_data_are_first_met_in_part(rng, monkeypatch):
    """A cold start on 150 observations is one on 100, and few sweeps on all of them."""
    sizes = []
    real = GP.log_likelihood

    def counted(self, data):
        sizes.append(len(data))
        return real(self, data)

    monkeypatch.setattr(GP, "log_likelihood", counted)
    belief = Inferred(MODEL, Slice(chains=2, burn_in=4)).fit(observations(rng, n=150), rng)
    assert len(belief.components[0].data) == 150
    assert sizes.count(150) < sizes.count(100)


def chains_of(target, rng, n, thin):
    return slice_chain(target, rng, n * thin)[::thin]


def test_without_data_the_samples_are_the_prior(rng):
    target = ModelTarget(MODEL, Observations(np.zeros((0, 2)), np.zeros(0)))
    assert target.log_likelihood(np.zeros(target.dim)) == 0.0
    samples, prior = chains_of(target, rng, 250, 5), target.sample_prior(rng, 2000)
    for i in range(target.dim):
        assert stats.ks_2samp(samples[:, i], prior[:, i]).pvalue > 1e-3


def calibration_ranks(runs, seed, n=8, draws=20, thin=6):
    """Rank of the true θ among posterior draws, `(runs, dim)`; uniform if all is right."""
    rng = np.random.default_rng(seed)
    ranks = []
    for _ in range(runs):
        X = rng.random((n, 2))
        prior_target = ModelTarget(MODEL, Observations(X, np.zeros(n)))
        truth = prior_target.sample_prior(rng, 1)[0]
        model = prior_target.layout.bind(truth)
        covariance = model.kernel.gram(X) + model.noise * np.eye(n)
        y = model.mean + np.linalg.cholesky(covariance + 1e-12 * np.eye(n)) @ rng.normal(size=n)
        chain = chains_of(ModelTarget(MODEL, Observations(X, y)), rng, draws - 1, thin)
        ranks.append((chain < truth).sum(0))
    return np.array(ranks)


def assert_uniform(ranks, draws=20):
    for column in ranks.T:
        counts = np.bincount(column // (draws // 5), minlength=5)
        assert stats.chisquare(counts).pvalue > 1e-3, counts


@pytest.mark.slow
def test_simulation_based_calibration():
    """200 prior draws through the layout: ranks of the truth are uniform [Talts et al. 2018]."""
    assert_uniform(calibration_ranks(runs=200, seed=1))
