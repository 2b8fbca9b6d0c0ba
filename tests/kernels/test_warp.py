"""Warping: curves against references, and the kernel that bends its inputs by them."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from scipy.stats import beta as beta_distribution

from outcrop.baselines.arc import ArcEmbedding
from outcrop.data import Observations
from outcrop.errors import ModelError, ShapeError
from outcrop.kernels import (
    RBF,
    BetaCDF,
    Conditional,
    Constant,
    Kumaraswamy,
    LocalGlobal,
    Matern52,
    Offset,
    Overlap,
    Region,
    Scaled,
    Subspace,
    Warp,
)
from outcrop.kernels.warp import beta_cdf_with_derivatives
from outcrop.surrogates import GP
from outcrop.testing import KERNEL_CONTRACT

BOX = np.random.default_rng(11).random((8, 3))
MIXED = np.hstack([BOX, np.random.default_rng(12).integers(0, 3, (8, 2))])
SCALES = np.array([0.3, 0.5, 1.4])
A, B = np.array([0.6, 1.3, 2.0]), np.array([1.5, 0.7, 1.1])
CONDITIONS = ((1, ((3, 0),), False), (4, ((3, 1),), True))

WARPED = {
    "kumaraswamy": (Warp(A, B, Matern52(SCALES)), BOX),
    "beta": (Warp(A, B, Matern52(SCALES), BetaCDF()), BOX),
    "shared-shapes": (Warp(0.7, B, RBF(SCALES)), BOX),
    "around-kernels-around-kernels": (
        Warp(A, B, Offset(0.4, Scaled(2.0, Matern52(SCALES)) * RBF(0.9) + Constant())),
        BOX,
    ),
    "around-spartan": (
        Warp(A, B, LocalGlobal((Region([0.2, 0.7, 0.4], 0.3, RBF(0.2)),), Matern52(0.8))),
        BOX,
    ),
    "twice": (Warp(A, B, Warp(B, A, Matern52(SCALES)), BetaCDF()), BOX),
    "conditional": (
        Conditional(
            CONDITIONS,
            Subspace((0, 1, 2), Warp(A, B, Matern52(SCALES))) * Subspace((3, 4), Overlap(0.8)),
        ),
        MIXED,
    ),
}

shapes = st.floats(-3, 3.9).map(np.exp)  # 0.05 to 50
inside = st.floats(1e-6, 1 - 1e-6)


@pytest.mark.parametrize("check", KERNEL_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", WARPED)
def test_a_warped_kernel_keeps_the_contract(name, check):
    check(*WARPED[name])


@given(inside, shapes, shapes)
def test_continued_fraction_equals_the_incomplete_beta_function(x, a, b):
    value, _, _ = beta_cdf_with_derivatives(x, a, b)
    np.testing.assert_allclose(value, special.betainc(a, b, x), rtol=1e-11, atol=1e-14)


def test_derivatives_of_the_beta_curve_agree_with_mpmath(rng):
    ends = [0.05, 50.0]
    corners = [(x, a, b) for x in (1e-6, 0.5, 1 - 1e-6) for a in ends for b in ends]
    some = np.exp(rng.uniform(np.log(0.05), np.log(50), (60, 2)))
    points = np.array(
        corners + [(np.clip(rng.beta(a, b), 1e-6, 1 - 1e-6), a, b) for a, b in some.tolist()]
    )
    expected = np.array([reference_derivatives(*point) for point in points.tolist()])
    np.testing.assert_allclose(
        BetaCDF().sensitivities(*points.T), expected.T, rtol=1e-10, atol=1e-12
    )


def reference_derivatives(x, a, b):
    """∂I/∂a and ∂I/∂b by differences in 50 digits."""

    def cdf(a, b):
        if x > a / (a + b):  # from the nearer end, where nothing cancels
            return 1 - mp.betainc(b, a, 0, 1 - mp.mpf(x), regularized=True)
        return mp.betainc(a, b, 0, x, regularized=True)

    with mp.workdps(50):
        a, b, step = mp.mpf(a), mp.mpf(b), mp.mpf(10) ** -15
        return (
            float((cdf(a + step, b) - cdf(a - step, b)) / (2 * step)),
            float((cdf(a, b + step) - cdf(a, b - step)) / (2 * step)),
        )


@given(inside, shapes, shapes)
def test_slope_of_the_beta_curve_is_the_density(x, a, b):
    expected = beta_distribution(a, b).pdf(x)
    np.testing.assert_allclose(BetaCDF().slope(x, a, b), expected, rtol=1e-9)


@given(st.floats(1e-3, 0.999), st.floats(0.2, 5), st.floats(0.2, 5))
def test_kumaraswamys_curve_is_its_formula(x, a, b):
    np.testing.assert_allclose(Kumaraswamy()(x, a, b), 1 - (1 - x**a) ** b, atol=1e-12)


@pytest.mark.parametrize("curve", [Kumaraswamy(), BetaCDF()], ids=str)
@given(shapes, shapes)
def test_a_curve_rises_from_0_to_1(curve, a, b):
    w = curve(np.linspace(1e-6, 1 - 1e-6, 50), a, b)
    assert np.isfinite(w).all()
    assert (np.diff(w) >= 0).all()
    assert 0 <= w[0] <= w[-1] <= 1


@pytest.mark.parametrize("curve", [Kumaraswamy(), BetaCDF()], ids=str)
def test_with_both_shapes_1_a_warped_kernel_is_its_inner_kernel(curve):
    inner = Matern52(SCALES)
    warped = Warp(1.0, 1.0, inner, curve)
    np.testing.assert_allclose(warped(BOX, BOX[:3]), inner(BOX, BOX[:3]), rtol=1e-13)


@given(shapes, shapes)
def test_reflection_swaps_the_two_shapes_of_a_beta_curve(a, b):
    one = Warp(a, b, Matern52(SCALES), BetaCDF())
    other = Warp(b, a, Matern52(SCALES), BetaCDF())
    np.testing.assert_allclose(other.gram(1 - BOX), one.gram(BOX), atol=1e-12)


@given(shapes)
def test_kumaraswamys_curve_reflects_where_a_shape_is_1(a):
    one, other = Warp(a, 1.0, Matern52(SCALES)), Warp(1.0, a, Matern52(SCALES))
    np.testing.assert_allclose(other.gram(1 - BOX), one.gram(BOX), atol=1e-12)


@pytest.mark.parametrize("curve", [Kumaraswamy(), BetaCDF()], ids=str)
@pytest.mark.parametrize("shape", [1e-3, 0.1, 10.0, 1e3])
def test_the_faces_of_the_cube_give_finite_values_and_gradients(curve, shape):
    kernel = Warp([shape], [1 / shape], Matern52([0.5]), curve)
    X = np.array([[0.0], [1e-9], [0.3], [1.0]])
    K, pull = kernel.with_pullback(X, X)
    kernel_bar, X1_bar, X2_bar = pull(np.ones_like(K))
    for array in (K, kernel_bar.a, kernel_bar.b, X1_bar, X2_bar):
        assert np.isfinite(array).all()


def test_scales_are_those_of_where_the_curve_is_steepest():
    scales = Warp([1.0, 1.0], [1.0, 8.0], Matern52([0.4, 0.4])).scales(2)
    assert scales[0] == pytest.approx(0.4)
    assert 0.4 / 8 <= scales[1] < 0.4 / 6  # 8 (1 − x)⁷ near 0


def test_likelihoods_do_not_depend_on_which_were_asked_before(rng):
    """Differences of columns that stay are kept from one call to the next."""
    X, y = rng.random((9, 3)), rng.normal(size=9)
    data = Observations(X, y)
    inner = Matern52(SCALES)
    visited = [(A, B), (A, B), (np.array([0.6, 1.3, 0.5]), B), (A, 2 * B), (A, B), (B, A)]
    for a, b in visited:
        gp = GP(Warp(a, b, inner), noise=0.1)
        fresh = Observations(X.copy(), y)
        assert gp.log_likelihood(data) == pytest.approx(gp.log_likelihood(fresh), rel=1e-13)
        expected = gp.condition(fresh).log_likelihood
        assert gp.log_likelihood(data) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("shapes", [-1.0, [0.0, 1.0], np.nan, []])
def test_wrong_shapes_are_refused_with_what_is_expected(shapes):
    with pytest.raises(ModelError, match="expected finite numbers above 0"):
        Warp(1.0, shapes, RBF(1.0))


def test_a_wrong_number_of_shapes_is_refused_with_what_came():
    with pytest.raises(ShapeError, match="2 shapes for points of 3 dimensions"):
        Warp([1.0, 2.0], 1.0, RBF(1.0))(BOX, BOX)


def test_a_kernel_that_was_used_with_other_data_gives_what_a_new_one_gives(rng):
    """The image of the data is kept, for these data only."""
    X, one, other = rng.random((4, 2)), rng.random((5, 2)), rng.random((5, 2))
    used = Warp([0.7, 1.4], [2.0, 0.8], Matern52([0.3, 0.5]))
    for data in (one, other, one):
        new = Warp([0.7, 1.4], [2.0, 0.8], Matern52([0.3, 0.5]))
        np.testing.assert_array_equal(used(X, data), new(X, data))


def test_a_map_to_more_dimensions_has_the_diagonal_of_its_images(rng):
    """Also where the kernel of the images reads columns that points do not have."""
    inner = Subspace((3,), Matern52([0.5]))
    kernel = ArcEmbedding((0, 1), ((), ()), [1.0, 0.7], [0.5, 0.4], inner)
    X = rng.random((6, 2))
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X, X)))
