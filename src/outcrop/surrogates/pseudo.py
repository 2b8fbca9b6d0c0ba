"""The pseudo-likelihood of a leaf's hyperparameters: its own data count most, its ancestors' less.

The nodes from a leaf up to the root are numbered i = 0, 1, …; factor i holds the observations of
node i that node i − 1 does not, so that none is used twice. The factors are independent given θ:

    log p(θ | y) = log p(θ) + Σᵢ wᵢ log N(yᵢ; mean, K_θ(Xᵢ) + Σᵢ),    wᵢ = 2 / (1 + i)

[Assael et al. 2014, eqs. 8 to 10]. The weights sum to more than one, so this is no likelihood and
no evidence for a tree.
"""

from __future__ import annotations

__all__ = ["Ancestry", "AncestryTarget"]

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from outcrop.data import Observations, Triangle
from outcrop.linalg import Indices, packed_indices, packed_log_density
from outcrop.surrogates.gp import GP
from outcrop.surrogates.inferred import ModelTarget
from outcrop.typing import Vector


@dataclass(frozen=True, eq=False)
class Blocks(Triangle):
    """Each unordered pair of rows of one block, for several blocks of rows one after the other.

    One evaluation of a kernel then serves all factors of a pseudo-likelihood.
    """

    sizes: tuple[int, ...] = ()

    @cached_property
    def ends(self) -> tuple[Indices, Indices]:
        offsets = np.cumsum((0, *self.sizes[:-1]))
        ends = [packed_indices(n)[:2] for n in self.sizes]
        rows = [own[0] + offset for own, offset in zip(ends, offsets, strict=True)]
        columns = [own[1] + offset for own, offset in zip(ends, offsets, strict=True)]
        return np.concatenate(rows), np.concatenate(columns)


@dataclass(frozen=True, eq=False)
class Ancestry:
    """A leaf's data and those of its ancestors, each with a weight; the leaf comes first."""

    factors: tuple[Observations, ...]
    weights: Vector

    @classmethod
    def of(cls, factors: Sequence[Observations]) -> Ancestry:
        """With the weights of the source: 2, 1, 2/3, …"""
        return cls(tuple(factors), 2.0 / np.arange(1.0, len(factors) + 1.0))

    def log_likelihood(self, model: GP) -> float:
        """Σᵢ wᵢ log p(yᵢ | Xᵢ); −inf where a covariance cannot be factorised."""
        packed, _ = model.kernel.on(self._blocks)
        packed[self._diagonal] += model.noise if self._noise is None else model.noise + self._noise
        residual = self._y - model.mean
        total, pair, row = 0.0, 0, 0
        for factor, weight in zip(self.factors, self.weights.tolist(), strict=True):
            n = len(factor)
            pairs, rows = slice(pair, pair + n * (n + 1) // 2), slice(row, row + n)
            pair, row = pairs.stop, rows.stop
            if weight > 0:
                value = packed_log_density(packed[pairs], residual[rows])
                total += weight * (model.log_likelihood(factor) if value is None else value)
        return total

    @cached_property
    def _blocks(self) -> Blocks:
        X = np.concatenate([factor.X for factor in self.factors])
        return Blocks(X, X, sizes=tuple(map(len, self.factors)))

    @cached_property
    def _diagonal(self) -> Indices:
        sizes = np.array([len(factor) for factor in self.factors])
        offsets = np.cumsum(sizes * (sizes + 1) // 2) - sizes * (sizes + 1) // 2
        own = [packed_indices(int(n))[2] + offset for n, offset in zip(sizes, offsets, strict=True)]
        return np.concatenate(own)

    @cached_property
    def _y(self) -> Vector:
        return np.concatenate([factor.y for factor in self.factors])

    @cached_property
    def _noise(self) -> Vector | None:
        noises = [factor.noise for factor in self.factors if factor.noise is not None]
        return np.concatenate(noises) if noises else None


@dataclass(frozen=True, eq=False)
class AncestryTarget(ModelTarget):
    """The pseudo-posterior of a leaf's free slots; `data` are the leaf's own."""

    model: GP
    ancestry: Ancestry

    def log_likelihood(self, theta: Vector) -> float:
        return self.ancestry.log_likelihood(self.layout.bind(theta))  # type: ignore[arg-type]

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        model = self.layout.bind(theta)
        total, gradient = 0.0, np.zeros(self.dim)
        for factor, weight in zip(self.ancestry.factors, self.ancestry.weights, strict=True):
            value, model_bar = model.log_likelihood_with_gradient(factor)
            if value == -inf:
                return -inf, np.zeros(self.dim)
            total += float(weight) * value
            gradient += weight * self.layout.gradient(theta, model_bar)
        return total, gradient
