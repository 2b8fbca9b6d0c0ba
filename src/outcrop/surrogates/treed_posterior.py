"""What a treed Gaussian process believes: in every leaf of a partition a process of its own.

`k` components, `m` points, `d` columns. Points are sorted into leaves first; nothing here is done
point by point.
"""

from __future__ import annotations

__all__ = ["TreedPath", "TreedPosterior", "TreedStack"]

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from outcrop.surrogates.base import PredictionPull
from outcrop.surrogates.gp import GPPosterior
from outcrop.surrogates.partition import Partition, Rows
from outcrop.surrogates.paths import SamplePath
from outcrop.surrogates.stack import Stack
from outcrop.typing import Matrix, Points, Rng, Vector


def grouped(partition: Partition, X: Points) -> Iterator[tuple[int, Rows]]:
    """Each leaf that rows of `X` fall into, with those rows."""
    leaf = partition.leaf_of(X)
    order = np.argsort(leaf, kind="stable")
    starts = np.flatnonzero(np.diff(leaf[order], prepend=-1))
    for rows in np.split(order, starts[1:]) if len(order) else ():
        yield int(leaf[rows[0]]), rows


@dataclass(frozen=True, eq=False)
class TreedPosterior:
    """A Gaussian process in each leaf, independent of all others given the hyperparameters."""

    partition: Partition
    leaves: tuple[GPPosterior, ...]

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        """Mean and variance of the latent function at each row of `X`, by the leaf it is in."""
        mean, var = np.empty((2, len(X)))
        for leaf, rows in grouped(self.partition, X):
            mean[rows], var[rows] = self.leaves[leaf].predict(X[rows])
        return mean, var

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        mean, var = np.empty((2, len(X)))
        pulls: list[tuple[Rows, PredictionPull]] = []
        for leaf, rows in grouped(self.partition, X):
            mean[rows], var[rows], pull = self.leaves[leaf].predict_with_pullback(X[rows])
            pulls.append((rows, pull))

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            X_bar = np.empty_like(X)
            for rows, pull in pulls:
                X_bar[rows] = pull(mean_bar[rows], var_bar[rows])
            return X_bar

        return mean, var, pull_back

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        """Mean `(m,)` and covariance `(m, m)`; points in different leaves do not covary."""
        mean, covariance = np.empty(len(X)), np.zeros((len(X), len(X)))
        for leaf, rows in grouped(self.partition, X):
            mean[rows], covariance[np.ix_(rows, rows)] = self.leaves[leaf].predict_joint(X[rows])
        return mean, covariance

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """`n` joint draws at the rows of `X`, `(n, m)`, independent from leaf to leaf."""
        draws = np.empty((n, len(X)))
        for leaf, rows in grouped(self.partition, X):
            draws[:, rows] = self.leaves[leaf].sample(X[rows], rng, n)
        return draws

    def sample_path(self, rng: Rng, features: int = 512) -> TreedPath:
        """One draw as a function, which jumps where leaves meet."""
        paths = tuple(leaf.sample_path(rng, features) for leaf in self.leaves)
        return TreedPath(self.partition, paths)

    def condition(self, X: Points, y: Vector) -> TreedPosterior:
        """The same tree once `y` is also believed at `X`; a leaf learns what lies in its box."""
        leaves = list(self.leaves)
        for leaf, rows in enumerate(self.partition.shares(X)):
            if len(rows):
                leaves[leaf] = leaves[leaf].condition(X[rows], np.asarray(y)[rows])
        return replace(self, leaves=tuple(leaves))

    def noise(self, X: Points) -> Vector:
        """The variance of the noise that each row of `X` would be observed through."""
        noises = np.array([leaf.model.noise for leaf in self.leaves])
        return noises[self.partition.leaf_of(X)]

    def incumbent(self) -> float:
        """The lowest of what leaves hold to be their lowest."""
        return min(leaf.incumbent() for leaf in self.leaves)

    def scales(self) -> Vector:
        """Over which length each coordinate changes the belief in a typical leaf, `(d,)`."""
        return np.median([leaf.scales() for leaf in self.leaves], axis=0)


@dataclass(frozen=True, eq=False)
class TreedPath:
    """One function; `path(X)` is `(m,)`."""

    partition: Partition
    paths: tuple[SamplePath, ...]

    def __call__(self, X: Points) -> Vector:
        values = np.empty(len(X))
        for leaf, rows in grouped(self.partition, X):
            values[rows] = self.paths[leaf](X[rows])
        return values

    def gradient(self, X: Points) -> Points:
        """∇f at each row of `X`, `(m, d)`, that of its leaf."""
        gradients = np.empty_like(X)
        for leaf, rows in grouped(self.partition, X):
            gradients[rows] = self.paths[leaf].gradient(X[rows])
        return gradients


@dataclass(frozen=True, eq=False)
class TreedStack:
    """The posteriors `TreedPosterior` × k on one partition as arrays, a `Stack` for each leaf."""

    partition: Partition
    stacks: tuple[Stack, ...]
    size: int  # k

    @classmethod
    def of(cls, posteriors: Sequence[object]) -> TreedStack | None:
        """The stack of `posteriors`, if they are treed, share their boxes and differ in numbers."""
        parts = [part for part in posteriors if isinstance(part, TreedPosterior)]
        if not parts or len(parts) < len(posteriors):
            return None
        first = parts[0].partition
        if not all(part.partition is first or part.partition.same_as(first) for part in parts[1:]):
            return None
        stacks = []
        for leaves in zip(*(part.leaves for part in parts), strict=True):
            stack = Stack.of(leaves)
            if stack is None:
                return None
            stacks.append(stack)
        return cls(first, tuple(stacks), len(parts))

    def predict(self, X: Points) -> tuple[Matrix, Matrix]:
        """Means and variances, `(k, m)`."""
        means, variances = np.empty((2, self.size, len(X)))
        for leaf, rows in grouped(self.partition, X):
            means[:, rows], variances[:, rows] = self.stacks[leaf].predict(X[rows])
        return means, variances

    def predict_with_pullback(
        self, X: Points
    ) -> tuple[Matrix, Matrix, Callable[[Matrix, Matrix], Points]]:
        """The same, and how gradients `(k, m)` in them travel back to `X`."""
        means, variances = np.empty((2, self.size, len(X)))
        pulls: list[tuple[Rows, Callable[[Matrix, Matrix], Points]]] = []
        for leaf, rows in grouped(self.partition, X):
            own = self.stacks[leaf].predict_with_pullback(X[rows])
            means[:, rows], variances[:, rows], pull = own
            pulls.append((rows, pull))

        def pull_back(mean_bar: Matrix, var_bar: Matrix) -> Points:
            X_bar = np.empty_like(X)
            for rows, pull in pulls:
                X_bar[rows] = pull(mean_bar[:, rows], var_bar[:, rows])
            return X_bar

        return means, variances, pull_back
