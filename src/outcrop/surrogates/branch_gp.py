"""Gaussian processes in the leaves of a conditional space, joined by linear effects they share.

A leaf is one branch p: an option for each of its choices. Its process g_p is independent of all
others, and a linear model of the nodes on the branch is added [Jenatton et al. 2017]:

    y = b + z(x)ᵀ c + g_p(x) + noise,    c ~ N(0, σ² I)

That is the process with the covariance σ² zᵀz' + 1[p = p'] K_p [ibid., eq. 4]. Given c, leaves are
independent. So with the notation of `leafwise`, the likelihood needs only A_pᵀA_p, A_pᵀw_p and
w_pᵀw_p of each leaf, and costs O(V³ + Σ n_p³) instead of O(n³).
"""

from __future__ import annotations

__all__ = ["BranchData", "BranchGP", "LeafData", "LeafFactor", "joined"]

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log
from typing import NamedTuple

import numpy as np

from outcrop.data import Observations, Pairs
from outcrop.errors import ModelError, NumericalError
from outcrop.kernels import BranchFeatures, Kernel, Scaled, Sum, Within
from outcrop.kernels.base import Pull
from outcrop.kernels.within import holding
from outcrop.linalg import (
    LOG_2PI,
    Indices,
    cholesky,
    inverse_lower,
    solve_lower,
    solve_upper,
)
from outcrop.params import require_at_least_0, shaped
from outcrop.surrogates.division import Branches
from outcrop.surrogates.gp import GP
from outcrop.surrogates.leafwise import LeafwisePosterior, SharedEffects
from outcrop.typing import Matrix, Vector


@dataclass(frozen=True, eq=False)
class LeafData:
    """The observations of one leaf, and their features."""

    rows: Indices  # in the order of all observations
    data: Observations
    used: Indices  # features that differ from 0 at some of its points
    Z: Matrix  # (n_p, len(used))


@dataclass(frozen=True, eq=False)
class BranchData:
    """Observations sorted into leaves; `leaves` has None for a leaf without observations."""

    data: Observations
    leaves: tuple[LeafData | None, ...]
    features: int

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def used(self) -> Indices:
        """Features that differ from 0 at some observation; of the others nothing is learnt."""
        some = [leaf.used for leaf in self.leaves if leaf is not None]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *some]))

    @cached_property
    def places(self) -> tuple[Indices | None, ...]:
        """The indices of each leaf's features among those used, then the index of its values."""
        return tuple(
            None if leaf is None else np.append(np.searchsorted(self.used, leaf.used), self.last)
            for leaf in self.leaves
        )

    @property
    def last(self) -> int:
        return len(self.used)


class LeafFactor(NamedTuple):
    """The Cholesky factor and the whitened data of a leaf."""

    chol: Matrix  # L_p
    white: Matrix  # [A_p, w_p], (n_p, features used + 1)
    products: Matrix  # whiteᵀ white
    log_root_determinant: float


