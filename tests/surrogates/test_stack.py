import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.kernels import (
    RBF,
    Additive,
    Conditional,
    Matern12,
    Matern52,
    Offset,
    Overlap,
    RationalQuadratic,
    Scaled,
    SharedScale,
    Subspace,
)
from outcrop.surrogates import GP, Mixture
from outcrop.surrogates.stack import Stack

CONDITIONS = ((1, ((2, 0),), False),)

FAMILIES = {
    "matern": lambda a, b: Scaled(a, Matern52([b, 0.4, 0.9])),
    "offset": lambda a, b: Offset(a, Scaled(b, Matern52([b, 0.4, 0.9]))),
    "isotropic": lambda a, b: Matern52(a * b),
    "sum": lambda a, b: Scaled(a, RBF(b)) + Matern12([0.3, b, a]),
    "product": lambda a, b: RationalQuadratic(b, alpha=a) * Matern52(0.8),
    "shared-scale": lambda a, b: SharedScale(a, Matern52([b, 0.2, 0.7])),
    "additive": lambda a, b: Scaled(2.0, Additive(a / 3, Matern52([b, 0.2, 0.7]))),
    "mixed": lambda a, b: Scaled(
        a, Subspace((0, 1), Matern52([b, 0.5])) * Subspace((2,), Overlap(a))
    ),
    "conditional": lambda a, b: Conditional(
        CONDITIONS, Scaled(a, Subspace((0, 1), RBF([b, 0.5])) * Subspace((2,), Overlap([b])))
    ),
}


def mixture_of(family, rng, n):
    X = np.hstack([rng.random((n, 2)), rng.integers(0, 2, (n, 1))])
    data = Observations(X, rng.normal(size=n))
    return Mixture(
        tuple(
            GP(FAMILIES[family](a, b), noise=0.01, mean=a).condition(data)
            for a, b in ((0.7, 0.3), (1.2, 0.6), (2.1, 1.1))
        ),
        np.ones(3),
    )


@pytest.mark.parametrize("n", [1, 9, 320], ids=lambda n: f"n={n}")
@pytest.mark.parametrize("family", FAMILIES)
def test_stacked_predictions_equal_each_components_own(family, n, rng):
    mixture = mixture_of(family, rng, n)
    assert isinstance(Stack.of(mixture.components), Stack)
    new = np.hstack([rng.random((5, 2)), rng.integers(0, 2, (5, 1))])
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


@pytest.mark.parametrize("family", FAMILIES)
def test_predictions_by_solves_equal_each_components_own(family, rng):
    mixture = mixture_of(family, rng, 30)
    stack = Stack.of(mixture.components)
    new = np.hstack([rng.random((5, 2)), rng.integers(0, 2, (5, 1))])
    own = [part.predict(new) for part in mixture.components]
    for found, expected in zip(stack.predict_by_solves(new), zip(*own, strict=True), strict=True):
        np.testing.assert_allclose(found, np.stack(expected), rtol=1e-9, atol=1e-12)
    assert "inverse" not in vars(stack)


def test_posteriors_that_differ_in_more_than_numbers_are_not_stacked(rng):
    data = Observations(rng.random((4, 2)), rng.normal(size=4))
    one = GP(Matern52(0.5), noise=0.1).condition(data)
    other_kernel = GP(RBF(0.5), noise=0.1).condition(data)
    other_place = GP(Matern52(0.5), noise=0.1).condition(Observations(data.X + 0.1, data.y))
    other_columns = GP(Subspace((0,), Matern52(0.5)), noise=0.1).condition(data)
    more_columns = GP(Subspace((1,), Matern52(0.5)), noise=0.1).condition(data)
    for different in (other_kernel, other_place, other_columns):
        assert Stack.of((one, different)) is None
    assert Stack.of((other_columns, more_columns)) is None
    new = rng.random((3, 2))
    mixed = Mixture((one, other_place), np.ones(2))
    np.testing.assert_array_equal(mixed.predict_each(new)[0][1], other_place.predict(new)[0])
