"""Every kernel keeps the contract; a new kernel is one more row in EVERY_KERNEL."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

from outcrop.data import Triangle
from outcrop.errors import ModelError, ShapeError
from outcrop.kernels import (
    RBF,
    Additive,
    Conditional,
    Constant,
    Matern12,
    Matern32,
    Matern52,
    Offset,
    Overlap,
    Product,
    RationalQuadratic,
    Scaled,
    SharedScale,
    Subspace,
    Sum,
)
from outcrop.testing import KERNEL_CONTRACT

BOX = np.random.default_rng(11).random((8, 3))
CODES = np.random.default_rng(12).integers(0, 3, (8, 2)).astype(float)
MIXED = np.hstack([BOX, CODES])
SCALES = np.array([0.3, 0.5, 1.4])
# Column 1 is active where the choice in column 3 holds 0, column 4 (a category) where it holds 1.
CONDITIONS = ((1, ((3, 0),), False), (4, ((3, 1),), True))

EVERY_KERNEL = {
    "rbf": (RBF(SCALES), BOX),
    "matern12": (Matern12(SCALES), BOX),
    "matern32": (Matern32(SCALES), BOX),
    "matern52": (Matern52(SCALES), BOX),
    "matern52-isotropic": (Matern52(0.4), BOX),
    "rational-quadratic": (RationalQuadratic(SCALES, alpha=0.7), BOX),
    "constant": (Scaled(0.7, Constant()) + Matern52(SCALES), BOX),
    "offset": (Offset(0.7, Scaled(1.4, Matern52(SCALES))), BOX),
    "scaled": (Scaled(2.3, Matern32(SCALES)), BOX),
    "sum": (Sum((RBF(SCALES), Scaled(0.4, Matern12(0.2)))), BOX),
    "product": (RBF(SCALES) * Scaled(1.7, Matern52(0.9)) * Matern12(SCALES), BOX),
    "subspace": (Subspace((2, 0), Matern52(SCALES[:2])), BOX),
    "additive": (Additive(0.3, Matern52(SCALES)), BOX),
    "additive-isotropic-rq": (Additive(0.6, RationalQuadratic(0.5, alpha=2.0)), BOX),
    "shared-scale": (SharedScale(0.8, Matern52(SCALES)), BOX),
    "shared-scale-rq": (SharedScale(0.8, RationalQuadratic(SCALES, alpha=2.0)), BOX),
    "overlap": (Overlap([0.5, 1.5]), CODES),
    "overlap-shared": (Overlap(0.8), CODES),
    "mixed": (
        Product((Subspace((0, 1, 2), Matern52(SCALES)), Subspace((3, 4), Overlap(0.8)))),
        MIXED,
    ),
    "conditional": (
        Conditional(
            CONDITIONS,
            Scaled(1.5, Subspace((0, 1, 2), RBF(SCALES)) * Subspace((3, 4), Overlap([0.7, 0.4]))),
        ),
        MIXED,
    ),
}


@pytest.mark.parametrize("check", KERNEL_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", EVERY_KERNEL)
def test_kernel_keeps_the_contract(name, check):
    check(*EVERY_KERNEL[name])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (RBF(SCALES), sk.RBF(SCALES)),
        (Matern12(SCALES), sk.Matern(SCALES, nu=0.5)),
        (Matern32(SCALES), sk.Matern(SCALES, nu=1.5)),
        (Matern52(SCALES), sk.Matern(SCALES, nu=2.5)),
        (RationalQuadratic(0.4, alpha=0.7), sk.RationalQuadratic(0.4, 0.7)),
        (
            Scaled(2.0, RBF(SCALES)) + Matern52(SCALES),
            2.0 * sk.RBF(SCALES) + sk.Matern(SCALES, nu=2.5),
        ),
        (RBF(SCALES) * Matern52(SCALES), sk.RBF(SCALES) * sk.Matern(SCALES, nu=2.5)),
    ],
    ids=str,
)
def test_covariances_equal_scikit_learns(ours, theirs):
    np.testing.assert_allclose(ours(BOX, BOX[:5]), theirs(BOX, BOX[:5]), rtol=1e-12)


def test_additive_kernel_is_its_formula():
    parts = [Matern52(scale)(BOX[:, [i]], BOX[:, [i]]) for i, scale in enumerate(SCALES)]
    expected = 0.7 * np.mean(parts, axis=0) + 0.3 * np.prod(parts, axis=0)
    np.testing.assert_allclose(Additive(0.3, Matern52(SCALES)).gram(BOX), expected, rtol=1e-12)


@given(
    changes=st.lists(
        st.tuples(st.sampled_from([Matern52, RBF]), st.integers(0, 2), st.floats(0.1, 2.0)),
        min_size=1,
        max_size=8,
    )
)
def test_effects_that_are_kept_are_those_of_the_present_lengthscales(changes):
    """Against pairs that were never used; the array of lengthscales is the same one throughout."""
    pairs, scales = Triangle(BOX, BOX), SCALES.copy()
    for kind, i, scale in changes:
        scales[i] = scale
        kernel = Additive(0.3, kind(scales))
        np.testing.assert_array_equal(kernel.on(pairs)[0], kernel.on(Triangle(BOX, BOX))[0])


def test_a_shared_scale_changes_the_lengthscales_only():
    shared, multiplied = SharedScale(0.7, Matern52(SCALES)), Matern52(0.7 * SCALES)
    np.testing.assert_allclose(shared.gram(BOX), multiplied.gram(BOX), rtol=1e-13)


def test_an_offset_is_a_constant_kernel_added():
    inner = Matern52(SCALES)
    expected = (inner + Scaled(0.7, Constant())).gram(BOX)
    np.testing.assert_allclose(Offset(0.7, inner).gram(BOX), expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Offset(1.0, Scaled(2.0, Matern52(SCALES))), SCALES),
        (RBF(0.4), [0.4, 0.4, 0.4]),
        (RBF(0.4) + Matern52(SCALES), [0.3, 0.4, 0.4]),
        (RBF(SCALES) * Matern52(0.4), [0.3, 0.4, 0.4]),
        (Subspace((2, 0), Matern52([0.2, 0.7])), [0.7, 1.0, 0.2]),
        (Additive(0.3, Matern52(SCALES)), SCALES),
        (SharedScale(2.0, Matern52(SCALES)), 2.0 * SCALES),
        (Conditional(CONDITIONS, RBF(SCALES)), SCALES),
        (Overlap(0.5), [1.0, 1.0, 1.0]),
        (Constant(), [1.0, 1.0, 1.0]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scales_are_the_shortest_lengths_of_each_coordinate(kernel, expected):
    np.testing.assert_allclose(kernel.scales(3), expected)


def test_overlap_counts_the_categories_that_differ():
    kernel = Overlap([0.5, 2.0])
    K = kernel(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 2.0], [2.0, 0.0]]))
    np.testing.assert_allclose(K, [[1.0, np.exp(-2), np.exp(-0.5), np.exp(-2.5)]])


@given(st.integers(0, 7), st.floats(0, 1), st.integers(0, 2))
def test_value_of_an_inactive_parameter_changes_nothing(row, value, code):
    kernel, X = EVERY_KERNEL["conditional"]
    changed = X.copy()
    if X[row, 3] != 0:
        changed[row, 1] = value
    if X[row, 3] != 1:
        changed[row, 4] = code
    np.testing.assert_array_equal(kernel.gram(changed), kernel.gram(X))


def test_permuted_dimensions_give_the_same_covariances():
    order = [2, 0, 1]
    for kernel in (RBF, Matern12, Matern32, Matern52, RationalQuadratic):
        moved = kernel(SCALES[order]).gram(BOX[:, order])
        np.testing.assert_allclose(moved, kernel(SCALES).gram(BOX), rtol=1e-13)


def test_close_points_keep_their_distance():
    """|a|² + |b|² − 2ab would return noise here."""
    X = np.array([[0.7], [0.7 + 1e-9]])
    np.testing.assert_allclose(1 - Matern12(0.1).gram(X)[0, 1], 1e-8, rtol=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: RBF([0.1, -0.2]),
        lambda: Matern52([0.1, np.nan]),
        lambda: Matern52([]),
        lambda: Scaled(0.0, RBF(1.0)),
        lambda: Offset(-1.0, RBF(1.0)),
        lambda: RationalQuadratic(1.0, alpha=-1.0),
        lambda: Subspace((0, 0), RBF(1.0)),
        lambda: Subspace((), RBF(1.0)),
        lambda: Additive(1.5, RBF(1.0)),
        lambda: Additive(0.5, Overlap(1.0)),
        lambda: SharedScale(0.0, RBF(1.0)),
        lambda: SharedScale(1.0, Overlap(1.0)),
        lambda: Overlap([0.0]),
        lambda: Conditional((), RBF(1.0)),
    ],
)
def test_wrong_hyperparameters_are_refused_with_what_is_expected(wrong):
    with pytest.raises(ModelError, match=r"expected|without"):
        wrong()


def test_wrong_shapes_are_refused_with_what_came():
    with pytest.raises(ShapeError, match=r"\(8, 3\) and \(8, 2\)"):
        RBF(1.0)(BOX, CODES)
    with pytest.raises(ShapeError, match="2 lengthscales for points of 3 dimensions"):
        RBF([1.0, 2.0])(BOX, BOX)
