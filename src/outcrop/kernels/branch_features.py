"""Features of the branch of a conditional space that a configuration lies on.

Every node of the tree has a level and features of its parameters, which all branches through the
node share. A configuration has those of the nodes on its branch, and zeros for others
[Jenatton et al. 2017, section 2.4]:

    z(x) = [1[x passes v] · (1, φ(numbers of v), one-hot(categories of v))] over all nodes v

With weights c ~ N(0, σ²) for all features, zᵀc has the covariance σ² z(x)ᵀ z(x').
"""

from __future__ import annotations

__all__ = ["Basis", "Fourier", "Level", "Linear", "BranchFeatures"]

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from outcrop.data import Pairs, Triangle
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull
from outcrop.kernels.within import holding
from outcrop.typing import Conditions, Indices, Matrix, Points, Rng, Vector

LENGTHSCALE = 0.3  # of the effects that random Fourier features represent

Shared: TypeAlias = tuple[Conditions, tuple[int, ...], tuple[tuple[int, int], ...]]


class Basis(ABC):
    """A map from the numbers of a node to features; `R` is `(n, d)`."""

    @abstractmethod
    def size(self, dimension: int) -> int:
        """The number of features."""

    @abstractmethod
    def values(self, R: Points) -> Matrix:
        """The features, `(n, size)`."""

    @abstractmethod
    def pull(self, R: Points, bar: Matrix) -> Points:
        """The gradient in `R` from that in the features."""


@dataclass(frozen=True)
class Level(Basis):
    """No features: a node has a level only, whatever the values of its parameters."""

    def size(self, dimension: int) -> int:
        return 0

    def values(self, R: Points) -> Matrix:
        return np.zeros((len(R), 0))

    def pull(self, R: Points, bar: Matrix) -> Points:
        return np.zeros_like(R)


@dataclass(frozen=True)
class Linear(Basis):
    """The numbers themselves: shared effects are straight lines."""

    def size(self, dimension: int) -> int:
        return dimension

    def values(self, R: Points) -> Matrix:
        return R

    def pull(self, R: Points, bar: Matrix) -> Points:
        return bar


@dataclass(frozen=True)
class Fourier(Basis):
    """φ(r) = √(2/count) cos(Wᵀr + phases): shared effects of any shape [Rahimi & Recht 2007].

    The frequencies W are those of an RBF kernel of lengthscale 0.3, drawn by `seed`.
    """

    count: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if type(self.count) is not int or self.count < 1:
            raise ModelError(f"Fourier(count={self.count!r}): expected a whole number above 0")

    def size(self, dimension: int) -> int:
        return self.count if dimension else 0

    def values(self, R: Points) -> Matrix:
        W, phases = self._drawn(R.shape[1])
        return np.sqrt(2 / self.count) * np.cos(R @ W + phases)

    def pull(self, R: Points, bar: Matrix) -> Points:
        W, phases = self._drawn(R.shape[1])
        return (-np.sqrt(2 / self.count) * np.sin(R @ W + phases) * bar) @ W.T

    def _drawn(self, dimension: int) -> tuple[Matrix, Vector]:
        rng = np.random.default_rng([self.seed, dimension])
        W = rng.standard_normal((dimension, self.count)) / LENGTHSCALE
        return W, rng.uniform(0, 2 * np.pi, self.count)


@dataclass(frozen=True, eq=False)
class BranchFeatures(Kernel):
    """k = z(x)ᵀ z(x'): branches covary through the nodes that they share.

    A node is `(conditions, columns of numbers, ((column of a category, levels), …))`. With levels
    alone the kernel counts the nodes that two branches have in common [ibid., section 2.3].

        BranchFeatures((((), (1,), ()), (((0, 0),), (), ()), (((0, 1),), (), ())), Linear())
    """

    nodes: tuple[Shared, ...]
    basis: Basis

    @property
    def size(self) -> int:
        """The number of features."""
        return self._starts[-1]

    def values(self, X: Points) -> Matrix:
        """z at each row of `X`, `(n, size)`."""
        Z = np.zeros((len(X), self.size))
        inside = holding([conditions for conditions, _, _ in self.nodes], X)
        Z[:, self._starts[:-1]] = inside
        for i in self._richer:
            _, numbers, categories = self.nodes[i]
            start = self._starts[i] + 1
            rows = np.flatnonzero(inside[:, i])
            if not len(rows):
                continue
            if numbers:
                size = self.basis.size(len(numbers))
                R = X[np.ix_(rows, numbers)]
                Z[rows, start : start + size] = self.basis.values(R)
                start += size
            for column, levels in categories:
                Z[rows, start + X[rows, column].astype(np.intp)] = 1.0
                start += levels
        return Z

    def pull(self, X: Points, Z_bar: Matrix) -> Points:
        """The gradient in `X` from that in `values(X)`."""
        X_bar = np.zeros_like(X)
        inside = holding([conditions for conditions, _, _ in self.nodes], X)
        for i in self._richer:
            _, numbers, _ = self.nodes[i]
            rows = np.flatnonzero(inside[:, i])
            if len(rows) and numbers:
                start, at = self._starts[i] + 1, np.ix_(rows, numbers)
                bar = Z_bar[rows, start : start + self.basis.size(len(numbers))]
                X_bar[at] += self.basis.pull(X[at], bar)
        return X_bar

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        mapped = pairs.mapped(("branch features", id(self)), self.values)
        Z1, Z2 = mapped.X1, mapped.X2
        K = Z1 @ Z2.T
        if isinstance(pairs, Triangle):
            K = K[pairs.ends]

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            bar = K_bar if K_bar.ndim == 2 else K_bar.sum(0)
            return self.pull(pairs.X1, bar @ Z2), self.pull(pairs.X2, bar.T @ Z1)

        return K, Pull(lambda K_bar: self, inputs)

    def diag(self, X: Points) -> Vector:
        Z = self.values(X)
        return np.einsum("ij,ij->i", Z, Z)

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        bar = diag_bar if diag_bar.ndim == 1 else diag_bar.sum(0)
        return self.pull(X, 2 * bar[:, None] * self.values(X))

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        weights = rng.standard_normal((self.size, count))
        return FeatureMap(
            lambda X: self.values(X) @ weights, lambda X, bar: self.pull(X, bar @ weights.T)
        )

    @cached_property
    def _starts(self) -> list[int]:
        """Where the features of each node begin, and where those of the last end."""
        one_hot = not isinstance(self.basis, Level)
        sizes = [
            1
            + self.basis.size(len(numbers))
            + (sum(levels for _, levels in categories) if one_hot else 0)
            for _, numbers, categories in self.nodes
        ]
        return [0, *np.cumsum(sizes).tolist()]

    @cached_property
    def _richer(self) -> Indices:
        """Nodes that have more features than their level."""
        return np.flatnonzero(np.diff(self._starts) > 1)
