"""Independent Gaussian processes, one for every branch of a conditional space."""

from __future__ import annotations

__all__ = ["Independent"]

from dataclasses import dataclass

from outcrop.kernels import Offset, Within
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.branch_chains import BranchChains
from outcrop.surrogates.branch_gp import BranchGP
from outcrop.surrogates.kind import Kind, SearchDomain
from outcrop.surrogates.situation import Situation
from outcrop.surrogates.space_nodes import has_leaves, nodes_of
from outcrop.surrogates.tree_structured import scaled_kernel


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
