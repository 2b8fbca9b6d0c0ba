"""Many beliefs of processes in leaves on the same points, predicted from at once.

As `stack`, leaf by leaf: `k` components, `m` points, `V` features, `n_p` observations in a leaf.
"""

from __future__ import annotations

__all__ = ["PathStack"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from outcrop.data import Observations
from outcrop.kernels import Kernel
from outcrop.linalg import Indices, inverse_factor
from outcrop.params import stacked
from outcrop.surrogates.gp import VAR_FLOOR
from outcrop.surrogates.path_posterior import PathPosterior
from outcrop.typing import Matrix, Points

OfLeaf: TypeAlias = Callable[[Matrix, Matrix], tuple[Points, Matrix]]


@dataclass(frozen=True, eq=False)
class _Leaves:
    """One leaf in every component."""

    data: Observations  # stands for the data of all
    kernel: Kernel  # numbers with a leading axis
    inverse: Matrix  # (k, n_p, n_p), L⁻ᵀ
    A: Matrix  # (k, n_p, V)
    white: Matrix  # (k, n_p, 1)


@dataclass(frozen=True, eq=False)
class PathStack:
    """The posteriors `PathPosterior` × k as arrays."""

    first: PathPosterior  # knows the leaves and the features, which all have in common
    leaves: tuple[_Leaves, ...]
    mean: Matrix  # (k, 1)
    inverse: Matrix  # (k, V, V), L⁻ᵀ of Λ
    weights: Matrix  # (k, V, 1)

    @classmethod
    def of(cls, posteriors: Sequence[object]) -> PathStack | None:
        """The stack of `posteriors`, if they are of one tree and place and differ in numbers."""
        parts = [part for part in posteriors if isinstance(part, PathPosterior)]
        if not parts or len(parts) < len(posteriors):
            return None
        first = parts[0]
        if any(part.model.features is not first.model.features for part in parts):
            return None
        leaves = []
        for each in zip(*(part.leaves for part in parts), strict=True):
            data = each[0].data.alike([leaf.data for leaf in each])
            if data is None or any(
                one.kernel.conditions != each[0].kernel.conditions for one in each
            ):
                return None
            leaves.append(
                _Leaves(
                    data,
                    stacked([leaf.kernel.kernel for leaf in each]),
                    np.stack([inverse_factor(leaf.chol).T for leaf in each]),
                    np.stack([leaf.A for leaf in each]),
                    np.stack([leaf.white for leaf in each])[:, :, None],
                )
            )
        return cls(
            first,
            tuple(leaves),
            np.array([[part.model.mean] for part in parts]),
            np.stack([inverse_factor(part.chol).T for part in parts]),
            np.stack([part.weights for part in parts])[:, :, None],
        )

    def predict(self, X: Points) -> tuple[Matrix, Matrix]:
        """Means and variances, `(k, m)`."""
        means, variances = np.empty((2, len(self.mean), len(X)))
        Z = self.first.features_at(X)
        for leaf, rows in self.first.grouped(X):
            means[:, rows], variances[:, rows], _ = self._of_leaf(leaf, X[rows], Z[rows])
        return means, variances

    def predict_with_pullback(
        self, X: Points
    ) -> tuple[Matrix, Matrix, Callable[[Matrix, Matrix], Points]]:
        """The same, and how gradients `(k, m)` in them travel back to `X`."""
        means, variances = np.empty((2, len(self.mean), len(X)))
        Z = self.first.features_at(X)
        pulls: list[tuple[Indices, OfLeaf]] = []
        for leaf, rows in self.first.grouped(X):
            means[:, rows], variances[:, rows], pull = self._of_leaf(leaf, X[rows], Z[rows])
            pulls.append((rows, pull))

        def pull_back(mean_bar: Matrix, var_bar: Matrix) -> Points:
            X_bar, Z_bar = np.zeros_like(X), np.zeros_like(Z)
            for rows, pull in pulls:
                X_bar[rows], Z_bar[rows] = pull(mean_bar[:, rows], var_bar[:, rows])
            features = self.first.model.features
            return X_bar if features is None else X_bar + features.pull(X, Z_bar)

        return means, variances, pull_back

    def _of_leaf(self, leaf: int, X: Points, Z: Matrix) -> tuple[Matrix, Matrix, OfLeaf]:
        """Means and variances in a leaf, and how gradients travel to its points and features."""
        own = self.leaves[leaf]
        is_empty = not len(own.data)
        prior = own.kernel.diag(X)
        T, mean, var = np.broadcast_to(Z, (len(self.mean), *Z.shape)), self.mean, prior
        if not is_empty:
            cross, back = own.kernel.on(own.data.against(X))
            V = cross @ own.inverse
            T = T - V @ own.A
            mean = mean + (V @ own.white)[:, :, 0]
            var = var - np.einsum("kmn,kmn->km", V, V)
        half = T @ self.inverse
        mean = mean + (T @ self.weights)[:, :, 0]
        var = np.maximum(var + np.einsum("kmv,kmv->km", half, half), VAR_FLOOR * prior)

        def pull(mean_bar: Matrix, var_bar: Matrix) -> tuple[Points, Matrix]:
            mean_bar, var_bar = mean_bar[:, :, None], var_bar[:, :, None]
            T_bar = mean_bar * np.swapaxes(self.weights, 1, 2)
            T_bar += 2 * var_bar * (half @ np.swapaxes(self.inverse, 1, 2))
            X_bar = own.kernel.pull_diag(X, var_bar[:, :, 0])
            if not is_empty:
                V_bar = mean_bar * np.swapaxes(own.white, 1, 2) - 2 * V * var_bar
                V_bar -= T_bar @ np.swapaxes(own.A, 1, 2)
                X_bar = X_bar + back.inputs(V_bar @ np.swapaxes(own.inverse, 1, 2))[0]
            return X_bar, T_bar.sum(0)

        return mean, var, pull
