from dataclasses import dataclass

import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.kernels import (
    RBF,
    Additive,
    LocalGlobal,
    Matern52,
    Offset,
    Region,
    Scaled,
    Subspace,
    Sum,
    SumProduct,
    Warp,
)
from outcrop.params import Layout, Per, changed, free, member, stacked
from outcrop.priors import Beta, Gamma, HalfCauchy, LogNormal, Normal, Shifted, Uniform
from outcrop.surrogates import GP
from outcrop.surrogates.inferred import ModelTarget
from outcrop.testing import central_differences

DATA = Observations(
    np.random.default_rng(0).random((7, 3)), np.random.default_rng(1).normal(size=7)
)
PARTS = (
    Scaled(free(Gamma(2, 1)), Matern52(free(LogNormal(growth=0.5), size=Per.DIMENSION))),
    Additive(free(Beta(2, 2)), Matern52(free(Uniform(0.1, 2.0), size=3))),
)
MODEL = GP(
    kernel=Sum(PARTS),
    noise=free(Shifted(HalfCauchy(0.1), 1e-6)),
    mean=free(Normal()),
)


def test_slots_are_named_by_their_place_in_the_model():
    layout = Layout.of(MODEL, DATA)
    assert layout.names == (
        "kernel.kernels.0.variance",
        "kernel.kernels.0.kernel.lengthscales",
        "kernel.kernels.1.interaction",
        "kernel.kernels.1.kernel.lengthscales",
        "noise",
        "mean",
    )
    assert layout.dim == 1 + 3 + 1 + 3 + 1 + 1


def test_binding_puts_the_numbers_in_place(rng):
    layout = Layout.of(MODEL, DATA)
    values = {
        "kernel.kernels.0.variance": 1.5,
        "kernel.kernels.0.kernel.lengthscales": [0.2, 0.3, 0.4],
        "kernel.kernels.1.interaction": 0.25,
        "kernel.kernels.1.kernel.lengthscales": [0.5, 0.6, 0.7],
        "noise": 0.01,
        "mean": -0.3,
    }
    model = layout.bind(layout.unconstrained(values))
    assert model.noise == pytest.approx(0.01)
    assert model.mean == -0.3
    assert model.kernel.kernels[0].variance == pytest.approx(1.5)
    np.testing.assert_allclose(model.kernel.kernels[1].kernel.lengthscales, [0.5, 0.6, 0.7])
    written = GP(
        Sum(
            (
                Scaled(1.5, Matern52([0.2, 0.3, 0.4])),
                Additive(0.25, Matern52([0.5, 0.6, 0.7])),
            )
        ),
        noise=0.01,
        mean=-0.3,
    )
    assert model.log_likelihood(DATA) == pytest.approx(written.log_likelihood(DATA), rel=1e-12)


def test_target_gradients_agree_with_finite_differences(rng):
    target = ModelTarget(MODEL, DATA)
    for theta in target.sample_prior(rng, 5):
        theta = np.clip(theta, -3, 3)
        for value, with_gradient in (
            (target.log_prior, target.log_prior_with_gradient),
            (target.log_likelihood, target.log_likelihood_with_gradient),
            (None, target.log_jacobian_with_gradient),
        ):
            got, gradient = with_gradient(theta)
            expected = central_differences(lambda t, f=with_gradient: f(t)[0], theta, 1e-5)
            np.testing.assert_allclose(gradient, expected, rtol=2e-5, atol=2e-6)
            if value is not None:
                assert value(theta) == pytest.approx(got, rel=1e-12)


def test_chain_states_travel_by_name_and_new_slots_are_nan():
    small = GP(Matern52(free(LogNormal(), size=Per.DIMENSION)), noise=free(LogNormal()))
    large = GP(
        Scaled(free(LogNormal()), Matern52(free(LogNormal(), size=Per.DIMENSION))),
        noise=free(LogNormal()),
    )
    parts = Layout.of(small, DATA).split(np.array([1.0, 2.0, 3.0, 4.0]))
    assert parts == {"kernel.lengthscales": [1.0, 2.0, 3.0], "noise": [4.0]}
    np.testing.assert_array_equal(Layout.of(small, DATA).join(parts), [1, 2, 3, 4])
    np.testing.assert_array_equal(Layout.of(large, DATA).join(parts), [np.nan] * 4 + [4.0])


@dataclass(frozen=True)
class Latent:
    shifts: object


def test_a_slot_may_grow_with_the_data():
    model = Latent(free(Normal(), size=Per.OBSERVATION))
    layout = Layout.of(model, DATA)
    assert layout.dim == 7
    assert layout.gaussian.all()
    grown = Layout.of(model, DATA.append(np.zeros((1, 3)), np.zeros(1)))
    np.testing.assert_array_equal(grown.join(layout.split(np.arange(7.0))), [*range(7), np.nan])


def test_only_standard_normals_per_observation_are_latents():
    assert not Layout.of(MODEL, DATA).gaussian.any()
    assert not Layout.of(Latent(free(Normal(0, 2), size=Per.OBSERVATION)), DATA).gaussian.any()


