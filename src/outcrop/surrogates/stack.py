"""Many Gaussian processes on the same points, predicted from at once.

The components of a mixture of chains differ in hyperparameters only. Stacked kernels are evaluated
in one call, so that Python's overhead is paid once instead of k times. Factors are `(k, n, n)`,
covariances `(k, m, n)`.
"""

from __future__ import annotations

__all__ = ["Stack"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass

import numpy as np

from outcrop.data import Observations, Pairs
from outcrop.errors import ShapeError
from outcrop.kernels.base import Kernel
from outcrop.linalg import inverse_factor
from outcrop.params import stacked
from outcrop.surrogates.gp import VAR_FLOOR, GPPosterior
from outcrop.typing import Matrix, Points, Vector

CACHED_NUMBERS = 50_000  # of covariances at a time: a few such arrays stay in a core's own cache


@dataclass(frozen=True, eq=False)
class Stack:
    """The posteriors `GPPosterior` × k as arrays."""

    data: Observations  # stands for the data of all
    kernel: Kernel  # numbers with a leading axis
    mean: Vector  # (k, 1)
    alpha: Matrix  # (k, n, 1)
    inverse: Matrix  # (k, n, n), L⁻ᵀ

    @classmethod
    def of(cls, posteriors: Sequence[object]) -> Stack | None:
        """The stack of Gaussian processes of one structure on the same points; else None."""
        parts = [part for part in posteriors if isinstance(part, GPPosterior)]
        if not parts or len(parts) < len(posteriors):
            return None
        kernels = [part.model.kernel for part in parts]
        data = parts[0].data.alike([part.data for part in parts])
        if data is None or not all(_built_alike(kernels[0], kernel) for kernel in kernels[1:]):
            return None
        return cls(
            data,
            stacked(kernels),
            np.array([[part.model.mean] for part in parts]),
            np.stack([part.alpha for part in parts])[:, :, None],
            np.stack([inverse_factor(part.chol).T for part in parts]),
        )

    def predict(self, X: Points) -> tuple[Matrix, Matrix]:
        """Means and variances, `(k, m)`."""
        means, variances = np.empty((2, len(self.mean), len(X)))
        rows = max(CACHED_NUMBERS // max(self.alpha.size, 1), 1)
        for start in range(0, len(X), rows):
            part = slice(start, start + rows)
            cross = self.kernel.on(self._pairs(X[part]))[0]
            means[:, part] = self._mean(cross)
            variances[:, part] = self._variance(X[part], cross @ self.inverse)
        return means, variances

    def predict_with_pullback(
        self, X: Points
    ) -> tuple[Matrix, Matrix, Callable[[Matrix, Matrix], Points]]:
        """The same, and how gradients `(k, m)` in them travel back to `X`."""
        cross, pull = self.kernel.on(self._pairs(X))
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

    def _pairs(self, X: Points) -> Pairs:
        if X.ndim != 2 or X.shape[1] != self.data.dimension:
            raise ShapeError(f"expected X (m, {self.data.dimension}), got {X.shape}")
        return self.data.against(X)


def _built_alike(one: object, other: object) -> bool:
    """Whether two kernels differ in their numbers only, and so can be stacked."""
    if isinstance(one, float):
        return isinstance(other, float)
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_built_alike, one, other))
    if is_dataclass(one):
        names = [field.name for field in fields(one)]
        return all(_built_alike(getattr(one, name), getattr(other, name)) for name in names)
    return one is other or repr(one) == repr(other)
