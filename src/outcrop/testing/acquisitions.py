"""Checks that every acquisition must pass.

The acquisition is ready to be evaluated (`prepare` was called, or its fields are given) and works
with any number of components. `X` is `(m, d)`, m ≥ 3: points off the data, which are varied a
little.
"""

from __future__ import annotations

__all__ = ["ACQUISITION_CONTRACT"]

import numpy as np

from outcrop.acquisition.base import Acquisition, Belief
from outcrop.surrogates import Mixture, Posterior
from outcrop.testing.differences import central_differences
from outcrop.typing import Points


def values_and_gradients_are_finite(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    value, gradient = acquisition.with_gradient(posterior, X)
    assert value.shape == (len(X),)
    assert gradient.shape == X.shape
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


def value_with_gradient_is_the_value(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    value, _ = acquisition.with_gradient(posterior, X)
    np.testing.assert_allclose(value, acquisition(posterior, X), rtol=1e-9, atol=1e-12)


def gradient_agrees_with_finite_differences(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    value, gradient = acquisition.with_gradient(posterior, X)
    rounding = 1e-8 * np.abs(value).max()  # of a difference over the step 1e-6
    expected = central_differences(lambda x: float(acquisition(posterior, x).sum()), X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6 + rounding)


def values_do_not_depend_on_company(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    value, gradient = acquisition.with_gradient(posterior, X)
    for i in range(len(X)):
        alone, its_gradient = acquisition.with_gradient(posterior, X[i : i + 1])
        np.testing.assert_allclose(alone[0], value[i], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(its_gradient[0], gradient[i], rtol=1e-4, atol=1e-7)


def a_mixture_of_one_is_its_component(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    for part in _mixture(posterior, X).components:
        _assert_same_scores(acquisition, Mixture.single(part), part, X)


def a_component_given_twice_counts_once(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    mixture = _mixture(posterior, X)
    halves = np.concatenate([mixture.weights, mixture.weights]) / 2
    _assert_same_scores(acquisition, Mixture(mixture.components * 2, halves), mixture, X)


def a_component_without_weight_does_not_count(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    mixture = _mixture(posterior, X)
    first = Mixture(mixture.components, np.eye(len(mixture))[0])
    _assert_same_scores(acquisition, first, mixture.components[0], X)


def a_mixture_scores_the_mean_of_its_components(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    mixture = _mixture(posterior, X)
    each = np.stack([acquisition(part, X) for part in mixture.components])
    if acquisition.logarithmic:
        used = mixture.weights > 0
        expected = np.logaddexp.reduce(each[used] + np.log(mixture.weights[used])[:, None], axis=0)
    else:
        expected = mixture.weights @ each
    if acquisition.averages:
        np.testing.assert_allclose(acquisition(mixture, X), expected, rtol=1e-9, atol=1e-12)
    else:  # disagreement of components adds to the score
        assert (acquisition(mixture, X) >= expected - 1e-12).all()


def a_non_negative_acquisition_has_no_negative_value(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    if acquisition.non_negative:
        assert acquisition(_mixture(posterior, X), X).min() >= -1e-12


def preparing_changes_nothing_but_by_its_generator(
    acquisition: Acquisition, posterior: Posterior | Mixture, X: Points
) -> None:
    mixture = _mixture(posterior, X)
    before = acquisition(mixture, X)
    ready = [
        acquisition.prepare(mixture, 0.1, X, np.random.default_rng(4), step=2) for _ in range(2)
    ]
    np.testing.assert_array_equal(ready[0](mixture, X), ready[1](mixture, X))
    np.testing.assert_array_equal(acquisition(mixture, X), before)


ACQUISITION_CONTRACT = (
    values_and_gradients_are_finite,
    value_with_gradient_is_the_value,
    gradient_agrees_with_finite_differences,
    values_do_not_depend_on_company,
    a_mixture_of_one_is_its_component,
    a_component_given_twice_counts_once,
    a_component_without_weight_does_not_count,
    a_mixture_scores_the_mean_of_its_components,
    a_non_negative_acquisition_has_no_negative_value,
    preparing_changes_nothing_but_by_its_generator,
)


def _assert_same_scores(acquisition: Acquisition, one: Belief, other: Belief, X: Points) -> None:
    value, gradient = acquisition.with_gradient(one, X)
    expected, expected_gradient = acquisition.with_gradient(other, X)
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-7, atol=1e-10)


def _mixture(posterior: Posterior | Mixture, X: Points) -> Mixture:
    """The mixture itself, or one of a posterior and of the same after a surprising value."""
    if isinstance(posterior, Mixture):
        return posterior
    mean, var = posterior.predict(X[:1])
    surprised = posterior.condition(X[:1] + 0.1, mean - np.sqrt(var))
    return Mixture((posterior, surprised), np.array([0.3, 0.7]))
