import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import outcrop as oc
from outcrop.data import Observations
from outcrop.errors import ModelError, ShapeError
from outcrop.inference import Slice, slice_chain
from outcrop.kernels import (
    RBF,
    Additive,
    Conditional,
    Matern32,
    Matern52,
    Offset,
    Overlap,
    RationalQuadratic,
    Scaled,
    Subspace,
    Warp,
)
from outcrop.params import Per, free
from outcrop.priors import LogNormal, Normal
from outcrop.surrogates import (
    GP,
    Heteroscedastic,
    Inferred,
    Latent,
    LatentGP,
    LatentPosterior,
    Lottery,
    Mixture,
)
from outcrop.surrogates.inferred import ModelTarget
from outcrop.surrogates.latent import LatentObservations, augmented
from outcrop.surrogates.situation import LATENT_ROWS
from outcrop.surrogates.stack import Stack
from outcrop.testing import POSTERIOR_CONTRACT, central_differences

CONDITIONS = ((1, ((2, 0),), False),)
KERNELS = {
    "matern": Offset(0.7, Scaled(1.3, Matern52([0.3, 0.6, 0.9]))),
    "isotropic": Scaled(1.3, Matern32(0.5)),
    "mixed": Subspace((0, 1), RBF([0.4, 0.7])) * Subspace((2,), Overlap([0.8])),
    "conditional": Conditional(
        CONDITIONS, Subspace((0, 1), Matern52([0.4, 0.7])) * Subspace((2,), Overlap([0.8]))
    ),
    "sum": Scaled(0.5, RBF([0.4, 0.7, 0.2])) + Matern52([0.4, 0.7, 1.2]),
}
OTHERS = {
    "rational": RationalQuadratic([0.4, 0.7, 0.9], alpha=1.5),
    "additive": Additive(0.3, Matern52([0.4, 0.7, 0.9])),
    "warped": Warp([0.5, 1.0, 2.0], [1.5, 1.0, 1.0], Matern52([0.4, 0.7, 0.9])),
}


def points(rng, n):
    return np.hstack([rng.random((n, 2)), rng.integers(0, 2, (n, 1))])


def observations(rng, n=12):
    X = points(rng, n)
    return Observations(X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2])


def latents(rng, n, coordinates=1):
    return tuple(rng.normal(size=(coordinates, n)))


@pytest.mark.parametrize("coordinates", [1, 2])
@pytest.mark.parametrize("name", KERNELS)
def test_latents_are_columns_more_with_the_mean_of_inverse_squared_lengthscales(
    name, coordinates, rng
):
    data, new = observations(rng), points(rng, 5)
    moves = latents(rng, len(data), coordinates)
    model = LatentGP(KERNELS[name], 0.4, moves, noise=1e-3, mean=0.2)
    reference = GP(augmented(KERNELS[name], 3, coordinates), noise=1e-3, mean=0.2)
    whole = Observations(np.column_stack([data.X, *(0.4 * move for move in moves)]), data.y)
    at_zero = np.hstack([new, np.zeros((5, coordinates))])
    assert model.log_likelihood(data) == pytest.approx(reference.log_likelihood(whole), rel=1e-9)
    ours, theirs = model.condition(data), reference.condition(whole)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(at_zero), rtol=1e-8)
    covariance = theirs.predict_joint(at_zero)[1]
    np.testing.assert_allclose(ours.predict_joint(new)[1], covariance, atol=1e-10)
    bars = rng.normal(size=(2, 5))
    bar = ours.predict_with_pullback(new)[2](*bars)
    expected = theirs.predict_with_pullback(at_zero)[2](*bars)[:, :3]
    np.testing.assert_allclose(bar, expected, rtol=1e-7, atol=1e-9)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 30), name=st.sampled_from([*KERNELS, *OTHERS]))
@settings(max_examples=60, deadline=None)
def test_without_spread_it_is_the_plain_process(seed, n, name):
    rng = np.random.default_rng(seed)
    kernel = {**KERNELS, **OTHERS}[name]
    data, new = observations(rng, n), points(rng, 4)
    model, plain = LatentGP(kernel, 0.0, noise=1e-6), GP(kernel, noise=1e-6)
    # up to rounding: kernels may compute pairs with latents in another order
    assert model.log_likelihood(data) == pytest.approx(plain.log_likelihood(data), rel=1e-12)
    ours, theirs = model.condition(data), plain.condition(data)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9)
    assert ours.incumbent() == theirs.incumbent()
    vanishing = LatentGP(kernel, 1e-9, latents(rng, n), noise=1e-6)
    assert vanishing.log_likelihood(data) == pytest.approx(plain.log_likelihood(data), rel=1e-6)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 20))
