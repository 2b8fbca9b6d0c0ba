"""Leafwise posteriors: each leaf of a divided space has a Gaussian process of its own.

Leaves may share linear effects zᵀc, c ~ N(0, σ² I), of features z(x) [Jenatton et al. 2017]. `m`
points, `V` features, `n_p` observations in leaf p. With K_p + noise = L_p L_pᵀ, Z_p the features at
a leaf's data, A_p = L_p⁻¹ Z_p and w_p = L_p⁻¹ (y_p − b), the effects are c | y ~ N(Λ⁻¹ f, Λ⁻¹) with

    Λ = I/σ² + Σ_p A_pᵀ A_p,    f = Σ_p A_pᵀ w_p,

and with t(x) = z(x) − A_pᵀ L_p⁻¹ k_p(x), the features beyond what the leaf's own process explains
[ibid., section 3.2],

    mean = b + k_pᵀ (K_p + noise)⁻¹ (y_p − b) + tᵀ Λ⁻¹ f,
    var = k_p(x, x) − |L_p⁻¹ k_p|² + tᵀ Λ⁻¹ t.
"""

from __future__ import annotations

__all__ = ["LeafwiseDraw", "LeafwisePosterior", "SharedEffects", "leaf_by_leaf"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.kernels import BranchFeatures
from outcrop.linalg import Indices, cholesky, solve_lower, solve_upper
from outcrop.short_repr import short_repr
from outcrop.surrogates.base import PredictionPull
from outcrop.surrogates.division import Division
from outcrop.surrogates.gp import VAR_FLOOR, GPPosterior
from outcrop.typing import Draw, Matrix, Points, Rng, Vector

# Gradients in means and variances to those in points and in features.
LeafPull: TypeAlias = Callable[[Matrix, Matrix], tuple[Points, Matrix]]
OfLeaf: TypeAlias = Callable[[int, Points, Matrix], tuple[Matrix, Matrix, LeafPull]]

UNINFORMATIVE = 1e12  # noise variance of the placeholder for a leaf without observations


@dataclass(frozen=True, eq=False)
class SharedEffects:
    """Linear effects that all leaves share, given the data of all leaves."""

    features: BranchFeatures
    variance: float  # σ²
    Z: tuple[Matrix, ...]  # of each leaf, (n_p, V)
    A: tuple[Matrix, ...]  # of each leaf, L_p⁻¹ Z_p
    white: tuple[Vector, ...]  # of each leaf, w_p
    chol: Matrix  # of Λ, (V, V)
    weights: Vector  # Λ⁻¹ f, (V,)

    @classmethod
    def of(
        cls,
        features: BranchFeatures,
        variance: float,
        leaves: Sequence[GPPosterior],
        Z: Sequence[Matrix],
    ) -> SharedEffects:
        A = [solve_lower(leaf.chol, own) for leaf, own in zip(leaves, Z, strict=True)]
        white = [solve_lower(leaf.chol, leaf.data.y - leaf.model.mean) for leaf in leaves]
        size = Z[0].shape[1]
        precision, f = np.zeros((size, size)), np.zeros(size)
        for own, w in zip(A, white, strict=True):
            precision += own.T @ own
            f += own.T @ w
        precision[np.diag_indices(size)] += 1 / variance
        chol, _ = cholesky(precision)
        weights = solve_upper(chol, solve_lower(chol, f))
        return cls(features, variance, tuple(Z), tuple(A), tuple(white), chol, weights)

    def predict(self, Z: Matrix) -> tuple[Vector, Vector, Callable[[Vector, Vector], Matrix]]:
        """Mean and variance of zᵀc at the rows of `Z`, and how gradients travel back to `Z`."""
        half = solve_lower(self.chol, Z.T)

        def pull(mean_bar: Vector, var_bar: Vector) -> Matrix:
            Z_bar = np.multiply.outer(mean_bar, self.weights)
            Z_bar += 2 * var_bar[:, None] * solve_upper(self.chol, half).T
            return Z_bar

        return Z @ self.weights, np.einsum("vm,vm->m", half, half), pull

    def draw(self, rng: Rng) -> EffectsDraw:
        drawn = solve_upper(self.chol, rng.standard_normal(len(self.weights)))
        return EffectsDraw(self.features, self.weights + drawn)


@dataclass(frozen=True, eq=False)
class LeafwisePosterior:
    """A Gaussian process in each leaf, independent of the others except for shared effects."""

    division: Division
    leaves: tuple[GPPosterior, ...]
    shared: SharedEffects | None = None

    __repr__ = short_repr

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        """Mean and variance of the latent function at each row of `X`, by the leaf it is in."""
        return self.predict_with_pullback(X)[:2]

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        features = None if self.shared is None else self.shared.features
        return leaf_by_leaf(self.division, features, X, self._of_leaf)

    def _of_leaf(self, leaf: int, X: Points, Z: Matrix) -> tuple[Vector, Vector, LeafPull]:
        """Mean and variance in one leaf, and how gradients travel back to points and features."""
        own = self.leaves[leaf]
        if self.shared is None:
            mean, var, pull_inner = own.predict_with_pullback(X)
            return mean, var, lambda mean_bar, var_bar: (pull_inner(mean_bar, var_bar), Z)
        A, white = self.shared.A[leaf], self.shared.white[leaf]
        V, back = own.whitened(X)
        effect, spread, pull_effect = self.shared.predict(Z - V.T @ A)
        prior = own.model.kernel.diag(X)

        def pull(mean_bar: Vector, var_bar: Vector) -> tuple[Points, Matrix]:
            T_bar = pull_effect(mean_bar, var_bar)
            V_bar = np.multiply.outer(white, mean_bar) - 2 * V * var_bar - A @ T_bar.T
            return back(V_bar) + own.model.kernel.pull_diag(X, var_bar), T_bar

        var = prior - np.einsum("nm,nm->m", V, V) + spread
        mean = own.model.mean + white @ V + effect
        return mean, np.maximum(var, VAR_FLOOR * prior), pull

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        """Mean `(m,)` and covariance `(m, m)`; leaves covary through shared effects only."""
        mean, covariance = np.empty(len(X)), np.zeros((len(X), len(X)))
        T = features_at(None if self.shared is None else self.shared.features, X)
        for leaf, rows in self.division.grouped(X):
            own, block = self.leaves[leaf], np.ix_(rows, rows)
            if self.shared is None:
                mean[rows], covariance[block] = own.predict_joint(X[rows])
                continue
            V, _ = own.whitened(X[rows])
            T[rows] -= V.T @ self.shared.A[leaf]
            mean[rows] = (
                own.model.mean + self.shared.white[leaf] @ V + T[rows] @ self.shared.weights
            )
            covariance[block] = own.model.kernel.gram(X[rows]) - V.T @ V
        if self.shared is not None:
            half = solve_lower(self.shared.chol, T.T)
            covariance += half.T @ half
        return mean, covariance

    def predict_levels(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        """Mean and variance of b + zᵀc, without the leaves' own processes, with pullback."""
        if self.shared is None:
            raise ModelError("leaves that share no effects have no common level")
        features = self.shared.features
        level, var, pull = self.shared.predict(features.values(X))

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            return features.pull(X, pull(mean_bar, var_bar))

        return self.leaves[0].model.mean + level, var, pull_back

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """`n` joint draws at the rows of `X`, `(n, m)`."""
        if self.shared is None:
            draws = np.empty((n, len(X)))
            for leaf, rows in self.division.grouped(X):
                draws[:, rows] = self.leaves[leaf].sample(X[rows], rng, n)
            return draws
        mean, covariance = self.predict_joint(X)
        prior = self.shared.variance * np.square(self.shared.features.values(X)).sum(1)
        for leaf, rows in self.division.grouped(X):
            prior[rows] += self.leaves[leaf].model.kernel.diag(X[rows])
        chol, _ = cholesky(covariance + VAR_FLOOR * np.diag(prior))
        return mean + rng.standard_normal((n, len(X))) @ chol.T

    def draw(self, rng: Rng, features: int = 512) -> LeafwiseDraw:
        """One draw: effects from their posterior, then the leaves given the effects."""
        if self.shared is None:
            draws = tuple(leaf.draw(rng, features) for leaf in self.leaves)
            return LeafwiseDraw(self.division, draws)
        effects = self.shared.draw(rng)
        own: list[Draw] = []
        for leaf, Z in zip(self.leaves, self.shared.Z, strict=True):
            rest = replace(leaf.data, y=leaf.data.y - Z @ effects.weights)
            if not len(rest):
                nothing = np.zeros((1, rest.dimension))
                rest = Observations(nothing, np.zeros(1), np.array([UNINFORMATIVE]))
            own.append(leaf.model.condition(rest).draw(rng, features))
        return LeafwiseDraw(self.division, tuple(own), effects)

    def condition(self, X: Points, y: Vector) -> LeafwisePosterior:
        """The same leaves once `y` is also believed at `X`; O(n_p²) a row, and O(V³)."""
        leaves, y = list(self.leaves), np.asarray(y)
        Z = [] if self.shared is None else list(self.shared.Z)
        for leaf, rows in enumerate(self.division.shares(X)):
            if len(rows):
                leaves[leaf] = leaves[leaf].condition(X[rows], y[rows])
                if self.shared is not None:
                    Z[leaf] = np.vstack([Z[leaf], self.shared.features.values(X[rows])])
        shared = self.shared
        if shared is not None:
            shared = SharedEffects.of(shared.features, shared.variance, leaves, Z)
        return replace(self, leaves=tuple(leaves), shared=shared)

    def noise_at(self, X: Points) -> Vector:
        """The noise variance of an observation at each row of `X`."""
        noises = np.array([leaf.model.noise for leaf in self.leaves])
        return noises[self.division.leaf_of(X)]

    def incumbent(self) -> float:
        """The lowest of the leaves' incumbents."""
        known = [leaf for leaf in self.leaves if len(leaf.data)]
        if self.shared is None:
            return min(leaf.incumbent() for leaf in known)
        lowest = []
        for leaf in known:
            first = leaf.data.X[:1]
            effects = self.shared.variance * np.square(self.shared.features.values(first)).sum()
            is_exact = leaf.is_exact(float(effects + leaf.model.kernel.diag(first)[0]))
            means = leaf.data.y if is_exact else self.predict(leaf.data.X)[0]
            lowest.append(float(means.min()))
        return min(lowest)

    def best_leaf(self) -> int:
        """The leaf with the lowest observation."""
        return int(np.argmin([leaf.data.y.min(initial=np.inf) for leaf in self.leaves]))

    def scales(self) -> Vector:
        """The lengthscale of each coordinate, `(d,)`."""
        return self.division.typical(np.array([leaf.scales() for leaf in self.leaves]))


@dataclass(frozen=True, eq=False)
class EffectsDraw:
    """Shared effects at drawn weights: zᵀc as a function."""

    features: BranchFeatures
    weights: Vector  # c, (V,)

    def __call__(self, X: Points) -> Vector:
        return self.features.values(X) @ self.weights

    def gradient(self, X: Points) -> Points:
        return self.features.pull(X, np.tile(self.weights, (len(X), 1)))


@dataclass(frozen=True, eq=False)
class LeafwiseDraw:
    """A draw in every leaf plus drawn shared effects; it may jump where leaves meet."""

    division: Division
    leaves: tuple[Draw, ...]
    effects: EffectsDraw | None = None

    def __call__(self, X: Points) -> Vector:
        values = np.zeros(len(X)) if self.effects is None else self.effects(X)
        for leaf, rows in self.division.grouped(X):
            values[rows] += self.leaves[leaf](X[rows])
        return values

    def gradient(self, X: Points) -> Points:
        gradients = np.zeros_like(X) if self.effects is None else self.effects.gradient(X)
        for leaf, rows in self.division.grouped(X):
            gradients[rows] += self.leaves[leaf].gradient(X[rows])
        return gradients


def features_at(features: BranchFeatures | None, X: Points) -> Matrix:
    """z at each row of `X`, `(m, V)`; no columns without shared effects."""
    return np.zeros((len(X), 0)) if features is None else features.values(X)


def leaf_by_leaf(
    division: Division,
    features: BranchFeatures | None,
    X: Points,
    of_leaf: OfLeaf,
    lead: tuple[int, ...] = (),
) -> tuple[Matrix, Matrix, Callable[[Matrix, Matrix], Points]]:
    """Means and variances `(*lead, m)`, each in its leaf, and how gradients travel back to `X`."""
    means, variances = np.empty((2, *lead, len(X)))
    Z = features_at(features, X)
    pulls: list[tuple[Indices, LeafPull]] = []
    for leaf, rows in division.grouped(X):
        means[..., rows], variances[..., rows], pull = of_leaf(leaf, X[rows], Z[rows])
        pulls.append((rows, pull))

    def pull_back(mean_bar: Matrix, var_bar: Matrix) -> Points:
        X_bar, Z_bar = np.zeros_like(X), np.zeros_like(Z)
        for rows, pull in pulls:
            X_bar[rows], Z_bar[rows] = pull(mean_bar[..., rows], var_bar[..., rows])
        return X_bar if features is None else X_bar + features.pull(X, Z_bar)

    return means, variances, pull_back
