"""Checks that every posterior must pass. `X` is `(m, d)`: new points to predict at."""

from __future__ import annotations

__all__ = ["POSTERIOR_CONTRACT"]

import numpy as np

from outcrop.surrogates.base import DrawsFunctions, Posterior
from outcrop.testing.differences import central_differences
from outcrop.typing import Points


def predictions_are_finite_with_positive_variance(posterior: Posterior, X: Points) -> None:
    mean, var = posterior.predict(X)
    assert mean.shape == var.shape == (len(X),)
    assert np.isfinite(mean).all()
    assert (var > 0).all()


def predictions_do_not_depend_on_company(posterior: Posterior, X: Points) -> None:
    mean, var = posterior.predict(X)
    alone = [posterior.predict(X[i : i + 1]) for i in range(len(X))]
    np.testing.assert_allclose(mean, [m[0] for m, _ in alone], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(var, [v[0] for _, v in alone], rtol=1e-5, atol=1e-9)


def pullback_agrees_with_finite_differences(posterior: Posterior, X: Points) -> None:
    rng = np.random.default_rng(2)
    mean_bar, var_bar = rng.normal(size=(2, len(X)))

    def loss(x: Points) -> float:
        mean, var = posterior.predict(x)
        return float(mean_bar @ mean + var_bar @ var)

    mean, var, pull = posterior.predict_with_pullback(X)
    np.testing.assert_allclose(mean, posterior.predict(X)[0], rtol=1e-12)
    np.testing.assert_allclose(var, posterior.predict(X)[1], rtol=1e-9)
    expected = central_differences(loss, X)
    np.testing.assert_allclose(pull(mean_bar, var_bar), expected, rtol=1e-4, atol=1e-5)


def condition_leaves_the_original_untouched(posterior: Posterior, X: Points) -> None:
    before = posterior.predict(X)
    posterior.condition(X[:2], np.array([3.0, -2.0]))
    after = posterior.predict(X)
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_array_equal(before[1], after[1])


def condition_order_does_not_matter(posterior: Posterior, X: Points) -> None:
    y = np.array([0.7, -0.4, 0.1])
    at_once = posterior.condition(X[:3], y).predict(X)
    one_by_one = posterior
    for i in (2, 0, 1):
        one_by_one = one_by_one.condition(X[i : i + 1], y[i : i + 1])
    in_turn = one_by_one.predict(X)
    np.testing.assert_allclose(at_once[0], in_turn[0], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(at_once[1], in_turn[1], rtol=1e-5, atol=1e-8)


def believing_a_value_lowers_the_variance_there(posterior: Posterior, X: Points) -> None:
    mean, before = posterior.predict(X)
    _, after = posterior.condition(X[:1], mean[:1]).predict(X)
    assert after[0] <= before[0] * (1 + 1e-9)


def joint_predictions_contain_the_single_ones(posterior: Posterior, X: Points) -> None:
    if isinstance(posterior, DrawsFunctions):
        mean, var = posterior.predict(X)
        joint_mean, covariance = posterior.predict_joint(X)
        np.testing.assert_allclose(joint_mean, mean, rtol=1e-9)
        np.testing.assert_allclose(np.diagonal(covariance), var, rtol=1e-6, atol=1e-10)


POSTERIOR_CONTRACT = (
    predictions_are_finite_with_positive_variance,
    predictions_do_not_depend_on_company,
    pullback_agrees_with_finite_differences,
    condition_leaves_the_original_untouched,
    condition_order_does_not_matter,
    believing_a_value_lowers_the_variance_there,
    joint_predictions_contain_the_single_ones,
)