@settings(max_examples=40, deadline=None)
def test_a_growing_latent_removes_its_observations_influence(seed, n):
    rng = np.random.default_rng(seed)
    data, new, gone = observations(rng, n), points(rng, 4), rng.integers(n)
    kernel, moves = KERNELS["mixed"], latents(rng, n)
    rest = np.delete(np.arange(n), gone)
    without = LatentGP(kernel, 0.1, (moves[0][rest],), noise=1e-4)
    expected = without.condition(Observations(data.X[rest], data.y[rest])).predict(new)
    errors = []
    for far in (1.0, 20.0, 400.0):
        own = moves[0].copy()
        own[gone] = far
        found = LatentGP(kernel, 0.1, (own,), noise=1e-4).condition(data).predict(new)
        errors.append(np.abs(np.subtract(found, expected)).max())
    assert errors[2] < 1e-9
    assert errors[1] <= errors[0] + 1e-9


def test_equal_latents_leave_the_likelihood_and_move_the_data_away(rng):
    data = observations(rng)
    same = LatentGP(KERNELS["matern"], 0.5, (np.ones(12),), noise=1e-4)
    plain = GP(KERNELS["matern"], noise=1e-4)
    assert same.log_likelihood(data) == pytest.approx(plain.log_likelihood(data), rel=1e-12)
    far, near = (one.condition(data).predict(data.X)[1] for one in (same, plain))
    assert (far > near).all()


@pytest.mark.parametrize("name", [*KERNELS, *OTHERS])
def test_packed_and_full_likelihoods_agree(name, rng):
    data = observations(rng)
    model = LatentGP({**KERNELS, **OTHERS}[name], 0.3, latents(rng, 12), noise=1e-3)
    full = model.condition(data).log_likelihood
    assert model.log_likelihood(data) == pytest.approx(full, rel=1e-9)


@pytest.mark.parametrize("name", [*KERNELS, *OTHERS])
def test_gradients_agree_with_finite_differences(name, rng):
    data = observations(rng, 7)
    fixed = {**KERNELS, **OTHERS}[name]
    scaled = Scaled(free(LogNormal()), fixed)
    target = ModelTarget(
        LatentGP(
            scaled if name != "matern" else Matern52(free(LogNormal(), size=3)),
            free(LogNormal(-1.0)),
            (free(Normal(), size=Per.OBSERVATION),) * 2,
            noise=free(LogNormal(-4)),
            mean=free(Normal()),
        ),
        data,
    )
    theta = target.sample_prior(rng, 1)[0]
    value, gradient = target.log_likelihood_with_gradient(theta)
    assert value == pytest.approx(target.log_likelihood(theta), rel=1e-9)
    expected = central_differences(target.log_likelihood, theta)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    plain = ModelTarget(LatentGP(scaled, 0.0, noise=1e-3), data)
    expected = central_differences(plain.log_likelihood, np.zeros(1))
    found = plain.log_likelihood_with_gradient(np.zeros(1))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ["matern", "isotropic", "sum", *OTHERS])
def test_every_latent_posterior_keeps_the_contract(name, check, rng):
    model = LatentGP({**KERNELS, **OTHERS}[name], 0.2, latents(rng, 12, 2), noise=1e-4)
    check(model.condition(observations(rng)), rng.uniform(0.05, 0.95, (5, 3)))


def test_what_is_believed_has_no_latent_and_one_by_one_equals_all_at_once(rng):
    data, new = observations(rng), points(rng, 3)
    moves = latents(rng, 12)
    model = LatentGP(KERNELS["mixed"], 0.3, moves, noise=1e-4)
    believed = model.condition(data).condition(new, np.array([0.1, -0.4, 0.3]))
    assert isinstance(believed, LatentPosterior)
    np.testing.assert_array_equal(believed.latents[:, 0], [*(0.3 * moves[0]), 0, 0, 0])
    np.testing.assert_allclose(believed.predict(new)[0], [0.1, -0.4, 0.3], atol=0.02)
    grown = LatentGP(KERNELS["mixed"], 0.3, (np.append(moves[0], [0, 0, 0]),), noise=1e-4)
    whole = grown.condition(data.append(new, np.array([0.1, -0.4, 0.3])))
    probe = points(rng, 4)
    np.testing.assert_allclose(believed.predict(probe), whole.predict(probe), rtol=1e-7)


def test_the_incumbent_is_the_lowest_exact_value_though_the_mean_passes_it_by(rng):
    data = observations(rng)
    posterior = LatentGP(KERNELS["matern"], 0.5, latents(rng, 12), noise=1e-9).condition(data)
    assert posterior.incumbent() == data.y.min()
    assert posterior.predict(data.X)[0].min() > data.y.min() + 1e-3
    lower = posterior.condition(points(rng, 1), np.array([data.y.min() - 1]))
    assert lower.incumbent() == data.y.min() - 1


