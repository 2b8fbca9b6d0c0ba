from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop.data import Observations
from outcrop.errors import ModelError, ShapeError
from outcrop.kernels import Matern52
from outcrop.surrogates import GP, Mixture


@pytest.fixture
def mixture(rng):
    data = Observations(rng.random((6, 2)), rng.normal(size=6))
    parts = tuple(GP(Matern52(scale), noise=0.01).condition(data) for scale in (0.2, 0.5, 1.0))
    return Mixture(parts, np.array([1.0, 2.0, 1.0]))


def test_weights_are_normalised(mixture):
    np.testing.assert_allclose(mixture.weights, [0.25, 0.5, 0.25])


def test_moments_equal_those_of_samples_from_the_mixture(mixture, rng):
    new = rng.random((3, 2))
    means, variances = mixture.predict_each(new)
    which = rng.choice(3, 200_000, p=mixture.weights)
    draws = rng.normal(means[which], np.sqrt(variances[which]))
    mean, var = mixture.moments(new)
    np.testing.assert_allclose(mean, draws.mean(0), atol=0.01)
    np.testing.assert_allclose(var, draws.var(0), rtol=0.02)


def test_a_single_component_is_itself(mixture, rng):
    new, part = rng.random((4, 2)), mixture.components[1]
    for ours, its in zip(Mixture.single(part).moments(new), part.predict(new), strict=True):
        np.testing.assert_allclose(ours, its, rtol=1e-12)


def test_each_component_can_believe_a_value_of_its_own(mixture, rng):
    new = rng.random((2, 2))
    own, _ = mixture.predict_each(new)
    grown = mixture.condition(new, own + 0.5)
    for k, part in enumerate(grown.components):
        expected = mixture.components[k].condition(new, own[k] + 0.5).predict(new)[0]
        np.testing.assert_allclose(part.predict(new)[0], expected)
    shared = mixture.condition(new, np.zeros(2))
    np.testing.assert_array_equal(shared.components[0].data.y[-2:], [0, 0])


@given(
    balance=st.floats(0, 1),
    offsets=st.lists(st.floats(-40, 0), min_size=3, max_size=3),
    weights=st.lists(st.floats(0.05, 1), min_size=3, max_size=3),
)
def test_balanced_members_count_by_a_power_of_their_largest_improvement(balance, offsets, weights):
    part = GP(Matern52(0.5), noise=0.01).condition(Observations([[0.2]], [0.1]))
    logs = np.array([[-3.0, -1.0, -2.0], [-1.0, -9.0, -2.0], [0.0, 0.0, -5.0]])
    logs += np.array(offsets)[:, None]
    mixture = Mixture((part,) * 3, np.array(weights), members=("a", "b", "c"), balance=balance)
    counts = mixture.balanced(logs).weights * np.exp(logs.max(1))
    expected = mixture.weights * np.exp((1 - balance) * logs.max(1))
    np.testing.assert_allclose(counts / counts.sum(), expected / expected.sum(), rtol=1e-9)


def test_components_of_one_member_are_balanced_as_one(mixture, rng):
    logs = rng.normal(size=(3, 20))
    twofold = replace(mixture, members=("gp", "warped", "warped"), balance=0.5)
    weights = twofold.balanced(logs).weights
    assert weights[1] / weights[2] == pytest.approx(2.0)  # as before
    most = [np.exp(logs[0]).max(), np.exp(logs[1:]).mean(0).max()]
    expected = 0.25 / np.sqrt(most[0]), 0.75 / np.sqrt(most[1])
    assert weights[0] / weights[1:].sum() == pytest.approx(expected[0] / expected[1])


def test_a_member_that_expects_nothing_does_not_silence_the_others(mixture):
    several = replace(mixture, members=("a", "b", "c"), balance=1.0)
    assert (several.balanced(np.array([[-1e6], [-2.0], [-1.0]])).weights > 1e-50).all()
    none = several.balanced(np.full((3, 1), -np.inf)).weights
    np.testing.assert_allclose(none, several.weights)


def test_a_mixture_of_one_kind_needs_no_balance(mixture, rng):
    assert mixture.balanced(rng.normal(size=(3, 4))) is mixture


def test_sample_paths_come_from_components_by_weight(mixture, rng):
    scales = [mixture.draw(rng, 4).kernel.lengthscales[0] for _ in range(800)]
    assert np.mean(np.isclose(scales, 0.5)) == pytest.approx(0.5, abs=0.08)


def test_wrong_weights_are_refused(mixture):
    with pytest.raises(ShapeError, match="one weight for each of 3"):
        Mixture(mixture.components, np.ones(2))
    with pytest.raises(ShapeError, match="at least one"):
        Mixture((), np.ones(0))
    with pytest.raises(ModelError, match="positive sum"):
        Mixture(mixture.components, np.zeros(3))