def test_a_model_without_free_slots_is_bound_to_itself():
    model = GP(Matern52(0.5))
    layout = Layout.of(model, DATA)
    assert layout.dim == 0
    assert layout.bind(np.zeros(0)) is model


def test_prior_samples_have_the_priors_moments(rng):
    layout = Layout.of(
        GP(Matern52(free(LogNormal(0.3, 0.5), size=2)), mean=free(Normal(2, 3))), DATA
    )
    theta = layout.sample_prior(rng, 4000)
    np.testing.assert_allclose(theta.mean(0), [0.3, 0.3, 2.0], atol=0.2)
    np.testing.assert_allclose(theta.std(0), [0.5, 0.5, 3.0], rtol=0.1)


def test_members_of_a_stack_are_what_it_was_made_of():
    parts = [Sum((Scaled(v, Matern52([v, 0.3])), Additive(v / 4, Matern52(v)))) for v in (0.5, 1.5)]
    stack = stacked(parts)
    X = np.array([[0.1, 0.2], [0.6, 0.9]])
    for i, part in enumerate(parts):
        np.testing.assert_array_equal(member(stack, i).gram(X), part.gram(X))


def test_changing_nothing_gives_the_same_object():
    inner = Matern52(0.4)
    kernel, both = Scaled(2.0, inner), Sum((inner, inner))
    assert changed(kernel, kernel=inner) is kernel
    assert changed(both, kernels=(inner, inner)) is both
    other = changed(kernel, kernel=Matern52(0.7))
    assert (other.variance, other.kernel.lengthscales[0], kernel.kernel) == (2.0, 0.7, inner)


def test_free_wants_a_prior_and_a_positive_size():
    with pytest.raises(ModelError, match="expected a prior"):
        free(1.0)
    with pytest.raises(ModelError, match="size=0"):
        free(Normal(), size=0)


def test_binding_makes_only_what_changed_anew(rng):
    layout = Layout.of(MODEL, DATA)
    theta = layout.sample_prior(rng, 1)[0]
    before = layout.bind(theta)
    assert layout.bind(theta.copy()) is before
    theta[0] += 0.5  # the variance of the first part of the sum
    after = layout.bind(theta)
    (scaled, additive), (scaled_before, additive_before) = (
        after.kernel.kernels,
        before.kernel.kernels,
    )
    assert scaled.variance != scaled_before.variance
    assert scaled.kernel is scaled_before.kernel
    assert additive is additive_before


def test_overwriting_theta_does_not_change_a_bound_model():
    @dataclass(frozen=True)
    class Line:
        slopes: np.ndarray

    layout = Layout.of(Line(free(Normal(), size=2)), DATA)
    theta = np.array([1.0, 2.0])
    bound = layout.bind(theta)
    theta[:] = 0.0
    np.testing.assert_array_equal(bound.slopes, [1.0, 2.0])
    np.testing.assert_array_equal(layout.bind(theta).slopes, [0.0, 0.0])


@pytest.mark.parametrize(
    "kernel",
    [
        MODEL.kernel,
        PARTS[0] * Scaled(free(Gamma(2, 1)), Matern52(free(LogNormal(), size=1))),
        Sum((Matern52(free(LogNormal(), size=3)),)),
        Offset(free(Gamma(2, 1)), MODEL.kernel),
        SumProduct(
            free(Uniform(0.0, 1.0)),
            (
                Subspace((0, 1), Matern52(free(LogNormal(), size=2))),
                Subspace((2,), RBF(free(LogNormal(), size=1))),
            ),
        ),
        Scaled(
            free(Gamma(2, 1)),
            Warp(
                free(LogNormal(), size=3),
                free(LogNormal(), size=3),
                Matern52(free(LogNormal(), size=3)),
            ),
        ),
        LocalGlobal(
            (
                Region(
                    free(Uniform(0.0, 1.0), size=3),
                    free(LogNormal(-1.0, 0.5)),
                    Matern52(free(LogNormal(), size=3)),
                ),
                Region(np.full(3, 0.2), 0.3, Scaled(free(Gamma(2, 1)), Matern52(np.ones(3)))),
            ),
            Matern52(free(LogNormal(), size=3)),
        ),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_densities_along_a_walk_are_those_of_a_model_made_anew(kernel, rng):
    """One number changes at a time, as in a sweep, or none at all."""
    model = GP(kernel, noise=free(Shifted(HalfCauchy(0.1), 1e-6)))
    walked = ModelTarget(model, DATA)
    theta = walked.sample_prior(rng, 1)[0]
    for _ in range(60):
        theta[rng.integers(len(theta))] += rng.choice([0.0, 0.3]) * rng.normal()
        anew = ModelTarget(model, Observations(DATA.X, DATA.y))
        expected = anew.log_likelihood(theta)
        assert walked.log_likelihood(theta) == pytest.approx(expected, rel=1e-13)
        assert walked.log_prior(theta) == anew.log_prior(theta)
