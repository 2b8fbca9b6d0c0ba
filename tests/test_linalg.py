import logging

import numpy as np
import pytest
from scipy import stats

from outcrop.errors import NumericalError
from outcrop.linalg import (
    JITTERS,
    append_rows,
    cholesky,
    inverse_factor,
    inverse_lower,
    packed_indices,
    packed_log_density,
    solve_lower,
    solve_upper,
)


def positive(rng, n):
    A = rng.normal(size=(n, n + 3))
    return A @ A.T


def test_factor_times_its_transpose_is_the_matrix(rng):
    K = positive(rng, 6)
    chol, jitter = cholesky(K)
    assert jitter == 0
    np.testing.assert_allclose(chol @ chol.T, K, rtol=1e-12)
    assert np.triu(chol, 1).max() == 0


def test_factorising_leaves_the_matrix_as_it_was(rng):
    K = positive(rng, 5)
    before = K.copy()
    cholesky(K)
    np.testing.assert_array_equal(K, before)


def test_solves_and_inverse_equal_the_dense_ones(rng):
    K, B = positive(rng, 6), rng.normal(size=(6, 3))
    chol, _ = cholesky(K)
    np.testing.assert_allclose(
        solve_upper(chol, solve_lower(chol, B)), np.linalg.solve(K, B), rtol=1e-8
    )
    np.testing.assert_allclose(inverse_lower(chol), np.tril(np.linalg.inv(K)), rtol=1e-8)
    np.testing.assert_allclose(inverse_factor(chol) @ chol, np.eye(6), atol=1e-10)


def test_appended_rows_equal_a_fresh_factor(rng):
    K = positive(rng, 8)
    grown, jitter = append_rows(cholesky(K[:5, :5])[0], K[5:, :5], K[5:, 5:])
    assert jitter == 0
    np.testing.assert_allclose(grown, cholesky(K)[0], rtol=1e-8, atol=1e-12)


def test_singular_matrix_takes_the_smallest_jitter_that_works_and_says_so(rng, caplog):
    K = np.ones((5, 5)) * 4.0
    with caplog.at_level(logging.DEBUG, "outcrop.linalg"):
        chol, jitter = cholesky(K)
    assert jitter in [4.0 * step for step in JITTERS[1:3]]
    np.testing.assert_allclose(chol @ chol.T, K + jitter * np.eye(5), rtol=1e-12)
    assert "jitter" in caplog.text


@pytest.mark.parametrize("K", [-np.eye(3), np.full((3, 3), np.nan)], ids=["negative", "nan"])
def test_hopeless_matrix_is_an_error_of_ours(K):
    with pytest.raises(NumericalError, match="no Cholesky factor"):
        cholesky(K)


def test_nan_anywhere_in_the_triangle_is_noticed(rng):
    for i in range(5):
        for j in range(i + 1):
            K = positive(rng, 5)
            K[i, j] = K[j, i] = np.nan
            with pytest.raises(NumericalError):
                cholesky(K)


def test_nothing_factorises_to_nothing():
    chol, jitter = cholesky(np.zeros((0, 0)))
    assert chol.shape == (0, 0)
    assert jitter == 0


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_packed_log_density_equals_the_dense_one(n, rng):
    K, y = positive(rng, n), rng.normal(size=n)
    rows, columns, diagonal = packed_indices(n)
    assert (rows >= columns).all()
    np.testing.assert_array_equal(rows[diagonal], np.arange(n))
    expected = stats.multivariate_normal(np.zeros(n), K).logpdf(y)
    assert packed_log_density(K[rows, columns], y) == pytest.approx(expected, rel=1e-10)


def test_packed_density_of_a_matrix_that_needs_jitter_is_left_to_others():
    rows, columns, _ = packed_indices(4)
    assert packed_log_density(-np.eye(4)[rows, columns], np.ones(4)) is None
    assert packed_log_density(np.full(10, np.nan), np.ones(4)) is None
