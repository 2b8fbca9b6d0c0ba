"""Kernels of conditional spaces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.baselines import ArcEmbedding, CommonNodeSum
from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.kernels import (
    BranchFeatures,
    Fourier,
    Level,
    Linear,
    Matern52,
    Overlap,
    Product,
    Scaled,
    Subspace,
    Sum,
    Within,
)
from outcrop.testing import KERNEL_CONTRACT

# Columns: a choice of two, then of three where it holds 0; a category; three numbers.
RNG = np.random.default_rng(21)
X = np.hstack(
    [
        RNG.integers(0, 2, (12, 1)),
        RNG.integers(0, 3, (12, 1)),
        RNG.integers(0, 2, (12, 1)),
        RNG.random((12, 3)),
    ]
).astype(float)
LEFT, RIGHT = ((0, 0),), ((0, 1),)
INNER = Product((Subspace((3, 5), Matern52([0.4, 0.7])), Subspace((2,), Overlap([0.8]))))
NODES = (
    ((), (3,), 0),
    (LEFT, (3, 4, 2), 1),
    (RIGHT, (3, 5), 1),
    (((0, 0), (1, 2)), (3, 4, 5, 2), 2),
    (((0, 1), (1, 1)), (), 2),
)
COMMON = CommonNodeSum(
    NODES, (3, 4, 5), (2,), np.array([1.2, 0.6, 0.3]), np.array([0.3, 0.5, 0.7]), np.array([0.9])
)
SHARED = (((), (3,), ((2, 2),)), (LEFT, (4, 5), ()), (RIGHT, (), ()))
SELDOM = ((), LEFT, ((0, 0), (1, 2)))

EVERY_KERNEL = {
    "within": (Sum((Within(LEFT, INNER), Subspace((3,), Matern52([0.6])))), X),
    "within-nothing": (Sum((Within(((0, 7),), INNER), Subspace((3,), Matern52([0.6])))), X),
    "common-nodes": (COMMON, X),
    "features-level": (Scaled(0.7, BranchFeatures(SHARED, Level())), X),
    "features-linear": (BranchFeatures(SHARED, Linear()), X),
    "features-fourier": (BranchFeatures(SHARED, Fourier(6, seed=1)), X),
    "arc": (
        ArcEmbedding(
            (3, 4, 5),
            SELDOM,
            np.array([1.0, 1.3, 0.6]),
            np.array([0.5, 0.8, 0.4]),
            Matern52([1.0]),
        ),
        X,
    ),
}


@pytest.mark.parametrize("check", KERNEL_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", EVERY_KERNEL)
def test_kernel_keeps_the_contract(name, check):
    check(*EVERY_KERNEL[name])


@pytest.mark.parametrize("name", EVERY_KERNEL)
def test_each_pair_once_has_the_covariances_of_all_pairs(name):
    kernel, points = EVERY_KERNEL[name]
    triangle = Observations(points, np.zeros(len(points))).triangle
    rows, columns = triangle.ends
    np.testing.assert_allclose(
        kernel.on(triangle)[0], kernel.gram(points)[rows, columns], rtol=1e-12, atol=1e-14
    )


def test_common_nodes_are_added_up_pair_by_pair():
    for i, j in [(0, 1), (2, 7), (4, 4), (3, 9), (5, 11)]:
        total = 0.0
        for conditions, columns, level in NODES:
            if all(x[column] == code for x in X[[i, j]] for column, code in conditions):
                term = COMMON.variances[level]
                numbers = [c for c in columns if c != 2]
                if numbers:
                    scale = COMMON.lengthscales[[c - 3 for c in numbers]]
                    r = np.sqrt((((X[i, numbers] - X[j, numbers]) / scale) ** 2).sum())
                    term *= (1 + 5**0.5 * r + 5 / 3 * r**2) * np.exp(-(5**0.5) * r)
                if 2 in columns:
                    term *= np.exp(-float(X[i, 2] != X[j, 2]) / 0.9)
                total += term
        assert COMMON(X[i : i + 1], X[j : j + 1])[0, 0] == pytest.approx(total, rel=1e-12)


def test_levels_alone_count_the_nodes_in_common():
    K = BranchFeatures(SHARED, Level()).gram(X)
    same = X[:, None, 0] == X[None, :, 0]
    np.testing.assert_array_equal(K, 1.0 + same)


@given(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.booleans())
@settings(max_examples=50, deadline=None)
def test_distances_of_the_arc_kernel_are_those_of_the_source(x, y, has_x, has_y):
    omega, rho = 0.7, 0.6
    kernel = ArcEmbedding((1,), (((0, 1),),), [omega], [rho], Matern52([1.0]))
    points = np.array([[float(has_x), x], [float(has_y), y]])
    W = kernel.image(points)
    away = ((W[0] - W[1]) ** 2).sum()
    if has_x and has_y:
        expected = 2 * omega**2 * (1 - np.cos(np.pi * rho * (x - y)))
    else:
        expected = omega**2 if has_x or has_y else 0.0
    assert away == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", EVERY_KERNEL)
def test_where_a_node_is_not_its_parameters_count_for_nothing(name):
    kernel, _ = EVERY_KERNEL[name]
    right = X[X[:, 0] == 1]
    moved = right.copy()
    moved[:, 4] = 0.123  # is chosen on the left only
    np.testing.assert_array_equal(kernel.gram(right), kernel.gram(moved))


def test_parts_that_make_no_sense_are_refused():
    with pytest.raises(ModelError, match="at least one node"):
        CommonNodeSum((), (), (), np.ones(1), None, None)
    with pytest.raises(ModelError, match="one for each of 2 columns"):
        ArcEmbedding((0, 1), ((), ()), [1.0], [0.5, 0.5], Matern52([1.0]))
    with pytest.raises(ModelError, match="one entry for each of 1 columns"):
        ArcEmbedding((0,), ((), ()), [1.0], [0.5], Matern52([1.0]))
    with pytest.raises(ModelError, match="Fourier"):
        Fourier(0)
