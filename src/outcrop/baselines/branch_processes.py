"""Gaussian processes of conditional spaces: one for each branch, or a dense one for all."""

from __future__ import annotations

__all__ = ["DenseBranches", "Independent", "Marginal"]

from abc import abstractmethod
from dataclasses import dataclass, field

from outcrop.kernels import Kernel, Linear, Offset, Sum, Within
from outcrop.kernels.branch_features import Basis
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.branch_chains import BranchChains
from outcrop.surrogates.branch_gp import BranchGP
from outcrop.surrogates.kind import Kind, SearchDomain, fitted_process
from outcrop.surrogates.situation import Situation
from outcrop.surrogates.space_nodes import has_leaves, nodes_of
from outcrop.surrogates.tree_structured import leaf_kernels, scaled_kernel


@dataclass(frozen=True)
class Independent(Kind):
    """A process for every leaf, independent of all others.

    oc.Method(surrogate=oc.baselines.Independent())
    """

    label = "independent GPs"
    search_domain = SearchDomain.BRANCHES

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not has_leaves(situation.space):
            return None
        leaves = self.kernels(situation)
        return situation.over_noise(
            lambda noise, inference: BranchChains(BranchGP(None, leaves, noise), inference)
        )

    def kernels(self, situation: Situation) -> tuple[Within, ...]:
        """The kernel of each leaf."""
        _, leaves = nodes_of(situation.space)
        level, priors = situation.priors.level, situation.priors
        return tuple(
            Within(leaf.conditions, Offset(level, scaled_kernel(leaf.seen, priors)))
            for leaf in leaves
        )


class DenseBranches(Kind):
    """A kind for spaces with choices; it differs from the plain process in its kernel only."""

    search_domain = SearchDomain.BRANCHES

    @abstractmethod
    def kernel(self, situation: Situation) -> Kernel:
        """The kernel of all columns; its free slots are inferred."""

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not has_leaves(situation.space):
            return None
        return fitted_process(situation, self.kernel(situation))


@dataclass(frozen=True)
class Marginal(DenseBranches):
    """The belief of `TreeStructured(chance=1.0)` as one dense process.

        oc.Method(surrogate=oc.baselines.Marginal())

    Its kernel is that of Jenatton et al. 2017, eq. 4.
    """

    basis: Basis = field(default_factory=Linear)
    sees_shared: bool = True
    label = "marginal tree GP"

    def kernel(self, situation: Situation) -> Sum:
        """The covariance of the effects that leaves share, plus that of each leaf."""
        shared, leaves = leaf_kernels(situation, self.basis, self.sees_shared)
        return Sum((shared, *leaves))
