"""Many posteriors on the same points, predicted from at once.

The components of a mixture of chains differ in hyperparameters only. Stacked kernels are evaluated
in one call, so that Python's overhead is paid once instead of k times. Factors are `(k, n, n)`,
covariances `(k, m, n)`. Leafwise posteriors are stacked in every leaf; they have `V` features.
"""

from __future__ import annotations

__all__ = ["LeafwiseStack", "Stack", "can_be_stacked"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from outcrop.data import Observations
from outcrop.kernels import BranchFeatures, Kernel
from outcrop.linalg import inverse_factor, solve_lower
from outcrop.params import built_alike, stacked
from outcrop.surrogates.division import Division
from outcrop.surrogates.gp import VAR_FLOOR, GPPosterior
from outcrop.surrogates.leafwise import LeafPull, LeafwisePosterior, SharedEffects, leaf_by_leaf
from outcrop.typing import Matrix, Points, Vector

CACHED_NUMBERS = 50_000  # of covariances at a time: a few such arrays stay in a core's own cache
INVERTED_ROWS = 200  # in a leaf; factors of more are inverted only where gradients are wanted


@dataclass(frozen=True, eq=False)
class Stack:
    """The posteriors `GPPosterior` × k as arrays."""

    data: Observations  # stands for the data of all
    kernel: Kernel  # numbers with a leading axis
    mean: Vector  # (k, 1)
    alpha: Matrix  # (k, n, 1)
    factors: tuple[Matrix, ...]  # L of each, (n, n)

    @cached_property
    def inverse(self) -> Matrix:
        """L⁻ᵀ of each, `(k, n, n)`."""
        return np.stack([inverse_factor(chol).T for chol in self.factors])

    @classmethod
    def of(cls, posteriors: Sequence[object]) -> Stack | None:
        """The stack of Gaussian processes of one structure on the same points; else None."""
        parts = [part for part in posteriors if isinstance(part, GPPosterior)]
        if not parts or len(parts) < len(posteriors):
            return None
        kernels = [part.model.kernel for part in parts]
        data = parts[0].data.alike([part.data for part in parts])
        if data is None or not all(built_alike(kernels[0], kernel) for kernel in kernels[1:]):
            return None
        return cls(
            data,
            stacked(kernels),
            np.array([[part.model.mean] for part in parts]),
            np.stack([part.alpha for part in parts])[:, :, None],
            tuple(part.chol for part in parts),
        )

    def predict(self, X: Points) -> tuple[Matrix, Matrix]:
        """Means and variances, `(k, m)`."""
        means, variances = np.empty((2, len(self.mean), len(X)))
        rows = max(CACHED_NUMBERS // max(self.alpha.size, 1), 1)
        for start in range(0, len(X), rows):
            part = slice(start, start + rows)
            cross = self.kernel.on(self.data.against(X[part]))[0]
            means[:, part] = self._mean(cross)
            variances[:, part] = self._variance(X[part], cross @ self.inverse)
        return means, variances

    def predict_by_solves(self, X: Points) -> tuple[Matrix, Matrix]:
        """The same without inverse factors, which take longer than predictions at few points."""
        cross = self.kernel.on(self.data.against(X))[0]
        V = np.stack([solve_lower(L, k.T).T for L, k in zip(self.factors, cross, strict=True)])
        return self._mean(cross), self._variance(X, V)

    def predict_with_pullback(
        self, X: Points
    ) -> tuple[Matrix, Matrix, Callable[[Matrix, Matrix], Points]]:
        """The same, and how gradients `(k, m)` in them travel back to `X`."""
        cross, pull = self.kernel.on(self.data.against(X))
        V = cross @ self.inverse

        def pull_back(mean_bar: Matrix, var_bar: Matrix) -> Points:
            cross_bar = (V * (-2 * var_bar)[:, :, None]) @ np.swapaxes(self.inverse, 1, 2)
            cross_bar += mean_bar[:, :, None] * np.swapaxes(self.alpha, 1, 2)
            return pull.inputs(cross_bar)[0] + self.kernel.pull_diag(X, var_bar)

        return self._mean(cross), self._variance(X, V), pull_back

    def _mean(self, cross: Matrix) -> Matrix:
        return self.mean + (cross @ self.alpha)[:, :, 0]

    def _variance(self, X: Points, V: Matrix) -> Matrix:
        prior = self.kernel.diag(X)
        return np.maximum(prior - np.einsum("kmn,kmn->km", V, V), VAR_FLOOR * prior)


@dataclass(frozen=True, eq=False)
class _SharedStack:
    """The shared effects of every component."""

    features: BranchFeatures
    A: tuple[Matrix, ...]  # of each leaf, (k, n_p, V)
    white: tuple[Matrix, ...]  # of each leaf, (k, n_p, 1)
    inverse: Matrix  # (k, V, V), L⁻ᵀ of Λ
    weights: Matrix  # (k, V, 1)

    @classmethod
    def of(cls, effects: Sequence[SharedEffects]) -> _SharedStack:
        return cls(
            effects[0].features,
            tuple(np.stack(each) for each in zip(*(one.A for one in effects), strict=True)),
            tuple(
                np.stack(each)[:, :, None]
                for each in zip(*(one.white for one in effects), strict=True)
            ),
            np.stack([inverse_factor(one.chol).T for one in effects]),
            np.stack([one.weights for one in effects])[:, :, None],
        )


@dataclass(frozen=True, eq=False)
class LeafwiseStack:
    """The posteriors `LeafwisePosterior` × k as arrays, a `Stack` for each leaf."""

    division: Division
    leaves: tuple[Stack, ...]
    shared: _SharedStack | None
    size: int  # k

    @classmethod
    def of(cls, posteriors: Sequence[object]) -> LeafwiseStack | None:
        """The stack of leafwise posteriors that differ in numbers only; None for any others."""
        parts = [part for part in posteriors if isinstance(part, LeafwisePosterior)]
        if not parts or len(parts) < len(posteriors):
            return None
        division = parts[0].division
        if not all(p.division is division or p.division.same_as(division) for p in parts[1:]):
            return None
        effects = [part.shared for part in parts if part.shared is not None]
        if len(effects) not in (0, len(parts)):
            return None
        if any(one.features is not effects[0].features for one in effects[1:]):
            return None
        leaves = []
        for each in zip(*(part.leaves for part in parts), strict=True):
            stack = Stack.of(each)
            if stack is None:
                return None
            leaves.append(stack)
        shared = _SharedStack.of(effects) if effects else None
        return cls(division, tuple(leaves), shared, len(parts))

    def predict(self, X: Points) -> tuple[Matrix, Matrix]:
        """Means and variances, `(k, m)`."""
        if self.shared is not None:
            return self.predict_with_pullback(X)[:2]
        means, variances = np.empty((2, self.size, len(X)))
        for leaf, rows in self.division.grouped(X):
            own = self.leaves[leaf]
            predict = own.predict_by_solves if len(own.data) > INVERTED_ROWS else own.predict
            means[:, rows], variances[:, rows] = predict(X[rows])
        return means, variances

    def predict_with_pullback(
        self, X: Points
    ) -> tuple[Matrix, Matrix, Callable[[Matrix, Matrix], Points]]:
        """The same, and how gradients `(k, m)` in them travel back to `X`."""
        features = None if self.shared is None else self.shared.features
        return leaf_by_leaf(self.division, features, X, self._of_leaf, (self.size,))

    def _of_leaf(self, leaf: int, X: Points, Z: Matrix) -> tuple[Matrix, Matrix, LeafPull]:
        """Means and variances in a leaf, and how gradients travel to its points and features."""
        own, shared = self.leaves[leaf], self.shared
        if shared is None:
            means, variances, pull_inner = own.predict_with_pullback(X)
            return means, variances, lambda mean_bar, var_bar: (pull_inner(mean_bar, var_bar), Z)
        A, white = shared.A[leaf], shared.white[leaf]
        prior = own.kernel.diag(X)
        cross, back = own.kernel.on(own.data.against(X))
        V = cross @ own.inverse
        T = Z - V @ A
        half = T @ shared.inverse
        mean = own.mean + (V @ white)[:, :, 0] + (T @ shared.weights)[:, :, 0]
        var = prior - np.einsum("kmn,kmn->km", V, V) + np.einsum("kmv,kmv->km", half, half)

        def pull(mean_bar: Matrix, var_bar: Matrix) -> tuple[Points, Matrix]:
            mean_bar, var_bar = mean_bar[:, :, None], var_bar[:, :, None]
            T_bar = mean_bar * np.swapaxes(shared.weights, 1, 2)
            T_bar += 2 * var_bar * (half @ np.swapaxes(shared.inverse, 1, 2))
            V_bar = mean_bar * np.swapaxes(white, 1, 2) - 2 * V * var_bar
            V_bar -= T_bar @ np.swapaxes(A, 1, 2)
            X_bar = back.inputs(V_bar @ np.swapaxes(own.inverse, 1, 2))[0]
            return own.kernel.pull_diag(X, var_bar[:, :, 0]) + X_bar, T_bar.sum(0)

        return mean, np.maximum(var, VAR_FLOOR * prior), pull


def can_be_stacked(one: object, other: object) -> bool:
    """Whether two posteriors may be of one stack, as far as their models tell."""
    if isinstance(one, GPPosterior) and isinstance(other, GPPosterior):
        return type(one) is type(other) and built_alike(one.model.kernel, other.model.kernel)
    return type(one) is type(other)
