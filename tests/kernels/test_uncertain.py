"""Kernels of uncertain points: the expected RBF kernel, and its second-order expansion."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.data import Observations, Pairs
from outcrop.errors import ModelError
from outcrop.kernels import (
    RBF,
    Additive,
    Conditional,
    Constant,
    ExpectedRBF,
    LocalGlobal,
    Matches,
    Matern52,
    Offset,
    Overlap,
    Region,
    Scaled,
    Subspace,
    SumProduct,
    TaylorRBF,
    Warp,
    Within,
)
from outcrop.kernels.uncertain import UncertainPairs, matrices
from outcrop.linalg import packed_indices
from outcrop.params import stacked
from outcrop.testing import KERNEL_CONTRACT, central_differences

SCALES = np.array([0.4, 0.7])
BOX = np.random.default_rng(11).random((8, 2))
FULL = np.array([[0.02, 0.006], [0.006, 0.01]])
KERNELS = {
    "expected": ExpectedRBF(SCALES),
    "expected-isotropic": ExpectedRBF([0.5]),
    "taylor": TaylorRBF(SCALES),
    "taylor-isotropic": TaylorRBF([0.5]),
}


def covariances(kind, n, rng):
    if kind == "exact":
        return None
    if kind == "shared":
        return np.array([[0.02, 0.03]])
    if kind == "rows":
        return rng.random((n, 2)) * 0.03
    return FULL * rng.uniform(0.5, 1.5, (n, 1, 1))


COMBINATIONS = [("shared", "shared"), ("exact", "shared"), ("rows", "shared"), ("exact", "full")]
COMBINATIONS += [("full", "full"), ("shared", "full"), ("rows", "rows")]


@pytest.mark.parametrize("check", KERNEL_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [*KERNELS, "learnt"])
def test_kernel_keeps_the_contract(name, check):
    check({**KERNELS, "learnt": ExpectedRBF(SCALES, spread=[0.1, 0.2])}[name], BOX)


def pairs_of(one, two, rng, X1=BOX[:3], X2=BOX[2:7]):
    cov1, cov2 = covariances(one, len(X1), rng), covariances(two, len(X2), rng)
    return UncertainPairs.of(Pairs(X1, X2), cov1, cov2)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("one", "two"), COMBINATIONS)
def test_gradients_agree_with_finite_differences(name, one, two, rng):
    kernel, pairs = KERNELS[name], pairs_of(one, two, rng)
    K, pull = kernel.on(pairs)
    K_bar = rng.normal(size=K.shape)
    kernel_bar, X1_bar, X2_bar = pull(K_bar)

    def loss(X1=pairs.X1, X2=pairs.X2, own=kernel):
        moved = UncertainPairs.of(Pairs(X1, X2), pairs.cov1, pairs.cov2)
        return float((K_bar * own.on(moved)[0]).sum())

    expected = central_differences(lambda x: loss(own=type(kernel)(x)), kernel.lengthscales)
    np.testing.assert_allclose(kernel_bar.lengthscales, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(X1_bar, central_differences(loss, pairs.X1), rtol=1e-6, atol=1e-7)
    expected = central_differences(lambda x: loss(X2=x), pairs.X2)
    np.testing.assert_allclose(X2_bar, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("spread", [[0.1, 0.2], [0.15]])
@pytest.mark.parametrize("same", [True, False])
def test_gradients_in_a_learnt_spread_agree_with_finite_differences(spread, same, rng):
    data = Observations(BOX, np.zeros(8))
    pairs = UncertainPairs.of(data.pairs, None, None, ends=2, same=same)
    kernel = ExpectedRBF(SCALES, spread)
    K, pull = kernel.on(pairs)
    K_bar = rng.normal(size=K.shape)

    def loss(value):
        return float((K_bar * ExpectedRBF(SCALES, value).on(pairs)[0]).sum())

    expected = central_differences(loss, kernel.spread)
    np.testing.assert_allclose(pull.parameters(K_bar).spread, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("one", "two"), COMBINATIONS)
def test_the_expected_kernel_is_the_integral_of_the_kernel(one, two, rng):
    pairs = pairs_of(one, two, rng)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    grid = np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2)
    share = np.outer(weights, weights).reshape(-1) / weights.sum() ** 2
    found = ExpectedRBF(SCALES).on(pairs)[0]
    zero = np.zeros((1, 2, 2))
    S1, S2 = (zero if cov is None else matrices(cov) for cov in (pairs.cov1, pairs.cov2))
    for i, x in enumerate(pairs.X1):
        for j, other in enumerate(pairs.X2):
            total = S1[i % len(S1)] + S2[j % len(S2)]
            apart = x - other + grid @ np.linalg.cholesky(total).T
            value = share @ np.exp(-0.5 * (apart**2 / SCALES**2).sum(1))
            assert found[i, j] == pytest.approx(value, rel=1e-9)


def test_the_expected_kernel_is_the_mean_over_draws_of_both_points(rng):
    pairs = pairs_of("full", "rows", rng, BOX[:1], BOX[1:2])
    one = BOX[0] + rng.standard_normal((400_000, 2)) @ np.linalg.cholesky(pairs.cov1[0]).T
    two = BOX[1] + rng.standard_normal((400_000, 2)) * np.sqrt(pairs.cov2[0])
    values = np.exp(-0.5 * ((one - two) ** 2 / SCALES**2).sum(1))
    error = values.std() / np.sqrt(len(values))
    assert abs(ExpectedRBF(SCALES).on(pairs)[0][0, 0] - values.mean()) < 4 * error


def test_an_observation_is_one_draw_but_two_at_the_same_place_are_two(rng):
    X = np.vstack([BOX[:1], BOX[:1]])
    for cov in (np.array([[0.02, 0.03]]), np.array([[0.02, 0.03], [0.02, 0.03]])):
        K = ExpectedRBF(SCALES).on(UncertainPairs.of(Pairs(X, X), cov, cov, same=True))[0]
        np.testing.assert_array_equal(K.diagonal(), 1.0)
        denominator = np.sqrt(np.prod(1 + 2 * cov[0] / SCALES**2))
        assert K[0, 1] == pytest.approx(1 / denominator, rel=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("same", [True, False])
def test_shared_variances_are_a_case_of_matrices_for_each(name, same):
    cov = np.array([[0.02, 0.03]])
    visible = Observations(BOX, np.zeros(8)).pairs
    fast = KERNELS[name].on(UncertainPairs.of(visible, cov, cov, same=same))[0]
    full = matrices(np.repeat(cov, 8, axis=0))
    slow = KERNELS[name].on(UncertainPairs.of(visible, full, full, same=same))[0]
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_packed_covariances_are_those_of_the_matrix(name):
    data, cov = Observations(BOX, np.zeros(8)), np.array([[0.02, 0.03]])
    packed = KERNELS[name].on(UncertainPairs.of(data.triangle, cov, cov, same=True))[0]
    whole = KERNELS[name].on(UncertainPairs.of(data.pairs, cov, cov, same=True))[0]
    rows, columns, _ = packed_indices(8)
    np.testing.assert_allclose(packed, whole[rows, columns], rtol=1e-12)


@pytest.mark.parametrize(("one", "two"), [("exact", "shared"), ("exact", "full")])
@pytest.mark.parametrize("kind", [ExpectedRBF, TaylorRBF])
def test_stacked_kernels_are_evaluated_as_one_by_one(kind, one, two, rng):
    kernels = [kind(SCALES), kind(2 * SCALES), kind(SCALES + 0.1)]
    pairs = pairs_of(one, two, rng)
    K, pull = stacked(kernels).on(pairs)
    K_bar = rng.normal(size=K.shape)
    alone = [kernel.on(pairs) for kernel in kernels]
    np.testing.assert_allclose(K, [own for own, _ in alone], rtol=1e-12)
    expected = sum(own.inputs(bar)[0] for (_, own), bar in zip(alone, K_bar, strict=True))
    np.testing.assert_allclose(pull.inputs(K_bar)[0], expected, rtol=1e-10)


def rbf_in_high_precision(scales):
    def k(*coordinates):
        half = len(coordinates) // 2
        pairs = zip(coordinates[:half], coordinates[half:], scales, strict=True)
        return mp.exp(-sum((a - b) ** 2 / mp.mpf(ell) ** 2 for a, b, ell in pairs) / 2)

    return k


@pytest.mark.parametrize(
    ("one", "two"), [("exact", "shared"), ("shared", "shared"), ("full", "full")]
)
def test_the_taylor_kernel_is_the_operator_applied_by_differences_in_high_precision(one, two, rng):
    pairs = pairs_of(one, two, rng, BOX[:1], BOX[1:2])
    found = TaylorRBF(SCALES).on(pairs)[0][0, 0]
    zero = np.zeros((1, 2, 2))
    S1, S2 = (zero if cov is None else matrices(cov) for cov in (pairs.cov1, pairs.cov2))
    with mp.workdps(40):
        point = [mp.mpf(float(x)) for x in (*BOX[0], *BOX[1])]
        k = rbf_in_high_precision(SCALES)

        def derivative(*axes):
            return mp.diff(k, point, tuple(axes.count(i) for i in range(4)))

        value = k(*point)
        for i in range(2):
            for j in range(2):
                value += (
                    S1[0, i, j] * derivative(i, j) + S2[0, i, j] * derivative(i + 2, j + 2)
                ) / 2
                for p in range(2):
                    for q in range(2):
                        share = S1[0, i, j] * S2[0, p, q] / 4
                        value += share * derivative(i, j, p + 2, q + 2) if share else 0
        assert found == pytest.approx(float(value), rel=1e-12)


@given(seed=st.integers(0, 10_000), scale=st.floats(1e-3, 3.0))
@settings(max_examples=60, deadline=None)
def test_gram_matrices_of_uncertain_points_have_no_negative_eigenvalue(seed, scale):
    rng = np.random.default_rng(seed)
    X = rng.random((7, 2))
    roots = rng.normal(size=(7, 2, 2)) * scale * 0.2
    cov = roots @ np.swapaxes(roots, 1, 2)
    for kernel in KERNELS.values():
        for same in (True, False):
            K = kernel.on(UncertainPairs.of(Pairs(X, X), cov, cov, same=same))[0]
            np.testing.assert_allclose(K, K.T, rtol=1e-9, atol=1e-12)
            assert np.linalg.eigvalsh(K).min() >= -1e-9 * np.trace(K)


def test_for_little_noise_the_taylor_kernel_is_the_expected_one(rng):
    errors = []
    for std in (0.02, 0.01):
        cov = np.full((1, 2), std**2)
        pairs = UncertainPairs.of(Pairs(BOX[:3], BOX[3:]), cov, cov)
        errors.append(
            np.abs(TaylorRBF(SCALES).on(pairs)[0] - ExpectedRBF(SCALES).on(pairs)[0]).max()
        )
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.1)  # fourth order in the deviation


def test_categories_and_conditions_are_seen_through(rng):
    X = np.hstack([rng.random((5, 2)), rng.integers(0, 2, (5, 1))])
    cov = np.array([[0.02, 0.0, 0.0]])
    inner = Subspace((0, 1), ExpectedRBF(SCALES)) * Subspace((2,), Overlap([0.7]))
    kernel = Conditional(((1, ((2, 0),), False),), inner)
    masked = X.copy()
    masked[X[:, 2] != 0, 1] = 0.5
    found = kernel.on(UncertainPairs.of(Pairs(X, X), cov, cov))[0]
    numbers = UncertainPairs.of(Pairs(masked[:, :2], masked[:, :2]), cov[:, :2], cov[:, :2])
    codes = Overlap([0.7])(X[:, 2:], X[:, 2:])
    np.testing.assert_allclose(found, ExpectedRBF(SCALES).on(numbers)[0] * codes, rtol=1e-12)


CODES = Subspace((2,), Overlap([0.7]))
AVERAGED = {
    "rbf": Subspace((0, 1), RBF(SCALES)),
    "offset": Offset(0.4, Scaled(1.3, Subspace((1, 0), RBF(SCALES)))),
    "sum": Subspace((0,), RBF(0.3)) + Subspace((1,), RBF(0.2)) + CODES,
    "product": Subspace((0, 1), RBF(SCALES)) * CODES * Scaled(0.5, Constant()),
    "mix": SumProduct(0.3, (Subspace((0, 1), RBF(SCALES)), Subspace((2,), Matches()))),
}


@pytest.mark.parametrize("name", AVERAGED)
def test_a_kernel_that_passes_expectations_on_is_the_integral_of_itself(name, rng):
    kernel = AVERAGED[name]
    X = np.hstack([rng.random((4, 2)), rng.integers(0, 2, (4, 1))])
    std = np.array([0.1, 0.2, 0.0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    grid = np.stack(np.meshgrid(nodes, nodes, [0.0]), -1).reshape(-1, 3) * std
    share = np.outer(weights, weights).reshape(-1) / weights.sum() ** 2
    found = kernel.expected(ExpectedRBF).on(UncertainPairs.of(Pairs(X, X), std[None] ** 2, None))[0]
    for x, row in zip(X, found, strict=True):
        np.testing.assert_allclose(row, share @ kernel(x + grid, X), rtol=1e-9)


def test_averages_without_a_closed_form_are_none():
    rbf = RBF(SCALES)
    for kernel in (
        Matern52(SCALES),
        rbf * Subspace((0,), RBF([0.3])),
        SumProduct(0.3, (rbf, rbf)),
        Additive(0.3, rbf),
        Warp(1.2, 0.8, rbf),
        LocalGlobal((Region([0.5, 0.5], 0.2, rbf),), rbf),
        Within(((2, 1),), rbf),
        Scaled(1.2, rbf + Matern52(SCALES)),
        TaylorRBF(SCALES),
    ):
        assert kernel.expected(ExpectedRBF) is None
    assert CODES.expected(ExpectedRBF) is CODES


def test_a_kernel_that_moves_points_is_refused(rng):
    with pytest.raises(ModelError, match="NIGP"):
        Warp([1.2], [0.8], ExpectedRBF(SCALES)).on(pairs_of("shared", "shared", rng))


def test_ordinary_kernels_see_the_places(rng):
    pairs = pairs_of("full", "rows", rng)
    np.testing.assert_array_equal(RBF(SCALES).on(pairs)[0], RBF(SCALES)(pairs.X1, pairs.X2))
