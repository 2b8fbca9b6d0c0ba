"""Cholesky factors with stated jitter, triangular solves, appended rows.

No other module factorises.

`chol` is always the lower factor in Fortran order, so that LAPACK works on it without a copy.
"""

from __future__ import annotations

__all__ = [
    "JITTERS",
    "Indices",
    "append_rows",
    "cholesky",
    "inverse_factor",
    "inverse_lower",
    "solve_lower",
    "solve_upper",
]

import logging
from functools import lru_cache
from math import log, pi

import numpy as np
from scipy.linalg.lapack import dpftrf, dpftrs, dpotrf, dpotri, dtrtri, dtrtrs, dtrttf

from outcrop.errors import NumericalError
from outcrop.typing import Indices, Matrix, Vector

logger = logging.getLogger(__name__)

LOG_2PI = log(2 * pi)

# Added to the diagonal, as multiples of its mean, until the factorisation succeeds.
JITTERS = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


def cholesky(K: Matrix, scale: float | None = None) -> tuple[Matrix, float]:
    """Lower factor of the symmetric `K`, and the jitter that was added (almost always 0).

    Jitter is in units of `scale`, the mean of the diagonal if not given. Only one triangle of `K`
    is read; `K` itself is left as it was.
    """
    if len(K) == 0:
        return np.zeros((0, 0), order="F"), 0.0
    A = K.T if K.flags.c_contiguous else K
    chol, info = dpotrf(A, lower=1)
    if info == 0 and np.isfinite(chol[-1, -1]):
        return chol, 0.0
    scale = float(np.diagonal(K).mean()) if scale is None else scale
    for step in JITTERS[1:]:
        chol, info = dpotrf(A + step * scale * np.eye(len(K)), lower=1)
        if info == 0 and np.isfinite(chol[-1, -1]):
            logger.debug(
                "jitter %.0e x mean diagonal made a %d x %d matrix factorise", step, *K.shape
            )
            return chol, step * scale
    raise NumericalError(
        f"a {len(K)} × {len(K)} covariance has no Cholesky factor even with {JITTERS[-1]:g} of its "
        f"mean diagonal ({scale:g}) added; check the kernel for NaN and for negative variances"
    )


def solve_lower(chol: Matrix, B: Matrix) -> Matrix:
    """L⁻¹ B for a vector or a matrix; fastest when `B` is Fortran-ordered."""
    return B if len(chol) == 0 else dtrtrs(chol, B, lower=1)[0]


def solve_upper(chol: Matrix, B: Matrix) -> Matrix:
    """L⁻ᵀ B for a vector or a matrix; fastest when `B` is Fortran-ordered."""
    return B if len(chol) == 0 else dtrtrs(chol, B, lower=1, trans=1)[0]


def inverse_lower(chol: Matrix) -> Matrix:
    """The lower triangle of (L Lᵀ)⁻¹, with zeros above the diagonal."""
    return chol if len(chol) == 0 else dpotri(chol, lower=1)[0]


def inverse_factor(chol: Matrix) -> Matrix:
    """L⁻¹, lower triangular."""
    return chol if len(chol) == 0 else dtrtri(chol, lower=1)[0]


@lru_cache(maxsize=64)
def packed_indices(n: int) -> tuple[Indices, Indices, Indices]:
    """Row and column of each packed element of a lower triangle, and where its diagonal is."""
    numbered = np.asfortranarray(np.arange(n * n, dtype=float).reshape(n, n))
    rows, columns = np.divmod(dtrttf(numbered, uplo="L")[0].astype(np.intp), n)
    diagonal = np.flatnonzero(rows == columns)
    return rows, columns, diagonal[np.argsort(rows[diagonal])]


def packed_log_density(K: Vector, y: Vector) -> float | None:
    """log N(y; 0, K) for a covariance in packed order; None if it needs jitter.

    `K` is overwritten.
    """
    n = len(y)
    chol, info = dpftrf(n, K, uplo="L", overwrite_a=1)
    if info != 0:
        return None
    log_root_determinant = float(np.log(chol[packed_indices(n)[2]]).sum())
    value = -0.5 * float(y @ dpftrs(n, chol, y, uplo="L")[0]) - log_root_determinant
    return value - 0.5 * n * LOG_2PI if np.isfinite(value) else None


def append_rows(chol: Matrix, cross: Matrix, corner: Matrix) -> tuple[Matrix, float]:
    """The factor of [[L Lᵀ, crossᵀ], [cross, corner]] from that of its first block, in O(n²) a row.

    `cross` is `(k, n)` and `corner` `(k, k)`. Also returns the jitter added to the new corner.
    """
    n, k = len(chol), len(corner)
    below = solve_lower(chol, cross.T).T
    tip, jitter = cholesky(corner - below @ below.T, float(np.diagonal(corner).mean()))
    grown = np.zeros((n + k, n + k), order="F")
    grown[:n, :n] = chol
    grown[n:, :n] = below
    grown[n:, n:] = tip
    return grown, jitter
