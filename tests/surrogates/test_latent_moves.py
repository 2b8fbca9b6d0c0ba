"""Moves of single latents leave their posterior invariant, and mix where moves of all do not."""

import numpy as np
import pytest
from scipy import stats

from outcrop.data import Observations
from outcrop.inference import effective_sample_size, slice_chain
from outcrop.kernels import Matern52, Scaled
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.surrogates import LatentGP, latent, latent_moves
from outcrop.surrogates.inferred import ModelTarget
from outcrop.surrogates.latent import LatentObservations
from tests.surrogates.test_latent import KERNELS, OTHERS, latents, observations

KERNEL = Scaled(1.3, Matern52([0.4]))


class MovesTogether(ModelTarget):
    """The same target without moves of single latents."""

    def moved_gaussian(self, theta, rng):
        return None


def test_latents_and_values_drawn_from_the_model_keep_their_joint_distribution(rng):
    """Latents from the prior, values given them, then a move given the values [Geweke 2004]."""
    X, spread, noise, repetitions = np.array([[0.1], [0.25], [0.7]]), 0.5, 0.05, 1500
    before, after = np.empty((2, repetitions, 3, 2))
    values = np.empty((repetitions, 3))
    for i in range(repetitions):
        h = rng.standard_normal((3, 2))
        seen = LatentObservations.of(Observations(X, np.zeros(3)), spread * h)
        K = KERNEL.on(seen.pairs)[0] + noise * np.eye(3)
        values[i] = np.linalg.cholesky(K) @ rng.standard_normal(3)
        model = LatentGP(KERNEL, spread, tuple(h.T), noise)
        moved = model.resampled_latents(Observations(X, values[i]), rng)
        before[i], after[i] = h, moved.reshape(2, 3).T
    assert (before != after).all(axis=2).mean() > 0.5
    assert (
        min(stats.kstest(after[:, i, j], "norm").pvalue for i in range(3) for j in range(2)) > 1e-4
    )
    # How far apart two observations lie goes with how much their values differ.
    apart, differ = ((h[:, 0] - h[:, 1]) ** 2 for h in (before, after)), values[:, 0] - values[:, 1]
    products = [(each.sum(1) * differ**2) for each in apart]
    assert stats.ks_2samp(*products).pvalue > 1e-3


def test_a_latent_is_drawn_from_its_conditional_density(rng):
    """One observation of two: its density given the other, integrated on a grid."""
    X, y, spread, noise = np.array([[0.3], [0.35]]), np.array([1.0, -0.8]), 0.6, 0.01
    grid = np.linspace(-6, 6, 2001)
    r = np.sqrt(0.05**2 + spread**2 * grid**2) / 0.4
    k = 1.3 * (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r)
    mean, var = k / (1.3 + noise) * y[0], 1.3 + noise - k**2 / (1.3 + noise)
    density = stats.norm.pdf(grid, 0, np.sqrt(2)) * stats.norm.pdf(y[1], mean, np.sqrt(var))
    cdf = np.cumsum(density) / density.sum()  # of the difference of both latents
    h, drawn = np.zeros(2), []
    for _ in range(4000):
        model = LatentGP(KERNEL, spread, (h,), noise)
        h = model.resampled_latents(Observations(X, y), rng)
        drawn.append(h[0] - h[1])
    thinned = np.array(drawn[100::8])
    assert stats.kstest(thinned, lambda x: np.interp(x, grid, cdf)).pvalue > 1e-3


def test_chains_of_single_moves_mix_where_chains_of_joint_moves_do_not():
    rng = np.random.default_rng(0)
    X = rng.random((24, 1))
    y = np.sin(3 * X[:, 0]) + 0.5 * np.sign(np.sin(60 * X[:, 0]))
    data = Observations(X, (y - y.mean()) / y.std())
    lengthscale, variance = LogNormal(np.log(0.3), 1.0), LogNormal(0.0, 1.0)
    kernel = Scaled(free(variance), Matern52(free(lengthscale, size=1)))
    model = LatentGP(kernel, spread=0.1, noise=1e-6)

    def effective_draws(target):
        """Of the absolute value of each latent, on average, in 200 sweeps."""
        chain = slice_chain(target, np.random.default_rng(1), 200, burn_in=20, elliptical_steps=4)
        return effective_sample_size(np.abs(chain[None, :, target.gaussian])).mean()

    single = effective_draws(ModelTarget(model, data))
    assert single > 3 * effective_draws(MovesTogether(model, data))


def test_the_latents_of_a_single_observation_move_by_their_prior(rng, capfd):
    model = LatentGP(KERNEL, 0.5, (np.zeros(1),), 0.01)
    drawn = [model.resampled_latents(Observations([[0.3]], [1.0]), rng)[0] for _ in range(500)]
    moved = [h for h in drawn if h != 0.0]  # else the present one was chosen among 17
    assert stats.kstest(moved, "norm").pvalue > 1e-3
    assert capfd.readouterr() == ("", "")  # LAPACK prints complaints


@pytest.mark.parametrize("coordinates", [1, 2])
@pytest.mark.parametrize("name", [*KERNELS, *OTHERS])
def test_moves_compare_the_likelihoods_of_all_observations(name, coordinates, rng, monkeypatch):
    """The density of one observation given the others is their joint one up to a constant."""
    data, spread, noise = observations(rng, 9), 0.4, 1e-3
    kernel, given = {**KERNELS, **OTHERS}[name], {}
    moves = latents(rng, len(data), coordinates)

    def catch(K, covariances, residual, own, rng):
        given.update(K=K, covariances=covariances, residual=residual)
        return own

    monkeypatch.setattr(latent, "resampled", catch)
    LatentGP(kernel, spread, moves, noise, mean=0.3).resampled_latents(data, rng)
    pool, i = rng.normal(size=(4, coordinates)), 5
    own = np.stack(moves, axis=1)
    rows = np.empty((6, len(data)))
    rows[0], rows[1:-1], rows[-1] = given["K"][i], given["covariances"](i, pool, own), data.y - 0.3
    found = latent_moves._log_density(given["K"], i, given["residual"][i], rows)
    expected = []
    for candidate in [own[i], *pool]:
        changed = own.copy()
        changed[i] = candidate
        model = LatentGP(kernel, spread, tuple(changed.T), noise, mean=0.3)
        expected.append(model.condition(data).log_likelihood)
    np.testing.assert_allclose(found - found[0], np.subtract(expected, expected[0]), atol=1e-7)


def test_likelihoods_do_not_depend_on_those_before(rng):
    data, first, second = observations(rng), latents(rng, 12), latents(rng, 12)
    for moves, spread in [(first, 0.3), (first, 0.3), (second, 0.3), (first, 0.6), (first, 0.3)]:
        model = LatentGP(KERNELS["matern"], spread, moves, noise=1e-3)
        fresh = Observations(data.X, data.y)
        assert model.log_likelihood(data) == model.log_likelihood(fresh)