@pytest.mark.parametrize("n", [1, 9, 320], ids=lambda n: f"n={n}")
@pytest.mark.parametrize("name", [*KERNELS, "additive"])
def test_stacked_predictions_equal_each_components_own(name, n, rng):
    data, new = observations(rng, n), points(rng, 5)
    kernel = {**KERNELS, **OTHERS}[name]
    parts = (
        LatentGP(kernel, 0.3, latents(rng, n), noise=0.01),
        LatentGP(kernel, 0.05, latents(rng, n, 2), noise=0.02, mean=0.3),
        LatentGP(kernel, 0.0, noise=0.01),
    )
    mixture = Mixture(tuple(part.condition(data) for part in parts), np.ones(3))
    assert Stack.of(mixture.components) is not None
    mean_bar, var_bar = rng.normal(size=(2, 3, 5))
    means, variances, pull = mixture.predict_each_with_pullback(new)
    np.testing.assert_allclose(mixture.predict_each(new)[0], means, rtol=1e-12)
    expected_bar = np.zeros_like(new)
    for i, part in enumerate(mixture.components):
        mean, var, own_pull = part.predict_with_pullback(new)
        np.testing.assert_allclose(means[i], mean, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(variances[i], var, rtol=1e-5, atol=1e-7)
        expected_bar += own_pull(mean_bar[i], var_bar[i])
    np.testing.assert_allclose(pull(mean_bar, var_bar), expected_bar, rtol=1e-4, atol=1e-4)


def test_latent_and_plain_posteriors_are_not_stacked(rng):
    data = observations(rng)
    plain = GP(KERNELS["matern"], noise=0.1).condition(data)
    latent = LatentGP(KERNELS["matern"], 0.1, latents(rng, 12), noise=0.1).condition(data)
    assert Stack.of((plain, latent)) is None
    assert Stack.of((latent, plain)) is None


@pytest.mark.parametrize("name", ["matern", "mixed"])
def test_paths_have_the_mean_and_covariance_at_latent_zero(name, rng):
    data, new = observations(rng, 6), points(rng, 3)
    posterior = LatentGP(KERNELS[name], 0.5, latents(rng, 6), noise=1e-2).condition(data)
    draws = np.stack([posterior.draw(rng, 128)(new) for _ in range(800)])
    mean, covariance = posterior.predict_joint(new)
    error = np.sqrt(np.diagonal(covariance) / len(draws))
    assert (np.abs(draws.mean(0) - mean) < 4 * error).all()
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.15 * covariance.max())


def test_a_paths_gradient_agrees_with_finite_differences(rng):
    model = LatentGP(KERNELS["matern"], 0.5, latents(rng, 6, 2), noise=1e-2)
    path = model.condition(observations(rng, 6)).draw(rng, 64)
    X = rng.random((4, 3))
    expected = central_differences(lambda x: float(path(x).sum()), X)
    np.testing.assert_allclose(path.gradient(X), expected, rtol=1e-5, atol=1e-6)


def test_kernels_without_a_path_say_so(rng):
    posterior = LatentGP(OTHERS["additive"], 0.5, latents(rng, 6), noise=1e-2).condition(
        observations(rng, 6)
    )
    with pytest.raises(ModelError, match="Additive"):
        posterior.draw(rng)


def test_latents_follow_their_observations_when_others_come_between(rng):
    data = observations(rng)
    surrogate = Inferred(
        LatentGP(Matern52(free(LogNormal(-1.0), size=3)), 0.1, noise=1e-6),
        Slice(chains=3, burn_in=2, sweeps=0),
    )
    first = surrogate.fit(data, rng)
    state = json.loads(json.dumps(first.state))
    order = np.array([5, 0, 1, 2, 3, 4, 11, 6, 7, 8, 9, 10])
    X, y = np.insert(data.X[order], 4, rng.random(3), axis=0), np.insert(data.y[order], 4, 0.3)
    later = surrogate.fit(Observations(X, y), rng, state)
    for before, after in zip(first.components, later.components, strict=True):
        kept = np.delete(after.latents, 4, axis=0)
        np.testing.assert_array_equal(kept, before.latents[order])
        assert after.latents[4] != 0


def test_replicates_keep_latents_of_their_own(rng):
    X = np.repeat(rng.random((3, 2)), 2, axis=0)
    data = Observations(X, rng.normal(size=6))
    surrogate = Inferred(
        LatentGP(Matern52(0.5), 0.1, noise=1e-3), Slice(chains=2, burn_in=1, sweeps=0)
    )
    first = surrogate.fit(data, rng)
    again = surrogate.fit(data, rng, first.state)
    for before, after in zip(first.components, again.components, strict=True):
        np.testing.assert_array_equal(before.latents, after.latents)
        assert len(np.unique(before.latents)) == 6