@dataclass(frozen=True, eq=False)
class BranchGP:
    """A process for every leaf, and linear effects that all leaves share.

    `shared` is the covariance of zᵀc, None without shared effects; each of `leaves` is a kernel
    within one branch's conditions.
    """

    shared: Scaled | None
    leaves: tuple[Within, ...]
    noise: float = 0.0  # variance, added to each observation's own
    mean: float = 0.0

    def __post_init__(self) -> None:
        if self.shared is not None and not isinstance(self.shared.kernel, BranchFeatures):
            raise ModelError(
                f"BranchGP(shared={self.shared!r}): expected Scaled(variance, BranchFeatures(…)), "
                "or None to share nothing"
            )
        if not self.leaves:
            raise ModelError("BranchGP(leaves=()): expected a kernel for each branch")
        require_at_least_0(self, "noise")

    @property
    def features(self) -> BranchFeatures | None:
        return None if self.shared is None else self.shared.kernel  # type: ignore[return-value]

    @property
    def kernel(self) -> Kernel:
        """The covariance of the whole model as one kernel [ibid., eq. 4]."""
        return Sum(self.leaves if self.shared is None else (self.shared, *self.leaves))

    def sorted(self, data: Observations | BranchData) -> BranchData:
        """The observations by leaf; sorted ones are returned unchanged."""
        if isinstance(data, BranchData):
            return data
        Z = np.zeros((len(data), 0)) if self.features is None else self.features.values(data.X)
        inside = holding([leaf.conditions for leaf in self.leaves], data.X)
        if not (inside.sum(1) == 1).all():
            raise ModelError(
                "observations lie in no leaf of the model; make the model for this space"
            )
        leaves: list[LeafData | None] = []
        for one in inside.T:
            rows = np.flatnonzero(one)
            used = np.flatnonzero(Z[rows].any(0))
            own = LeafData(rows, data.rows(rows), used, Z[np.ix_(rows, used)])
            leaves.append(own if len(rows) else None)
        return BranchData(data, tuple(leaves), Z.shape[1])

    def condition(self, data: Observations | BranchData) -> LeafwisePosterior:
        sorted_ = self.sorted(data)
        none = Observations(np.zeros((0, sorted_.data.dimension)), np.zeros(0))
        leaves, features = [], []
        for kernel, own in zip(self.leaves, sorted_.leaves, strict=True):
            known = none if own is None else own.data
            leaves.append(GP(kernel.kernel, self.noise, self.mean).condition(known))
            Z = np.zeros((len(known), sorted_.features))
            if own is not None:
                Z[:, own.used] = own.Z
            features.append(Z)
        division = Branches(tuple(leaf.conditions for leaf in self.leaves), none.dimension)
        shared = None
        if self.features is not None:
            shared = SharedEffects.of(self.features, self.shared_variance, leaves, features)
        return LeafwisePosterior(division, tuple(leaves), shared)

    def log_likelihood(self, data: Observations | BranchData) -> float:
        """log p(y | X); −inf where a covariance cannot be factorised."""
        sorted_ = self.sorted(data)
        try:
            each = [self.factor(i, sorted_)[0] for i, _ in enumerate(self.leaves)]
            return joined(each, sorted_, self.shared_variance)[0]
        except NumericalError:
            return -inf

    def factor(self, leaf: int, data: BranchData) -> tuple[LeafFactor | None, Pull | None]:
        """The factor of a leaf with data, and how a gradient in its covariances travels back."""
        own = data.leaves[leaf]
        if own is None:
            return None, None
        return leaf_factor(self.leaves[leaf].kernel, own, self.noise, self.mean)

    def log_likelihood_with_gradient(
        self, data: Observations | BranchData
    ) -> tuple[float, BranchGP]:
        """log p(y | X), and its gradient shaped like the model."""
        sorted_ = self.sorted(data)
        each = [self.factor(i, sorted_) for i, _ in enumerate(self.leaves)]
        factors = [one for one, _ in each]
        value, total, chol = joined(factors, sorted_, self.shared_variance)
        c = solve_upper(chol, solve_lower(chol, total[:-1, -1]))
        C = solve_upper(chol, solve_lower(chol, np.eye(len(c))))
        noise_bar, mean_bar = 0.0, 0.0
        leaves = []
        for i, (one, pull) in enumerate(each):
            place = sorted_.places[i]
            if one is None or pull is None or place is None:
                leaves.append(_no_gradient(self.leaves[i], sorted_.data))
                continue
            used = place[:-1]
            K_bar, alpha = _bars(one, c[used], C[np.ix_(used, used)])
            noise_bar += float(np.trace(K_bar))
            mean_bar += float(alpha.sum())
            leaf = self.leaves[i]
            leaves.append(shaped(leaf, conditions=leaf.conditions, kernel=pull.parameters(K_bar)))
        return value, shaped(
            self,
            shared=self._shared_bar(c, C),
            leaves=tuple(leaves),
            noise=noise_bar,
            mean=mean_bar,
        )

    def _shared_bar(self, c: Vector, C: Matrix) -> Scaled | None:
        """½ (|Zᵀα|² − tr Zᵀ(K + Σ)⁻¹Z), where Zᵀα = c/σ² and the matrix is (I − C/σ²)/σ²."""
        if self.shared is None:
            return None
        v = self.shared.variance
        bar = 0.5 * (float(c @ c) / v**2 - (len(c) - float(np.trace(C)) / v) / v)
        return shaped(self.shared, variance=bar, kernel=self.shared.kernel)

    @property
    def shared_variance(self) -> float:
        """σ²; 1 without shared effects."""
        return 1.0 if self.shared is None else self.shared.variance


def leaf_factor(
    kernel: Kernel, own: LeafData, noise: float, mean: float
) -> tuple[LeafFactor, Pull]:
    """The factor of a leaf with data and that kernel, and the pullback of its covariances."""
    K, pull = kernel.on(own.data.pairs)
    noisy = K.copy()
    noisy.reshape(-1)[:: len(K) + 1] += noise if own.data.noise is None else noise + own.data.noise
    chol, _ = cholesky(noisy)
    sides = np.empty((len(own.data), len(own.used) + 1), order="F")
    sides[:, :-1], sides[:, -1] = own.Z, own.data.y - mean
    white = solve_lower(chol, sides)
    return LeafFactor(chol, white, white.T @ white, float(np.log(chol.diagonal()).sum())), pull


def joined(
    each: Sequence[LeafFactor | None], data: BranchData, variance: float
) -> tuple[float, Matrix, Matrix]:
    """The log likelihood of the data of all leaves together, and what it is made of.

    That is [[Σ AᵀA, f], [fᵀ, Σ wᵀw]] over the features used, and the factor of Λ.
    """
    total = np.zeros((data.last + 1, data.last + 1))
    for one, place in zip(each, data.places, strict=True):
        if one is not None and place is not None:
            total[place[:, None], place] += one.products
    chol, _ = cholesky(total[:-1, :-1] + np.eye(data.last) / variance)
    g = solve_lower(chol, total[:-1, -1])
    roots = sum(one.log_root_determinant for one in each if one is not None)
    roots += float(np.log(chol.diagonal()).sum()) + 0.5 * data.last * log(variance)
    value = -0.5 * float(total[-1, -1] - g @ g) - roots - 0.5 * len(data) * LOG_2PI
    return value, total, chol


def _bars(one: LeafFactor, c: Vector, C: Matrix) -> tuple[Matrix, Vector]:
    """The gradient in a leaf's covariances, folded into one triangle, and α at its points."""
    back = solve_upper(one.chol, one.white)  # [M⁻¹Z, M⁻¹(y − b)]
    B, alpha = back[:, :-1], back[:, -1] - back[:, :-1] @ c
    K_bar = np.tril(np.outer(alpha, alpha) + B @ C @ B.T) - inverse_lower(one.chol)
    K_bar.reshape(-1)[:: len(K_bar) + 1] *= 0.5
    return K_bar, alpha


def _no_gradient(leaf: Within, data: Observations) -> Within:
    """Zeros shaped like the kernel of a leaf without data."""
    some = data.X[:1]
    return leaf.on(Pairs(some, some))[1].parameters(np.zeros((1, 1)))  # type: ignore[return-value]
