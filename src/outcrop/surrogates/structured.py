"""Kinds of Gaussian process that know which choices open which parameters.

The nodes of a conditional space are the groups of parameters that are declared together. A way
through the tree passes some of them, and what only one way passes belongs to its leaf. The others
are shared.
"""

from __future__ import annotations

__all__ = [
    "Arc",
    "CommonNodes",
    "Independent",
    "Marginal",
    "Place",
    "Priors",
    "Structured",
    "TreeStructured",
    "places",
]

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple

from outcrop import kernels
from outcrop.errors import ModelError
from outcrop.inference import Inference
from outcrop.kernels import (
    BranchFeatures,
    Conditional,
    Constant,
    Kernel,
    Linear,
    Matern52,
    Offset,
    Overlap,
    Product,
    Scaled,
    Subspace,
    Sum,
    Within,
)
from outcrop.kernels.branch_features import Basis
from outcrop.params import free
from outcrop.priors import Gamma, Prior, Uniform
from outcrop.space import Choice, Column, Space
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.branch_chains import BranchChains
from outcrop.surrogates.branch_gp import BranchGP
from outcrop.surrogates.contest import Contest, log_odds
from outcrop.surrogates.families import Family
from outcrop.surrogates.gp import GP
from outcrop.surrogates.inferred import Inferred
from outcrop.typing import Conditions

MOST_LEAVES = 128  # ways beyond which leaves have too little to learn from
RADII = Gamma(3.0, 2.0)
ANGLES = Uniform(0.1, 0.9)
UNIT = (1.0,)


class Priors(NamedTuple):
    """What is believed of hyperparameters, of whatever structure."""

    lengthscales: Prior
    category_scales: Prior
    amplitude: Prior
    level: float  # variance of the unknown level
    plain: Kernel | None = None  # of one process that takes no further account of choices


class Place(NamedTuple):
    """A node or a leaf: where it is, what is chosen there, and what was chosen on the way too."""

    conditions: Conditions
    own: tuple[Column, ...]
    seen: tuple[Column, ...]


@lru_cache(maxsize=16)
def places(space: Space) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """The nodes that several ways pass, from the root on, and the leaves, one for each way."""
    index = {column.name: column for column in space.columns}
    ways: list[Conditions] = []
    for path in space.branches:
        taken = []
        for name, option in path.options:
            choice = index[name].parameter
            assert isinstance(choice, Choice)
            taken.append((index[name].index, choice.names.index(option)))
        ways.append(tuple(taken))
    groups: dict[Conditions, list[Column]] = {(): []}
    for column in space.columns:
        groups.setdefault(column.conditions, [])
        if isinstance(column.parameter, Choice):
            for code in range(column.levels or 0):
                groups.setdefault((*column.conditions, (column.index, code)), [])
        else:
            groups[column.conditions].append(column)
    passed = {group: sum(set(group) <= set(way) for way in ways) for group in groups}
    shared = tuple(
        Place(group, tuple(own), _sorted(groups, [g for g in groups if group[: len(g)] == g]))
        for group, own in groups.items()
        if passed[group] > 1
    )
    leaves = []
    for way in ways:
        active = [group for group in groups if set(group) <= set(way)]
        own = _sorted(groups, [group for group in active if passed[group] == 1])
        leaves.append(Place(way, own, _sorted(groups, active)))
    return shared, tuple(leaves)


def _sorted(
    groups: dict[Conditions, list[Column]], some: Sequence[Conditions]
) -> tuple[Column, ...]:
    return tuple(sorted((c for group in some for c in groups[group]), key=lambda c: c.index))


class Structured(Family):
    """A family whose kernel is made for the choices of a space."""

    @abstractmethod
    def kernel(self, space: Space, priors: Priors) -> Kernel:
        """The kernel of all columns; its free slots are inferred."""

    def suits_space(self, space: Space) -> bool:
        """Whether there are choices, and not too many ways through them."""
        return 1 < space.n_branches <= MOST_LEAVES

    def around(self, kernel: Kernel, dimension: int) -> Kernel:
        return kernel