def test_many_observations_start_on_a_part_and_keep_its_latents(rng):
    data = observations(rng, 130)
    surrogate = Inferred(
        LatentGP(Matern52(0.5), 0.1, noise=1e-2), Slice(chains=2, burn_in=1, sweeps=1)
    )
    belief = surrogate.fit(data, rng)
    assert all(part.latents.shape == (130, 1) for part in belief.components)


@pytest.mark.slow
def test_sampled_latents_are_those_of_importance_sampling(rng):
    data = Observations([[0.1], [0.15], [0.2], [0.8]], [0.0, 2.0, 0.1, -0.5])
    model = LatentGP(Matern52(0.4), 0.3, noise=1e-2)
    target = ModelTarget(model, data)
    chain = slice_chain(target, rng, 6000, burn_in=50)
    draws = rng.standard_normal((60_000, 4))
    values = np.array([target.log_likelihood(draw) for draw in draws])
    weights = np.exp(values - values.max())
    for statistic in (np.abs, np.square):
        expected = weights @ statistic(draws) / weights.sum()
        np.testing.assert_allclose(statistic(chain).mean(0), expected, rtol=0.12)


def test_without_data_to_learn_from_latents_are_standard_normal(rng):
    data = Observations(rng.random((200, 2)), np.zeros(200))
    noisy = Observations(data.X, data.y, np.full(200, 1e8))
    belief = Inferred(LatentGP(Matern52(0.5), 1.0, noise=1.0), Slice(chains=4)).fit(noisy, rng)
    drawn = np.concatenate([part.latents[:, 0] for part in belief.components])
    assert stats.kstest(drawn, "norm").pvalue > 1e-3


def test_an_outlier_is_moved_off_farther_than_the_others_and_not_believed(rng):
    X = np.linspace(0, 1, 15)[:, None]
    y = np.sin(3 * X[:, 0])
    y[7] += 2.0
    model = LatentGP(Matern52(0.5), 0.3, noise=1e-4)
    belief = Inferred(model, Slice(chains=4, burn_in=60)).fit(Observations(X, y), rng)
    moves = np.mean([np.abs(part.latents[:, 0]) for part in belief.components], axis=0)
    assert moves.argmax() == 7
    assert abs(belief.moments(X[7:8])[0][0] - np.sin(1.5)) < 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Latent(()),
        lambda: Latent((0.1, 0.1)),
        lambda: Latent((-1.0,)),
        lambda: Latent(coordinates=0),
        lambda: Lottery({}),
        lambda: LatentGP(Matern52(0.5), -0.1),
        lambda: LatentGP(Matern52(0.5), 0.1, noise=-1.0),
    ],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ModelError, match="expected"):
        wrong()


def test_latents_must_be_as_many_as_observations(rng):
    with pytest.raises(ShapeError, match="latents"):
        LatentObservations.of(observations(rng), np.zeros((3, 1)))


def test_parameters_without_effect_do_not_switch_the_latents_off():
    """With four lengthscales far above the others, latents count nearly as without them."""
    alone, inert = Matern52([0.35, 0.35]), Matern52([0.35, 0.35, 20.0, 20.0, 20.0, 20.0])
    scales = [augmented(alone, 2, 1).scales(3)[-1], augmented(inert, 6, 1).scales(7)[-1]]
    np.testing.assert_allclose(scales[0], 0.35, rtol=1e-12)
    assert scales[1] < np.sqrt(3) * scales[0] * 1.001


@pytest.mark.parametrize("kind", [Latent(), Heteroscedastic()], ids=lambda kind: kind.label)
def test_more_observations_than_latents_can_follow_are_left_to_the_plain_process(kind, rng):
    space = oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1)})
    points = space.sample(rng, LATENT_ROWS + 1)
    values = [np.sin(20 * point["x"]) + point["y"] for point in points]

    def suggested(surrogate, n):
        method = oc.Method(surrogate=surrogate, inference=Slice(chains=1, burn_in=1))
        optimizer = oc.Optimizer(space, method=method, seed=3, noise=False, ask_seconds=None)
        optimizer.add(points[:n], values[:n])
        return optimizer.ask()

    assert suggested(kind, LATENT_ROWS).why["surrogate"] == kind.label
    many, plain = suggested(kind, LATENT_ROWS + 1), suggested(None, LATENT_ROWS + 1)
    assert many.why["surrogate"] == "GP"
    assert many.params == plain.params
