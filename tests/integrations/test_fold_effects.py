import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop.integrations.fold_effects import FoldEffects, better_half


def drawn(n, K, *, residual, seed):
    """Scores with large effects of folds and residuals of the given standard deviation."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(0, 5, K)
    return rng.normal(0, 2, (n, 1)) + effects + rng.normal(0, residual, (n, K))


def test_the_variance_is_that_of_residuals_whatever_the_folds_effects():
    estimates = [
        FoldEffects.of(drawn(8, 5, residual=0.3, seed=seed)).variance for seed in range(400)
    ]
    assert np.mean(estimates) == pytest.approx(0.09, rel=0.05)


def test_the_fit_is_that_of_least_squares_on_indicators():
    scores = drawn(6, 4, residual=0.5, seed=1)
    candidate, fold = np.indices(scores.shape).reshape(2, -1)
    design = np.column_stack([candidate == i for i in range(6)] + [fold == k for k in range(3)])
    _, rest, _, _ = np.linalg.lstsq(design.astype(float), scores.ravel(), rcond=None)
    found = FoldEffects.of(scores)
    assert found.freedom == 24 - 9
    assert found.variance * found.freedom == pytest.approx(rest[0])


@given(shift=st.floats(-50, 50), seed=st.integers(0, 99))
def test_a_shift_of_one_fold_changes_its_effect_alone(shift, seed):
    scores = drawn(5, 4, residual=0.4, seed=seed)
    before = FoldEffects.of(scores)
    after = FoldEffects.of(scores + np.array([0, shift, 0, 0]))
    assert after.variance == pytest.approx(before.variance)
    assert after.effects[1] - after.effects[0] == pytest.approx(
        before.effects[1] - before.effects[0] + shift, abs=1e-9
    )


def test_the_mean_of_all_folds_is_the_mean_of_the_scores():
    scores = drawn(5, 4, residual=0.4, seed=3)
    assert FoldEffects.of(scores).mean(scores[2]) == pytest.approx(scores[2].mean())


def test_a_candidate_with_the_easy_folds_alone_is_not_taken_as_good():
    scores = np.arange(4.0)[:, None] + np.array([10.0, 0.0, -10.0])
    found = FoldEffects.of(scores + np.random.default_rng(0).normal(0, 0.01, scores.shape))
    assert found.mean(np.array([11.0])) == pytest.approx(1.0, abs=0.05)


def test_fewer_folds_leave_more_noise():
    found = FoldEffects.of(drawn(6, 5, residual=0.5, seed=0))
    assert found.std(2) == pytest.approx(found.std(5) * np.sqrt(5 / 2))


def test_the_chance_is_calibrated():
    """Of candidates with a chance of about c, a share of about c becomes the best."""
    rng = np.random.default_rng(0)
    effects = np.array([1.0, -2.0, 0.5, 0.5, 0.0])
    stated, happened = [], []
    for _ in range(2500):
        known = rng.normal(0, 1, (5, 1)) + effects + rng.normal(0, 0.4, (5, 5))
        new = rng.uniform(-1, 1) + effects + rng.normal(0, 0.4, 5)
        stated.append(FoldEffects.of(known).chance(new[:2], 0.0))
        happened.append(new.mean() > 0.0)
    stated, happened = np.array(stated), np.array(happened)
    for low, high in [(0.02, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 0.98)]:
        inside = (stated >= low) & (stated < high)
        assert happened[inside].mean() == pytest.approx(stated[inside].mean(), abs=0.07)


def test_without_residuals_the_chance_is_certain():
    found = FoldEffects.of(np.arange(3.0)[:, None] + np.array([1.0, -1.0]))
    assert found.variance == pytest.approx(0.0)
    found = FoldEffects(found.effects, 0.0, 3, 2)
    assert found.chance(np.array([3.5]), best=2.0) == 1.0
    assert found.chance(np.array([2.5]), best=2.0) == 0.0


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (0, 5)])
def test_one_candidate_or_one_fold_says_nothing_about_noise(shape):
    assert FoldEffects.of(np.zeros(shape)) is None


def test_bad_candidates_do_not_count_as_noise():
    good = drawn(10, 5, residual=0.1, seed=0)
    bad = np.random.default_rng(1).normal(-50, 9, (10, 5))
    mixed = np.concatenate([bad, good])
    assert FoldEffects.of(better_half(mixed, 4)).variance < 0.03 < FoldEffects.of(mixed).variance


@pytest.mark.parametrize(("n", "kept"), [(1, 1), (4, 4), (7, 4), (9, 5), (20, 10)])
def test_at_least_some_candidates_count(n, kept):
    scores = np.random.default_rng(0).permutation(n)[:, None] * np.ones(3)
    assert sorted(better_half(scores, 4)[:, 0]) == list(range(n - kept, n))
