"""The unscented Gaussian process that moves one observation at a time.

With N observations in d dimensions there are 2Nd + 1 sigma data sets, and each but the central one
differs from it in one row and column of K + Σ. None of them is factorised. With B = (K + Σ)⁻¹, b
its column of the observation i that moved, and a the covariances of the moved point with all others
(aᵢ = 0), leaving i out and putting it back elsewhere is a correction of rank two:

    t = B a − b (bᵀa)/Bᵢᵢ,  s = k(x'ᵢ, x'ᵢ) + σᵢ² − aᵀt,  e = yᵢ − aᵀ(B y − b (By)ᵢ/Bᵢᵢ)
    μ' − μ = − (kᵀb) (By)ᵢ/Bᵢᵢ + c e/s,    V' − V = (kᵀb)²/Bᵢᵢ − c²/s,    c = k(x, x'ᵢ) − kᵀt

The rows of all sets (`J` = 2Nd) are matrices `(J, n)`, and all this is a few matrix products.
"""

from __future__ import annotations

__all__ = ["FullUTGPPosterior"]

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np

from outcrop.data import Pairs
from outcrop.linalg import inverse_lower, solve_lower, solve_upper
from outcrop.surrogates.base import PredictionPull
from outcrop.surrogates.gp import GPPosterior
from outcrop.surrogates.noisy.input_noise import roots
from outcrop.surrogates.noisy.rescaled_draws import RescaledPosterior
from outcrop.surrogates.noisy.unscented import Rule, Unscented
from outcrop.typing import Matrix, Points, Vector

SPREAD = sqrt(3.0)  # standard deviations: makes the three points on a line Gauss and Hermite's
LEAST = 1e-12  # of the prior variance: rounding level of s
CHUNK = 2_000_000  # covariances with moved points in memory at a time


class Sets(NamedTuple):
    """Arrays of all moved data sets that predictions need."""

    X: Points  # (J, d), the points of the moved observations
    rows: Matrix  # (J, n), 1 at that observation
    T: Matrix  # (J, n)
    gain: Vector  # (J,), e/s
    left: Vector  # (J,), (By)ᵢ/Bᵢᵢ
    own: Vector  # (J,), 1/Bᵢᵢ
    inverse_s: Vector  # (J,)


@dataclass(frozen=True, eq=False)
class FullUTGPPosterior(RescaledPosterior):
    """The posterior if each observation may have been moved on its own."""

    inner: GPPosterior
    cov: Matrix  # of the observations' points
    transform: Unscented | None = None  # None moves them by √3 standard deviations
    variance: Rule = "moment"

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        rows = max(CHUNK // max(len(self.sets.X), 1), 1)
        parts = [self._predict(X[i : i + rows])[:2] for i in range(0, max(len(X), 1), rows)]
        means, variances = zip(*parts, strict=True)
        return np.concatenate(means), np.concatenate(variances)

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        return self._predict(X)

    def condition(self, X: Points, y: Vector) -> FullUTGPPosterior:
        """The same process once `y` is also believed to be observed, and may have been moved."""
        cov = self.cov
        if len(cov) > 1:
            cov = np.concatenate([cov, np.repeat(cov.mean(0, keepdims=True), len(X), axis=0)])
        return replace(self, inner=self.inner.condition(X, y), cov=cov)

    def observed(self) -> Points:
        return self.inner.data.X

    @cached_property
    def moves(self) -> tuple[Matrix, Points]:
        """Which observation moves, as rows of the unit matrix, and by which root of its noise."""
        n = len(self.inner.data)
        each = roots(self.cov)
        each = each * n if len(each) == 1 else each
        counts = [len(root) for root in each]
        return np.repeat(np.eye(n), counts, axis=0), np.concatenate(each)

    @cached_property
    def unscented(self) -> Unscented:
        if self.transform is not None:
            return self.transform
        return Unscented(SPREAD / sqrt(max(len(self.moves[1]), 1)))

    @cached_property
    def sets(self) -> Sets:
        inner, data, kernel = self.inner, self.inner.data, self.inner.model.kernel
        rows, root = self.moves
        rows = np.concatenate([rows, rows])
        X = rows @ data.X + self.unscented.shifts(root)
        inverse = inverse_lower(inner.chol)
        B = inverse + np.tril(inverse, -1).T
        own = 1 / (rows @ B.diagonal())
        b = rows @ B
        A = kernel.on(Pairs(X, data.X))[0] * (1 - rows)
        met = np.einsum("jn,jn->j", A, b)
        T = solve_upper(inner.chol, solve_lower(inner.chol, A.T)).T - (met * own)[:, None] * b
        T *= 1 - rows
        prior = kernel.diag(X)
        s = prior + rows @ inner._noise(data) - np.einsum("jn,jn->j", A, T)
        left = (rows @ inner.alpha) * own
        e = rows @ (data.y - inner.model.mean) - A @ inner.alpha + met * left
        inverse_s = 1 / np.maximum(s, LEAST * prior)
        return Sets(X, rows, T, e * inverse_s, left, own, inverse_s)

    def _predict(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        inner, kernel, sets = self.inner, self.inner.model.kernel, self.sets
        mean, var, pull_inner = inner.predict_with_pullback(X)
        near, pull_near = kernel.on(Pairs(X, inner.data.X, second_moves=False))
        far, pull_far = kernel.on(Pairs(X, sets.X, second_moves=False))
        C = far - near @ sets.T.T
        G = self._against_columns(near)
        means = (C * sets.gain - G * sets.left).T
        variances = (G**2 * sets.own - C**2 * sets.inverse_s).T
        q = len(sets.X) // 2
        mean, var, pull = self.unscented.combined(q, mean, var, means, variances, self.variance)

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            central_mean, central_var, means_bar, variances_bar = pull(mean_bar, var_bar)
            C_bar = means_bar.T * sets.gain - 2 * variances_bar.T * C * sets.inverse_s
            G_bar = 2 * variances_bar.T * G * sets.own - means_bar.T * sets.left
            near_bar = self._from_columns(G_bar) - C_bar @ sets.T
            return (
                pull_inner(central_mean, central_var)
                + pull_near.inputs(near_bar)[0]
                + pull_far.inputs(C_bar)[0]
            )

        return mean, var, pull_back

    def _against_columns(self, near: Matrix) -> Matrix:
        """kᵀb for every point and set, `(m, J)`."""
        chol = self.inner.chol
        return solve_upper(chol, solve_lower(chol, near.T)).T @ self.sets.rows.T

    def _from_columns(self, bar: Matrix) -> Matrix:
        chol = self.inner.chol
        return solve_upper(chol, solve_lower(chol, (bar @ self.sets.rows).T)).T
