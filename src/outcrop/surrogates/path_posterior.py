"""What processes in the leaves of a conditional space believe, see `path_gp`.

`m` points, `V` features, `n_p` observations in a leaf. With t(x) = z(x) − A_pᵀ L_p⁻¹ k_p(x), the
features that the leaf's own process does not explain away [Jenatton et al. 2017, section 3.2]:

    mean = b + k_pᵀ M_p⁻¹ (y_p − b) + tᵀ Λ⁻¹ f,    var = k_p(x, x) − |L_p⁻¹ k_p|² + tᵀ Λ⁻¹ t
"""

from __future__ import annotations

__all__ = ["Leaf", "PathPosterior", "TreePath"]

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError, ShapeError
from outcrop.kernels import Within
from outcrop.kernels.branch_features import BranchFeatures
from outcrop.kernels.within import holding
from outcrop.linalg import Indices, append_rows, cholesky, solve_lower, solve_upper
from outcrop.surrogates.base import PredictionPull
from outcrop.surrogates.gp import EXACT_NOISE, GP, VAR_FLOOR
from outcrop.surrogates.paths import SamplePath
from outcrop.typing import Matrix, Points, Rng, Vector

if TYPE_CHECKING:
    from outcrop.surrogates.path_gp import PathData, PathGP

SAYS_NOTHING = 1e12  # noise variance of an observation that stands for none


@dataclass(frozen=True, eq=False)
class Leaf:
    """The data of one leaf, factorised."""

    kernel: Within
    data: Observations
    Z: Matrix  # (n_p, V)
    chol: Matrix  # L_p
    A: Matrix  # L_p⁻¹ Z_p
    white: Vector  # L_p⁻¹ (y_p − b)
    jitter: float

    @classmethod
    def of(
        cls,
        kernel: Within,
        data: Observations,
        Z: Matrix,
        chol: Matrix,
        mean: float,
        jitter: float,
    ) -> Leaf:
        A, white = solve_lower(chol, Z), solve_lower(chol, data.y - mean)
        return cls(kernel, data, Z, chol, A, white, jitter)

    @classmethod
    def empty(cls, kernel: Within, data: PathData) -> Leaf:
        none = np.zeros((0, data.features))
        own = Observations(np.zeros((0, data.data.dimension)), np.zeros(0))
        return cls(kernel, own, none, np.zeros((0, 0), order="F"), none, np.zeros(0), 0.0)

    def cross(self, X: Points) -> tuple[Matrix, Callable[[Matrix], Points]]:
        """L_p⁻¹ k_p at the rows of `X`, `(n_p, m)`, and how a gradient travels back to `X`."""
        if not len(self.data):
            return np.zeros((0, len(X))), lambda bar: np.zeros_like(X)
        K, pull = self.kernel.kernel.on(self.data.against(X))

        def back(V_bar: Matrix) -> Points:
            return pull.inputs(np.ascontiguousarray(solve_upper(self.chol, V_bar).T))[0]

        return solve_lower(self.chol, K.T), back

    def grown(self, X: Points, y: Vector, Z: Matrix, noise: float, mean: float) -> Leaf:
        """The leaf once it has seen more, in O(n_p²) a row."""
        inner = self.kernel.kernel
        corner = inner.gram(X)
        corner[np.diag_indices(len(X))] += noise + self.jitter
        cross = inner.on(self.data.against(X))[0] if len(self.data) else np.zeros((len(X), 0))
        chol, jitter = append_rows(self.chol, cross, corner)
        data, jitter = self.data.append(X, y), max(self.jitter, jitter)
        return Leaf.of(self.kernel, data, np.vstack([self.Z, Z]), chol, mean, jitter)


