"""The kernels of CoCaBO: shares of matching categories, and between a sum and a product."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.kernels import (
    RBF,
    Conditional,
    LocalGlobal,
    Matches,
    Matern52,
    Offset,
    Overlap,
    Product,
    Region,
    Scaled,
    Subspace,
    Sum,
    SumProduct,
)
from outcrop.surrogates import GP
from outcrop.testing import KERNEL_CONTRACT

BOX = np.random.default_rng(11).random((8, 3))
CODES = np.random.default_rng(12).integers(0, 3, (8, 2)).astype(float)
MIXED = np.hstack([BOX, CODES])
SCALES = np.array([0.3, 0.5, 1.4])
CONDITIONS = ((1, ((3, 0),), False), (4, ((3, 1),), True))
NUMBERS = Subspace((0, 1, 2), Matern52(SCALES))
CATEGORIES = Subspace((3, 4), Matches())

COCABO = {
    "matches": (Matches(), CODES),
    "matches-one-column": (Matches(), CODES[:, :1]),
    "half": (SumProduct(0.5, (NUMBERS, CATEGORIES)), MIXED),
    "sum": (SumProduct(1e-5, (NUMBERS, CATEGORIES)), MIXED),
    "product": (SumProduct(1 - 1e-5, (NUMBERS, CATEGORIES)), MIXED),
    "three-parts": (SumProduct(0.3, (NUMBERS, CATEGORIES, Subspace((4,), Overlap([0.7])))), MIXED),
    "other-variances": (
        SumProduct(0.3, (Scaled(2.0, NUMBERS), Offset(0.4, CATEGORIES))),
        MIXED,
    ),
    "conditional": (
        Offset(0.3, Conditional(CONDITIONS, SumProduct(0.7, (NUMBERS, CATEGORIES)))),
        MIXED,
    ),
}

mixes = st.floats(0, 1)


@pytest.mark.parametrize("check", KERNEL_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", COCABO)
def test_the_kernels_keep_the_contract(name, check):
    check(*COCABO[name])


def test_matches_are_counted_one_by_one():
    K = Matches().gram(CODES)
    for i, one in enumerate(CODES):
        for j, other in enumerate(CODES):
            share = sum(a == b for a, b in zip(one, other, strict=True)) / CODES.shape[1]
            assert K[i, j] == pytest.approx(share, abs=1e-15)


@given(mixes)
def test_a_mix_of_unit_variances_has_unit_variance(mix):
    kernel = SumProduct(mix, (NUMBERS, CATEGORIES))
    np.testing.assert_allclose(kernel.diag(MIXED), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.diagonal(kernel.gram(MIXED)), 1.0, rtol=1e-14)


@given(mixes)
def test_a_mix_is_its_formula(mix):
    k_x, k_h = NUMBERS.gram(MIXED), CATEGORIES.gram(MIXED)
    expected = (1 - mix) * (k_h + k_x) / 2 + mix * k_h * k_x
    kernel = SumProduct(mix, (NUMBERS, CATEGORIES))
    np.testing.assert_allclose(kernel.gram(MIXED), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    ("mix", "limit"),
    [
        (0.0, Scaled(0.5, Sum((NUMBERS, CATEGORIES)))),
        (1.0, Product((NUMBERS, CATEGORIES))),
    ],
)
def test_without_mixing_it_is_half_the_sum_and_with_all_of_it_the_product(mix, limit):
    kernel = SumProduct(mix, (NUMBERS, CATEGORIES))
    K_bar = np.random.default_rng(1).normal(size=(5, 8))
    K, pull = kernel.with_pullback(MIXED[:5], MIXED)
    expected, pull_limit = limit.with_pullback(MIXED[:5], MIXED)
    np.testing.assert_allclose(K, expected, rtol=1e-14)
    for one, other in zip(pull.inputs(K_bar), pull_limit.inputs(K_bar), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    X = MIXED[:3]
    features = kernel.features(np.random.default_rng(0), 20_000, 5).values(X)
    np.testing.assert_allclose(features @ features.T / 20_000, limit.gram(X), atol=0.06)


@given(mixes)
def test_without_categories_it_is_the_kernel_of_the_numbers(mix):
    kernel = SumProduct(mix, (Matern52(SCALES),))
    np.testing.assert_allclose(kernel.gram(BOX), Matern52(SCALES).gram(BOX), rtol=1e-14)


def test_levels_that_were_all_seen_leave_no_uncertainty_about_combinations(rng):
    """Matches alone are additive, which is why they are mixed with something else."""
    X = np.array([[i, j] for i in range(3) for j in range(3)], dtype=float)
    seen, unseen = X[[0, 1, 2, 3, 6]], X[[4, 5, 7, 8]]  # each level once, and one in common
    data = Observations(seen, rng.normal(size=5))
    _, by_matches = GP(Matches(), noise=1e-9).condition(data).predict(unseen)
    _, by_overlap = GP(Overlap(1.0), noise=1e-9).condition(data).predict(unseen)
    assert (by_matches < 1e-7).all()
    assert (by_overlap > 0.1).all()


def test_scales_are_the_shortest_lengths_of_each_coordinate():
    kernel = SumProduct(0.5, (NUMBERS, Subspace((0,), RBF(0.1)), CATEGORIES))
    np.testing.assert_allclose(kernel.scales(5), [0.1, 0.5, 1.0, 1.0, 1.0])


def test_a_part_is_grounded_with_the_whole():
    far = LocalGlobal((Region([9.0, 9.0, 9.0], 0.1, RBF(0.2)),), Matern52(0.8))
    kernel = SumProduct(0.5, (Subspace((0, 1, 2), far), CATEGORIES))
    plain = SumProduct(0.5, (Subspace((0, 1, 2), Matern52(0.8)), CATEGORIES))
    np.testing.assert_allclose(kernel.grounded(MIXED).gram(MIXED), plain.gram(MIXED), rtol=1e-13)
    assert plain.grounded(MIXED) is plain


@pytest.mark.parametrize("mix", [-0.1, 1.5, np.nan])
def test_a_mix_outside_0_to_1_is_refused(mix):
    with pytest.raises(ModelError, match="from 0 to 1"):
        SumProduct(mix, (NUMBERS, CATEGORIES))


def test_a_mix_of_nothing_is_refused():
    with pytest.raises(ModelError, match="at least one kernel"):
        SumProduct(0.5, ())
