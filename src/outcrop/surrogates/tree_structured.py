"""The tree-structured Gaussian process: one per branch of a conditional space, or one for all."""

from __future__ import annotations

__all__ = ["TreeStructured", "leaf_kernels", "scaled_kernel"]

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from outcrop.errors import ModelError
from outcrop.inference import Inference, Slice
from outcrop.kernels import (
    BranchFeatures,
    Constant,
    Kernel,
    Linear,
    Matern52,
    Overlap,
    Product,
    Scaled,
    Subspace,
    Within,
)
from outcrop.kernels.branch_features import Basis
from outcrop.params import free
from outcrop.space import Column
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.branch_chains import BranchChains
from outcrop.surrogates.branch_gp import BranchGP
from outcrop.surrogates.contest import Contest, log_odds
from outcrop.surrogates.gp import GP
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.kind import Kind, SearchDomain
from outcrop.surrogates.situation import ALL_MOVE, Priors, Situation
from outcrop.surrogates.space_nodes import has_leaves, nodes_of

SWEEPS_FROM_MODE = 1  # of burn-in, with more than `ALL_MOVE` observations
TURN = 5  # suggestions for which the model that is behind is fitted once; likewise


@dataclass(frozen=True)
class TreeStructured(Kind):
    """Gaussian processes in the leaves, joined by a linear model of the nodes on their branches.

        oc.Method(surrogate=oc.surrogates.TreeStructured())
        oc.Method(surrogate=oc.surrogates.TreeStructured(oc.kernels.Fourier()))   # curved effects
        oc.Method(surrogate=oc.surrogates.TreeStructured(sees_shared=False, chance=1.0))
                                                                                  # the source's

    `basis` is the form of shared parameters in the linear model [Jenatton et al. 2017, section
    2.4]. With `sees_shared` they are inputs of the leaves' processes too, so that their effects
    need not be linear.

    `chance` is the prior probability that processes in leaves predict better than one process for
    the whole space, which ignores inactive parameters; the more probable model is used. With 1 it
    is always the leaves.
    """

    basis: Basis = field(default_factory=Linear)
    sees_shared: bool = True
    chance: float = 0.5
    label = "tree-structured GP"
    search_domain = SearchDomain.BRANCHES

    def __post_init__(self) -> None:
        if not 0 < self.chance <= 1:
            raise ModelError(
                f"TreeStructured(chance={self.chance!r}): expected a probability above 0 and at "
                "most 1; 1 always uses the processes in the leaves"
            )

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not has_leaves(situation.space):
            return None
        shared, leaves = leaf_kernels(situation, self.basis, self.sees_shared)
        plain = situation.kernel()

        has_many = situation.observations > ALL_MOVE

        def fitted(noise: float, inference: Inference) -> Surrogate:
            if has_many and situation.inference is None and isinstance(inference, Slice):
                inference = replace(
                    inference, burn_in=SWEEPS_FROM_MODE, from_mode=True, rejoins=True
                )
            tree = BranchChains(BranchGP(shared, leaves, noise), inference)
            if self.chance == 1:
                return tree
            whole = Inferred(GP(plain, noise), inference)
            return Contest(whole, tree, log_odds(self.chance), TURN if has_many else 1)

        return situation.over_noise(fitted)


def leaf_kernels(
    situation: Situation, basis: Basis, sees_shared: bool
) -> tuple[Scaled, tuple[Within, ...]]:
    """The covariance of the effects that leaves share, and the kernel of each leaf."""
    (shared, leaves), priors = nodes_of(situation.space), situation.priors
    nodes = [
        (
            node.conditions,
            tuple(c.index for c in node.own if not c.is_code),
            tuple((c.index, c.levels or 1) for c in node.own if c.is_code),
        )
        for node in shared
    ]
    nodes += [(leaf.conditions, (), ()) for leaf in leaves]
    return (
        Scaled(free(priors.amplitude), BranchFeatures(tuple(nodes), basis)),
        tuple(
            Within(leaf.conditions, scaled_kernel(leaf.seen if sees_shared else leaf.own, priors))
            for leaf in leaves
        ),
    )


def scaled_kernel(columns: Sequence[Column], priors: Priors) -> Kernel:
    """The kernel of some columns: Matérn-5/2 in numbers, times an overlap of categories."""
    numbers = tuple(column.index for column in columns if not column.is_code)
    codes = tuple(column.index for column in columns if column.is_code)
    parts: list[Kernel] = []
    if numbers:
        matern = Matern52(free(priors.lengthscales, size=len(numbers)))
        parts.append(Subspace(numbers, matern))
    if codes:
        overlap = Overlap(free(priors.category_scales, size=len(codes)))
        parts.append(Subspace(codes, overlap))
    inner = Product(tuple(parts)) if len(parts) > 1 else parts[0] if parts else Constant()
    return Scaled(free(priors.amplitude), inner)