@dataclass(frozen=True, eq=False)
class PathPosterior:
    """A process in each leaf and what they share, once data were seen; made by `PathGP`."""

    model: PathGP
    data: Observations
    leaves: tuple[Leaf, ...]
    chol: Matrix  # of Λ, (V, V)
    weights: Vector  # Λ⁻¹ f, (V,)

    @classmethod
    def of(cls, model: PathGP, data: Observations, leaves: tuple[Leaf, ...]) -> PathPosterior:
        size = leaves[0].Z.shape[1]
        precision, f = np.zeros((size, size)), np.zeros(size)
        for leaf in leaves:
            if len(leaf.data):
                precision += leaf.A.T @ leaf.A
                f += leaf.A.T @ leaf.white
        if model.shared is not None:
            precision[np.diag_indices(size)] += 1 / model.shared.variance
        chol, _ = cholesky(precision)
        return cls(model, data, leaves, chol, solve_upper(chol, solve_lower(chol, f)))

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        """Mean and variance of the latent function at each row of `X`."""
        mean, var = np.empty((2, len(X)))
        Z = self.features_at(X)
        for leaf, rows in self.grouped(X):
            own = self.leaves[leaf]
            V, _ = own.cross(X[rows])
            T = Z[rows] - V.T @ own.A
            mean[rows] = self.model.mean + own.white @ V + T @ self.weights
            var[rows] = self._variance(own, X[rows], V, solve_lower(self.chol, T.T))
        return mean, var

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        mean, var = np.empty((2, len(X)))
        Z = self.features_at(X)
        pulls: list[tuple[Indices, Callable[[Vector, Vector], tuple[Points, Matrix]]]] = []
        for leaf, rows in self.grouped(X):
            mean[rows], var[rows], pull = self._of_leaf(self.leaves[leaf], X[rows], Z[rows])
            pulls.append((rows, pull))

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            X_bar, Z_bar = np.zeros_like(X), np.zeros_like(Z)
            for rows, pull in pulls:
                X_bar[rows], Z_bar[rows] = pull(mean_bar[rows], var_bar[rows])
            features = self.model.features
            return X_bar if features is None else X_bar + features.pull(X, Z_bar)

        return mean, var, pull_back

    def _of_leaf(
        self, own: Leaf, X: Points, Z: Matrix
    ) -> tuple[Vector, Vector, Callable[[Vector, Vector], tuple[Points, Matrix]]]:
        """Mean and variance in one leaf, and how gradients travel back to points and features."""
        V, back = own.cross(X)
        T = Z - V.T @ own.A
        half = solve_lower(self.chol, T.T)

        def pull(mean_bar: Vector, var_bar: Vector) -> tuple[Points, Matrix]:
            T_bar = np.multiply.outer(mean_bar, self.weights)
            T_bar += 2 * var_bar[:, None] * solve_upper(self.chol, half).T
            V_bar = np.multiply.outer(own.white, mean_bar) - 2 * V * var_bar - own.A @ T_bar.T
            return back(V_bar) + own.kernel.kernel.pull_diag(X, var_bar), T_bar

        mean = self.model.mean + own.white @ V + T @ self.weights
        return mean, self._variance(own, X, V, half), pull

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        """Mean `(m,)` and covariance `(m, m)` of the latent function at the rows of `X`."""
        mean, covariance = np.empty(len(X)), np.zeros((len(X), len(X)))
        T = self.features_at(X)
        for leaf, rows in self.grouped(X):
            own = self.leaves[leaf]
            V, _ = own.cross(X[rows])
            T[rows] -= V.T @ own.A
            mean[rows] = self.model.mean + own.white @ V + T[rows] @ self.weights
            covariance[np.ix_(rows, rows)] = own.kernel.kernel.gram(X[rows]) - V.T @ V
        half = solve_lower(self.chol, T.T)
        return mean, covariance + half.T @ half

    def predict_levels(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        """Mean and variance of b + zᵀc, a way without its leaf's own process, with pullback."""
        Z = self.features_at(X)
        half = solve_lower(self.chol, Z.T)

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            Z_bar = np.multiply.outer(mean_bar, self.weights)
            Z_bar += 2 * var_bar[:, None] * solve_upper(self.chol, half).T
            features = self.model.features
            return np.zeros_like(X) if features is None else features.pull(X, Z_bar)

        return self.model.mean + Z @ self.weights, np.einsum("vm,vm->m", half, half), pull_back

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """`n` exact joint draws at the rows of `X`, `(n, m)`."""
        mean, covariance = self.predict_joint(X)
        chol, _ = cholesky(covariance + VAR_FLOOR * np.diag(self._prior(X)))
        return mean + rng.standard_normal((n, len(X))) @ chol.T

    def sample_path(self, rng: Rng, features: int = 512) -> TreePath:
        """One draw as a function: weights by their posterior, then leaves given the weights."""
        draw = rng.standard_normal(len(self.weights))
        weights = self.weights + solve_upper(self.chol, draw)
        paths = []
        for leaf in self.leaves:
            gp = GP(leaf.kernel.kernel, self.model.noise)
            data = replace(leaf.data, y=leaf.data.y - self.model.mean - leaf.Z @ weights)
            if not len(data):
                nothing = np.zeros((1, self.data.dimension))
                data = Observations(nothing, np.zeros(1), np.array([SAYS_NOTHING]))
            paths.append(gp.condition(data).sample_path(rng, features))
        return TreePath(self, weights, tuple(paths))

    def condition(self, X: Points, y: Vector) -> PathPosterior:
        """The same processes once `y` is also believed at `X`; O(n_p²) a row and O(V³)."""
        data = self.data.append(X, y)
        new, values = data.X[len(self.data) :], data.y[len(self.data) :]
        Z, leaves = self.features_at(new), list(self.leaves)
        for i, rows in self.grouped(new):
            leaves[i] = leaves[i].grown(
                new[rows], values[rows], Z[rows], self.model.noise, self.model.mean
            )
        return PathPosterior.of(self.model, data, tuple(leaves))

    def leaf_of(self, X: Points) -> Indices:
        """The leaf that each row of `X` is in."""
        if X.ndim != 2 or X.shape[1] != self.data.dimension:
            raise ShapeError(f"expected X (m, {self.data.dimension}), got {X.shape}")
        inside = holding(self._conditions, X)
        if not inside.any(1).all():
            raise ModelError("points lie in no leaf of the model; make it for this space")
        return inside.argmax(1)

    def scales(self) -> Vector:
        """Over which length each coordinate changes the belief, `(d,)`."""
        each = [leaf.kernel.scales(self.data.dimension) for leaf in self.leaves]
        return np.min(each, axis=0)

    def incumbent(self) -> float:
        """The lowest observation if they are exact, else the lowest posterior mean at the data."""
        exact = self.model.noise <= EXACT_NOISE * self._prior(self.data.X[:1])[0]
        if exact and (self.data.noise is None or not self.data.noise.any()):
            return float(self.data.y.min())
        return float(self.predict(self.data.X)[0].min())

    @property
    def log_likelihood(self) -> float:
        return self.model.log_likelihood(self.data)

    @cached_property
    def _conditions(self) -> list[tuple[tuple[int, int], ...]]:
        return [leaf.kernel.conditions for leaf in self.leaves]

    def features_at(self, X: Points) -> Matrix:
        """z at each row of `X`, `(m, V)`."""
        features = self.model.features
        return np.zeros((len(X), 0)) if features is None else features.values(X)

    def grouped(self, X: Points) -> Iterator[tuple[int, Indices]]:
        """Each leaf that rows of `X` are in, with those rows."""
        leaf = self.leaf_of(X)
        for i in np.unique(leaf).tolist():
            yield i, np.flatnonzero(leaf == i)

    def _prior(self, X: Points) -> Vector:
        return self.model.kernel.diag(X)

    def _variance(self, own: Leaf, X: Points, V: Matrix, half: Matrix) -> Vector:
        prior = own.kernel.kernel.diag(X)
        var = prior - np.einsum("nm,nm->m", V, V) + np.einsum("vm,vm->m", half, half)
        return np.maximum(var, VAR_FLOOR * prior)


@dataclass(frozen=True, eq=False)
class TreePath:
    """One function; `path(X)` is `(m,)`."""

    posterior: PathPosterior
    weights: Vector
    paths: tuple[SamplePath, ...]

    def __call__(self, X: Points) -> Vector:
        values = self.posterior.model.mean + self.posterior.features_at(X) @ self.weights
        for leaf, rows in self.posterior.grouped(X):
            values[rows] += self.paths[leaf](X[rows])
        return values

    def gradient(self, X: Points) -> Points:
        """∇f at each row of `X`, `(m, d)`."""
        features: BranchFeatures | None = self.posterior.model.features
        gradients = np.zeros_like(X)
        if features is not None:
            gradients += features.pull(X, np.tile(self.weights, (len(X), 1)))
        for leaf, rows in self.posterior.grouped(X):
            gradients[rows] += self.paths[leaf].gradient(X[rows])
        return gradients