@dataclass(frozen=True)
class TreeStructured(Structured):
    """Processes of their own in the leaves, joined by a linear model of the nodes on their ways.

        oc.Method(surrogate=oc.surrogates.TreeStructured())
        oc.Method(surrogate=oc.surrogates.TreeStructured(oc.kernels.Fourier()))   # curved effects
        oc.Method(surrogate=oc.surrogates.TreeStructured(sees_shared=False, chance=1.0))
                                                                                  # the source's

    `basis` says how shared parameters enter the linear model [Jenatton et al. 2017, section 2.4].
    With `sees_shared` the process of a leaf sees them too, and so can bend what is linear there.

    `chance` is the prior probability that leaves of their own predict better than one process, for
    which parameters that are not active count for nothing; the likelier of the two is believed.
    With 1 it is always the leaves.
    """

    basis: Basis = field(default_factory=Linear)
    sees_shared: bool = True
    chance: float = 0.5
    label: ClassVar[str] = "tree-structured GP"

    def __post_init__(self) -> None:
        if not 0 < self.chance <= 1:
            raise ModelError(
                f"TreeStructured(chance={self.chance!r}): expected a probability above 0, 1 for "
                "leaves of their own whatever they predict"
            )

    def kernel(self, space: Space, priors: Priors) -> Kernel:
        """That of the leaves and what they share; before them that of their rival, if any."""
        own = _marginal(space, priors, self.basis, self.sees_shared)
        if self.chance == 1 or priors.plain is None:
            return own
        return Sum((priors.plain, *own.kernels))

    def surrogate(self, model: GP, inference: Inference, columns: Sequence[int]) -> Surrogate:
        assert isinstance(model.kernel, Sum)
        plain, *parts = model.kernel.kernels
        shared, *leaves = parts if isinstance(plain, Offset) else (plain, *parts)
        tree = BranchChains(BranchGP(shared, tuple(leaves), model.noise), inference)  # type: ignore[arg-type]
        if not isinstance(plain, Offset):
            return tree
        whole = Inferred(replace(model, kernel=plain), inference)
        return Contest(whole, tree, log_odds(self.chance))


@dataclass(frozen=True)
class Marginal(Structured):
    """The same belief as that of `TreeStructured`, as one dense process [ibid., eq. 4]."""

    basis: Basis = field(default_factory=Linear)
    sees_shared: bool = True
    label: ClassVar[str] = "marginal tree GP"

    def kernel(self, space: Space, priors: Priors) -> Kernel:
        return _marginal(space, priors, self.basis, self.sees_shared)


@dataclass(frozen=True)
class Independent(Structured):
    """A process for every leaf, none of which learns from another."""

    label: ClassVar[str] = "independent GPs"

    def kernel(self, space: Space, priors: Priors) -> Kernel:
        _, leaves = places(space)
        return Sum(
            tuple(
                Within(leaf.conditions, Offset(priors.level, _scaled(leaf.seen, priors)))
                for leaf in leaves
            )
        )

    def surrogate(self, model: GP, inference: Inference, columns: Sequence[int]) -> Surrogate:
        assert isinstance(model.kernel, Sum)
        return BranchChains(BranchGP(None, model.kernel.kernels, model.noise), inference)  # type: ignore[arg-type]


@dataclass(frozen=True)
class CommonNodes(Structured):
    """One process whose covariance is a sum over the nodes that two configurations have in common.

        oc.Method(surrogate=oc.surrogates.CommonNodes())

    Every node adds an effect of any shape in all that is chosen down to it, see
    `kernels.CommonNodeSum`. Nodes of one depth have one variance; not `tied`, each has its own.
    """

    tied: bool = True
    label: ClassVar[str] = "common-node GP"

    def kernel(self, space: Space, priors: Priors) -> Kernel:
        shared, leaves = places(space)
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
            kernels.CommonNodeSum(
                tuple(nodes),
                numbers,
                categories,
                free(priors.amplitude, size=max(levels) + 1),
                free(typical, size=len(numbers)) if numbers else None,
                free(priors.category_scales, size=len(categories)) if categories else None,
            ),
        )


@dataclass(frozen=True)
class Arc(Structured):
    """One process that keeps irrelevant parameters apart: see `kernels.ArcEmbedding`.

    Choices and categories are compared by an overlap kernel.
    """

    label: ClassVar[str] = "arc GP"

    def kernel(self, space: Space, priors: Priors) -> Kernel:
        numbers = [column for column in space.columns if not column.is_code]
        codes = [column for column in space.columns if column.is_code]
        parts: list[Kernel] = []
        if numbers:
            parts.append(
                kernels.ArcEmbedding(
                    tuple(column.index for column in numbers),
                    tuple(column.conditions for column in numbers),
                    free(RADII, size=len(numbers)),
                    free(ANGLES, size=len(numbers)),
                    Matern52(UNIT),  # type: ignore[arg-type]
                )
            )
        overlap: Kernel = Subspace(
            tuple(column.index for column in codes),
            Overlap(free(priors.category_scales, size=len(codes))),
        )
        conditions = tuple((c.index, c.conditions, True) for c in codes if c.conditions)
        parts.append(Conditional(conditions, overlap) if conditions else overlap)
        return Offset(priors.level, Scaled(free(priors.amplitude), Product(tuple(parts))))


def _marginal(space: Space, priors: Priors, basis: Basis, sees_shared: bool) -> Sum:
    shared, leaves = places(space)
    nodes = [
        (
            node.conditions,
            tuple(c.index for c in node.own if not c.is_code),
            tuple((c.index, c.levels or 1) for c in node.own if c.is_code),
        )
        for node in shared
    ]
    nodes += [(leaf.conditions, (), ()) for leaf in leaves]
    return Sum(
        (
            Scaled(free(priors.amplitude), BranchFeatures(tuple(nodes), basis)),
            *(
                Within(leaf.conditions, _scaled(leaf.seen if sees_shared else leaf.own, priors))
                for leaf in leaves
            ),
        )
    )


def _scaled(columns: Sequence[Column], priors: Priors) -> Kernel:
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
