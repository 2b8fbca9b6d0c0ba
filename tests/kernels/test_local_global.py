"""LocalGlobal kernels: weights against their formulas, limits, and what observations speak for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from outcrop.data import Observations
from outcrop.errors import ModelError, ShapeError
from outcrop.kernels import (
    RBF,
    Conditional,
    LocalGlobal,
    Matern12,
    Matern52,
    Offset,
    Overlap,
    Region,
    Scaled,
    Subspace,
    Sum,
    Warp,
)
from outcrop.surrogates import GP
from outcrop.testing import KERNEL_CONTRACT

BOX = np.random.default_rng(11).random((8, 3))
MIXED = np.hstack([BOX, np.random.default_rng(12).integers(0, 3, (8, 2))])
SCALES = np.array([0.3, 0.5, 1.4])
CENTRE, OTHER = np.array([0.2, 0.7, 0.4]), np.array([0.8, 0.1, 0.5])
CONDITIONS = ((1, ((3, 0),), False), (4, ((3, 1),), True))
LOCAL, GLOBAL = Scaled(1.5, Matern52(0.2)), Matern52(SCALES)

LOCAL_GLOBAL = {
    "learnt-width": (LocalGlobal((Region(CENTRE, 0.3, LOCAL),), GLOBAL), BOX),
    "densities": (LocalGlobal((Region(CENTRE, 0.2, LOCAL),), GLOBAL, spread=0.9), BOX),
    "two-regions": (
        LocalGlobal((Region(CENTRE, 0.3, LOCAL), Region(OTHER, 0.2, Matern12(0.4))), RBF(0.9)),
        BOX,
    ),
    "two-densities": (
        LocalGlobal((Region(CENTRE, 0.3, LOCAL), Region(OTHER, 0.2, RBF(0.4))), GLOBAL, spread=1.2),
        BOX,
    ),
    "of-warped-kernels": (
        LocalGlobal((Region(CENTRE, 0.3, Warp(0.7, 1.4, LOCAL)),), Warp(1.2, 0.8, GLOBAL)),
        BOX,
    ),
    "in-itself": (
        LocalGlobal(
            (Region(CENTRE, 0.3, LocalGlobal((Region(OTHER, 0.2, LOCAL),), RBF(1.0))),), GLOBAL
        ),
        BOX,
    ),
    "conditional": (
        Conditional(
            CONDITIONS,
            Subspace((0, 1, 2), LocalGlobal((Region(CENTRE, 0.3, LOCAL),), GLOBAL))
            * Subspace((3, 4), Overlap(0.8)),
        ),
        MIXED,
    ),
}

points = st.lists(st.floats(0, 1), min_size=10, max_size=10).map(np.array)


@pytest.mark.parametrize("check", KERNEL_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", LOCAL_GLOBAL)
def test_a_spartan_kernel_keeps_the_contract(name, check):
    check(*LOCAL_GLOBAL[name])


@given(points, points, st.floats(1e-3, 10), st.none() | st.floats(0.05, 20))
def test_squared_weights_sum_to_1_and_are_finite_even_in_ten_dimensions(x, c, width, spread):
    kernel = LocalGlobal((Region(c, width, LOCAL), Region(1 - c, 0.1, LOCAL)), RBF(1.0), spread)
    X = np.stack([x, c, np.zeros(10), np.ones(10), np.full(10, 50.0)])
    weights = kernel.weights(X)
    assert weights.shape == (3, 5)
    assert (weights >= 0).all()
    np.testing.assert_allclose((weights**2).sum(0), 1.0, rtol=1e-12)
    K, pull = kernel.with_pullback(X, X)
    assert np.isfinite(K).all()
    kernel_bar, X1_bar, X2_bar = pull(np.ones_like(K))
    region = kernel_bar.regions[0]
    assert np.isfinite([*region.centre, region.width, *X1_bar.ravel(), *X2_bar.ravel()]).all()


def test_weights_of_densities_are_the_papers_formula():
    local = norm(CENTRE, 0.2).pdf(BOX).prod(1)
    everywhere = norm(0.5, 0.9).pdf(BOX).prod(1)
    shares = np.stack([local, everywhere]) / (local + everywhere)
    kernel, _ = LOCAL_GLOBAL["densities"]
    np.testing.assert_allclose(kernel.weights(BOX) ** 2, shares, rtol=1e-12)
    expected = sum(
        np.sqrt(np.outer(share, share)) * inner.gram(BOX)
        for share, inner in zip(shares, (LOCAL, GLOBAL), strict=True)
    )
    np.testing.assert_allclose(kernel.gram(BOX), expected, rtol=1e-12)


@pytest.mark.parametrize("dimension", [1, 2, 6, 10])
@pytest.mark.parametrize(
    ("widths", "crossing"), [((0.05**0.5, 10**0.5), 0.516), ((0.05, 10.0), 0.163)]
)
def test_either_reading_of_the_papers_widths_has_its_border(dimension, widths, crossing):
    """Where local and global density are equal, per dimension, around the middle of the cube."""
    middle = np.full(dimension, 0.5)
    kernel = LocalGlobal((Region(middle, widths[0], LOCAL),), GLOBAL, spread=widths[1])
    inside, outside = (kernel.weights((middle + crossing * by)[None])[0, 0] for by in (0.99, 1.01))
    assert inside**2 > 0.5 > outside**2


@pytest.mark.parametrize("dimension", [1, 2, 6])
def test_a_learnt_region_ends_at_its_width_per_dimension(dimension):
    centre = np.full(dimension, 0.3)
    kernel = LocalGlobal((Region(centre, 0.25, LOCAL),), GLOBAL)
    local = kernel.weights(centre + np.array([[0.0], [0.125], [0.25], [0.5]]))[0] ** 2
    np.testing.assert_allclose(np.log(local / (1 - local)), [4.0, 3.0, 0.0, -12.0], atol=1e-9)


def test_with_full_local_weight_it_is_the_local_kernel():
    kernel = LocalGlobal((Region(CENTRE, 0.3, GLOBAL),), GLOBAL, spread=1e30)
    np.testing.assert_allclose(kernel.gram(BOX), GLOBAL.gram(BOX), rtol=1e-12)


def test_far_from_its_region_it_is_the_global_kernel():
    kernel = LocalGlobal((Region(CENTRE, 0.02, LOCAL),), GLOBAL)
    far = BOX[np.abs(BOX - CENTRE).max(1) > 0.3]
    assert len(far) > 3
    np.testing.assert_allclose(kernel.gram(far), GLOBAL.gram(far), rtol=1e-12)


@given(st.integers(0, 10_000))
def test_no_eigenvalue_is_negative(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((30, 2))
    regions = tuple(
        Region(rng.random(2), np.exp(rng.normal(-1.6, 1)), RBF(np.exp(rng.normal(-1, 1, 2))))
        for _ in range(3)
    )
    spread = None if seed % 2 else float(np.exp(rng.normal()))
    K = LocalGlobal(regions, RBF(np.exp(rng.normal(0, 1, 2))), spread).gram(X)
    assert np.linalg.eigvalsh(K).min() >= -1e-10


def test_a_region_that_no_observation_is_near_counts_for_nothing():
    kernel = LocalGlobal((Region(CENTRE, 0.3, LOCAL), Region(OTHER, 0.3, LOCAL)), GLOBAL)
    near = OTHER + 0.1
    grounded = kernel.grounded(near[None])
    expected = LocalGlobal((Region(OTHER, 0.3, LOCAL),), GLOBAL)
    np.testing.assert_allclose(grounded.gram(BOX), expected.gram(BOX), rtol=1e-12)
    nothing_near = kernel.grounded(np.array([[0.5, 0.5, 1.0]]))
    np.testing.assert_allclose(nothing_near.gram(BOX), GLOBAL.gram(BOX), rtol=1e-12)
    _, pull = nothing_near.with_pullback(BOX, BOX[:3])
    kernel_bar, X1_bar, _ = pull(np.ones((8, 3)))
    np.testing.assert_array_equal(kernel_bar.regions[0].centre, np.zeros(3))
    assert np.isfinite(X1_bar).all()


def test_a_kernel_that_observations_speak_for_stays_the_same_object():
    X = np.vstack([CENTRE, BOX])
    local = LocalGlobal((Region(CENTRE, 0.3, LOCAL),), GLOBAL)
    densities = LocalGlobal((Region(CENTRE, 0.3, LOCAL),), GLOBAL, spread=2.0)
    for kernel in (
        local,
        Offset(1.0, Scaled(2.0, local)),
        Sum((local, LOCAL)),
        LOCAL,
    ):
        assert kernel.grounded(X) is kernel
    assert densities.grounded(OTHER[None]) is densities  # the paper's own stays as it is


@pytest.mark.parametrize(
    "around",
    [
        lambda kernel: Offset(1.0, Scaled(2.0, Subspace((0, 1, 2), kernel))),
        lambda kernel: Subspace((0, 1, 2), kernel) * Subspace((3, 4), Overlap(0.8)),
        lambda kernel: Subspace((0, 1, 2), kernel) + Subspace((3, 4), Overlap(0.8)),
        lambda kernel: Conditional(CONDITIONS, Subspace((0, 1, 2), kernel)),
        lambda kernel: Subspace((0, 1, 2), Warp(1.0, 1.0, kernel)),
    ],
    ids=["scaled", "product", "sum", "conditional", "warped"],
)
def test_kernels_around_a_spartan_kernel_ground_it_where_it_lies(around):
    local = LocalGlobal((Region(CENTRE, 0.3, LOCAL),), GLOBAL)
    here, there = (np.array([[*x, 0.0, 1.0]]) for x in (CENTRE, CENTRE + 0.5))
    assert around(local).grounded(here).gram(MIXED) == pytest.approx(around(local).gram(MIXED))
    without = around(local).grounded(there).gram(MIXED)
    np.testing.assert_allclose(without, around(GLOBAL).gram(MIXED), rtol=1e-10)


def test_packed_likelihoods_equal_full_ones(rng):
    data = Observations(rng.random((9, 3)), rng.normal(size=9))
    for kernel, X in LOCAL_GLOBAL.values():
        if X is BOX:
            gp = GP(kernel, noise=0.1)
            expected = gp.condition(data).log_likelihood
            assert gp.log_likelihood(data) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Region(CENTRE, 0.0, LOCAL),
        lambda: Region([0.1, np.nan], 0.2, LOCAL),
        lambda: Region([], 0.2, LOCAL),
        lambda: LocalGlobal((), GLOBAL),
        lambda: LocalGlobal([Region(CENTRE, 0.2, LOCAL)], GLOBAL),
        lambda: LocalGlobal((Region(CENTRE, 0.2, LOCAL),), GLOBAL, spread=-1.0),
    ],
)
def test_wrong_regions_are_refused_with_what_is_expected(wrong):
    with pytest.raises(ModelError, match="expected"):
        wrong()


def test_a_centre_of_other_dimension_is_refused_with_what_came():
    with pytest.raises(ShapeError, match="2 dimensions, the points have 3"):
        LocalGlobal((Region([0.1, 0.2], 0.2, LOCAL),), GLOBAL).gram(BOX)
