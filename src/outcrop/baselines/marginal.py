"""The tree-structured Gaussian process as one dense process."""

from __future__ import annotations

__all__ = ["Marginal"]

from dataclasses import dataclass, field

from outcrop.baselines.dense_branches import DenseBranches
from outcrop.kernels import Linear, Sum
from outcrop.kernels.branch_features import Basis
from outcrop.surrogates.situation import Situation
from outcrop.surrogates.tree_structured import leaf_kernels


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
