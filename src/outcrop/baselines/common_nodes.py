"""Gaussian processes of a conditional space with a kernel that sums over common nodes."""

from __future__ import annotations

__all__ = ["CommonNodeSum", "CommonNodes"]

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from outcrop.baselines.branch_processes import DenseBranches
from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull
from outcrop.kernels.categorical import Overlap
from outcrop.kernels.compose import Constant, Offset, Product, Scaled, Subspace, Sum
from outcrop.kernels.stationary import Matern52, positive_vector
from outcrop.kernels.within import Within
from outcrop.params import free, shaped
from outcrop.surrogates.situation import Situation
from outcrop.surrogates.space_nodes import nodes_of
from outcrop.typing import Conditions, Matrix, Points, Rng, Vector

NodeTerm: TypeAlias = tuple[Conditions, tuple[int, ...], int]  # columns, index of the variance

# Templates of the kernels of nodes.
MATERN, OVERLAP = Matern52(np.ones(1)), Overlap(np.ones(1))
SCALED = Scaled(1.0, MATERN)


@dataclass(frozen=True, eq=False)
class CommonNodeSum(Kernel):
    """k = Σ_v s_v² k_v(x, x'), over the nodes v on the branches of both configurations.

    A node is `(conditions, columns, level)`: its conditions, the columns of all parameters from the
    root down to it, and the index of its variance. k_v is Matérn-5/2 in the numbers and an overlap
    kernel in the categories among its columns. A column has the same lengthscale at every node.

        nodes = (((), (1,), 0), (((0, 0),), (1, 2), 1), (((0, 1),), (1, 3), 1))
        CommonNodeSum(nodes, numbers=(1, 2, 3), categories=(), variances=[1, 0.5],
                    lengthscales=[0.3, 0.4, 0.5], category_scales=None)

    Unlike with `BranchFeatures`, effects of shared parameters may have any shape, but the
    covariance is dense.
    """

    nodes: tuple[NodeTerm, ...]
    numbers: tuple[int, ...]  # columns, in the order of `lengthscales`
    categories: tuple[int, ...]  # columns, in the order of `category_scales`
    variances: Vector
    lengthscales: Vector | None  # None without numbers
    category_scales: Vector | None  # None without categories

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ModelError("CommonNodeSum(nodes=()): expected at least one node")
        for name in ("variances", "lengthscales", "category_scales"):
            if getattr(self, name) is not None:
                value = positive_vector("CommonNodeSum", name, getattr(self, name))
                object.__setattr__(self, name, value)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        K, pull = self._sum.on(pairs)

        def parameters(K_bar: Matrix) -> Kernel:
            variances_bar = np.zeros_like(self.variances)
            bars = [np.zeros(len(owners)) for owners in (self.numbers, self.categories)]
            terms = vars(pull.parameters(K_bar))["kernels"]
            for (_, _, level), term in zip(self.nodes, terms, strict=True):
                variances_bar[level] += term.variance
                self._collect(term.kernel, *bars)
            return shaped(
                self,
                nodes=self.nodes,
                numbers=self.numbers,
                categories=self.categories,
                variances=variances_bar,
                lengthscales=bars[0],
                category_scales=bars[1],
            )

        return K, Pull(parameters, pull.inputs)

    def diag(self, X: Points) -> Vector:
        return self._sum.diag(X)

    def scales(self, dimension: int) -> Vector:
        whole = np.ones((*self.variances.shape[:-1], dimension))
        if self.lengthscales is not None:
            whole[..., self.numbers] = self.lengthscales
        return whole

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        return self._sum.features(rng, count, dimension)

    @cached_property
    def _sum(self) -> Sum:
        """The terms of all nodes."""
        terms = []
        for conditions, columns, level in self.nodes:
            kernel = Within(conditions, self._of_node(columns))
            terms.append(shaped(SCALED, variance=self.variances.T[level], kernel=kernel))
        return Sum(tuple(terms))

    def _of_node(self, columns: tuple[int, ...]) -> Kernel:
        parts: list[Kernel] = []
        for like, owners, scales in (
            (MATERN, self.numbers, self.lengthscales),
            (OVERLAP, self.categories, self.category_scales),
        ):
            own = [owners.index(column) for column in columns if column in owners]
            if own and scales is not None:
                seen = tuple(owners[i] for i in own)
                parts.append(Subspace(seen, shaped(like, lengthscales=scales[..., own])))
        return Product(tuple(parts)) if parts else Constant()

    def _collect(self, bar: Kernel, lengthscales: Vector, category_scales: Vector) -> None:
        """Add the gradient of one node's kernel, shaped like it, to those of all."""
        for part in vars(vars(bar)["kernel"]).get("kernels", ()):
            if isinstance(part.kernel, Matern52):
                owners, total = self.numbers, lengthscales
            else:
                owners, total = self.categories, category_scales
            total[[owners.index(column) for column in part.columns]] += part.kernel.lengthscales


@dataclass(frozen=True)
class CommonNodes(DenseBranches):
    """One process whose covariance is a sum over the nodes that two configurations have in common.

        oc.Method(surrogate=oc.baselines.CommonNodes())

    Every node adds an effect of all parameters from the root down to it, see `CommonNodeSum`. Nodes
    of one depth share a variance if `tied`; otherwise each has its own.
    """

    tied: bool = True
    label = "common-node GP"

    def kernel(self, situation: Situation) -> Kernel:
        (shared, leaves), priors = nodes_of(situation.space), situation.priors
        inner = [node for node in shared if node.seen or node.conditions]  # the level is offset
        depths = [len(node.conditions) for node in inner]
        known = sorted(set(depths))
        levels = [known.index(depth) for depth in depths] + [len(known)] * len(leaves)
        if not self.tied:
            levels = list(range(len(inner) + len(leaves)))
        nodes = [
            (node.conditions, tuple(c.index for c in node.seen), level)
            for node, level in zip([*inner, *leaves], levels, strict=True)
        ]
        seen = sorted({c.index: c for leaf in leaves for c in leaf.seen}.items())
        numbers = tuple(index for index, column in seen if not column.is_code)
        categories = tuple(index for index, column in seen if column.is_code)
        typical = priors.lengthscales.for_size(max(len(leaf.seen) for leaf in leaves) or 1)
        return Offset(
            priors.level,
            CommonNodeSum(
                tuple(nodes),
                numbers,
                categories,
                free(priors.amplitude, size=max(levels) + 1),
                free(typical, size=len(numbers)) if numbers else None,
                free(priors.category_scales, size=len(categories)) if categories else None,
            ),
        )
