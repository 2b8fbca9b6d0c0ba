"""Sobol indices against closed forms and identities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.study.importance_estimate import two_samples
from outcrop.variance_shares import shares_of, sharing_points
from tests.known_shares import G_FUNCTION, ISHIGAMI, LINEAR


def shares(function, d, n=1024, seed=0):
    """The shares of one function of the unit cube."""
    sets = sharing_points(*two_samples(np.random.default_rng(seed), n, d))
    found = shares_of(function(sets.reshape(-1, d)).reshape(1, len(sets), n))
    return found.first[0], found.total[0], found.pairs[0], found.variance[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("known", [ISHIGAMI, G_FUNCTION, LINEAR], ids=lambda known: known.name)
def test_shares_are_those_of_the_closed_form(known, seed):
    first, total, pairs, variance = shares(known.on_cube, known.d, seed=seed)
    np.testing.assert_allclose(first, known.first, atol=0.02)
    np.testing.assert_allclose(total, known.total, atol=0.02)
    np.testing.assert_allclose(pairs, known.pairs, atol=0.02)
    assert variance == pytest.approx(known.variance, rel=0.02)


def test_a_category_has_the_share_of_its_levels():
    """f = c(level) + x: the variance of three equally likely levels and that of x add up."""
    levels = np.array([0.0, 1.0, 5.0])

    def function(U):
        return levels[np.minimum((3 * U[:, 0]).astype(int), 2)] + U[:, 1]

    first, total, _, variance = shares(function, 2)
    parts = np.array([levels.var(), 1 / 12])
    np.testing.assert_allclose(first, parts / parts.sum(), atol=0.005)
    np.testing.assert_allclose(total, parts / parts.sum(), atol=0.005)
    assert variance == pytest.approx(parts.sum(), rel=0.01)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 40))
@settings(max_examples=40, deadline=None)
def test_on_any_points_no_input_has_more_alone_than_in_all_and_one_without_effect_has_nothing(
    seed, d, n
):
    rng = np.random.default_rng(seed)
    A, B, waves = rng.random((n, d + 1)), rng.random((n, d + 1)), rng.normal(size=(d, 5))
    sets = sharing_points(A, B)
    values = np.sin(3 * sets[..., :d] @ waves).prod(-1)  # the last input has no effect
    first, total, pairs, _ = (each[0] for each in shares_of(values[None]))
    assert (first <= total + 1e-12).all()
    assert first[d] == total[d] == 0
    assert (pairs[d] == 0).all()
    np.testing.assert_array_equal(pairs, pairs.T)
    assert (np.diagonal(pairs) == 0).all()


@given(st.integers(0, 2**32 - 1), st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
@settings(max_examples=40, deadline=None)
def test_of_an_additive_function_both_shares_are_equal_and_units_do_not_matter(seed, shift, unit):
    rng = np.random.default_rng(seed)
    sets = sharing_points(rng.random((30, 3)), rng.random((30, 3)))
    values = np.exp(sets[..., 0]) + sets[..., 1] ** 3 + np.abs(sets[..., 2] - 0.4)
    found, same = shares_of(values[None]), shares_of((unit * values + unit * shift)[None])
    np.testing.assert_allclose(found.first, found.total, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(same.total, found.total, rtol=1e-6)


def test_a_constant_function_has_no_shares():
    found = shares_of(np.full((2, 6, 10), 0.1))
    assert not any(each.any() for each in found)
    assert all(np.isfinite(each).all() for each in found)


def test_several_functions_are_estimated_as_each_is(rng):
    values = rng.normal(size=(3, 8, 20))
    together = shares_of(values)
    for k in range(3):
        for all_of, alone in zip(together, shares_of(values[k : k + 1]), strict=True):
            np.testing.assert_allclose(all_of[k], alone[0], rtol=1e-12)
