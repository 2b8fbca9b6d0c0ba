"""Posteriors made of leaves, where leaves have no data or share nothing."""

import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.errors import ModelError, ShapeError
from outcrop.kernels import Matern52, Scaled, Within
from outcrop.surrogates import GP, BranchGP, Mixture
from outcrop.surrogates.division import Branches
from outcrop.surrogates.stack import LeafwiseStack

# Column 0 is a choice of three options; column 1 a number.
BRANCHES = tuple(((0, code),) for code in range(3))


def model(scale):
    leaves = tuple(
        Within(conditions, Scaled(scale, Matern52([1.0, 0.2 + 0.1 * i])))
        for i, conditions in enumerate(BRANCHES)
    )
    return BranchGP(None, leaves, noise=0.01, mean=0.4)


def data():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, 2, 12), rng.random(12)]).astype(float)
    return Observations(X, np.sin(5 * X[:, 1]) + X[:, 0])  # nothing in the third leaf


def points(n=9):
    rng = np.random.default_rng(4)
    return np.column_stack([np.arange(n) % 3, rng.random(n)]).astype(float)


def test_leaves_that_share_nothing_predict_as_processes_of_their_own():
    posterior, X = model(1.3).condition(data()), points()
    mean, var = posterior.predict(X)
    for code, leaf in enumerate(model(1.3).leaves):
        rows = X[:, 0] == code
        known = data().rows(np.flatnonzero(data().X[:, 0] == code))
        alone = GP(leaf.kernel, 0.01, 0.4)
        if len(known):
            expected = alone.condition(known).predict(X[rows])
        else:
            expected = np.full(rows.sum(), 0.4), leaf.kernel.diag(X[rows])
        np.testing.assert_allclose(mean[rows], expected[0], rtol=1e-10)
        np.testing.assert_allclose(var[rows], expected[1], rtol=1e-8)


def test_components_are_predicted_from_at_once_as_one_by_one_even_where_a_leaf_has_no_data():
    parts = tuple(model(scale).condition(data()) for scale in (0.7, 1.9))
    stack, X = LeafwiseStack.of(parts), points()
    assert stack is not None
    for each, part in zip(zip(*stack.predict(X), strict=True), parts, strict=True):
        np.testing.assert_allclose(each, part.predict(X), rtol=1e-8)
    means, _, pull = stack.predict_with_pullback(X)
    bars = np.random.default_rng(5).normal(size=(2, 2, len(X)))
    expected = sum(
        part.predict_with_pullback(X)[2](bars[0, i], bars[1, i]) for i, part in enumerate(parts)
    )
    np.testing.assert_allclose(pull(*bars), expected, rtol=1e-6, atol=1e-8)
    assert means.shape == (2, len(X))
    assert [type(group) for group in Mixture(parts, np.ones(2))._groups] == [LeafwiseStack]


def test_a_leaf_without_data_can_be_told_of_its_first_point():
    X, y = np.array([[2.0, 0.5]]), np.array([1.5])
    posterior = model(1.0).condition(data())
    grown, whole = posterior.condition(X, y), model(1.0).condition(data().append(X, y))
    for one, other in zip(grown.predict(points()), whole.predict(points()), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    assert grown.best_leaf() == whole.best_leaf()
    assert grown.incumbent() == pytest.approx(whole.incumbent())


def test_a_process_without_data_is_its_prior():
    kernel = Scaled(1.7, Matern52([0.3]))
    posterior = GP(kernel, 0.1, mean=-0.2).condition(Observations(np.zeros((0, 1)), np.zeros(0)))
    X = np.linspace(0, 1, 5)[:, None]
    mean, var, pull = posterior.predict_with_pullback(X)
    np.testing.assert_array_equal(mean, np.full(5, -0.2))
    np.testing.assert_allclose(var, 1.7)
    np.testing.assert_array_equal(pull(np.ones(5), np.ones(5)), np.zeros((5, 1)))
    np.testing.assert_allclose(posterior.predict_joint(X)[1], kernel.gram(X))


def test_a_point_outside_all_branches_or_of_another_shape_is_refused():
    division = Branches(BRANCHES, 2)
    with pytest.raises(ModelError, match="no leaf"):
        division.leaf_of(np.array([[3.0, 0.1]]))
    with pytest.raises(ShapeError, match="expected X"):
        division.leaf_of(np.zeros((2, 3)))


def test_levels_need_shared_effects():
    with pytest.raises(ModelError, match="no common level"):
        model(1.0).condition(data()).predict_levels(points())
