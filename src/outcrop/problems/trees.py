"""Conditional problems with a tree of binary decisions [Jenatton et al. 2017].

Decisions are x1, x2, …, numbered level by level. The value of a leaf is the square of its own
variable, numbered after the decisions, plus a shift. All leaves below a decision may share a
variable r. The paper's small tree with shared variables is

    x1 = 0, x2 = 0 :  x4² + 0.1 + r8        x1 = 1, x3 = 0 :  x6² + 0.3 + r9
    x1 = 0, x2 = 1 :  x5² + 0.2 + r8        x1 = 1, x3 = 1 :  x7² + 0.4 + r9

with flat names such as `x1.0.x2.1.x5` and `x1.0.r8`. The minimum of every tree is 0.1.
"""

from __future__ import annotations

__all__ = ["balanced_tree", "unbalanced_tree"]

from dataclasses import dataclass

from outcrop.errors import SpaceError
from outcrop.problems.base import Problem
from outcrop.space import Choice, Float, Parameter, Space
from outcrop.typing import Params

SHIFT = 0.1  # of the first leaf, and between one leaf and the next
VERTEX = 0.5  # the best value of a shared variable that enters as a square


@dataclass(frozen=True)
class LeafNode:
    """value = x² + shift, x on [−1, 1]."""

    variable: str
    shift: float

    def declare(self) -> dict[str, Parameter]:
        return {self.variable: Float(-1.0, 1.0)}

    def value(self, params: Params, prefix: str) -> float:
        return float(params[prefix + self.variable]) ** 2 + self.shift

    def best(self, prefix: str) -> dict[str, float | str]:
        return {prefix + self.variable: 0.0}


@dataclass(frozen=True)
class DecisionNode:
    """A decision between two subtrees, and optionally a variable on [0, 1] that both share."""

    variable: str
    left: TreeNode
    right: TreeNode
    shared: str | None = None
    quadratic: bool = False  # the shared variable adds (r − ½)² instead of r

    def declare(self) -> dict[str, Parameter]:
        decision = Choice({"0": self.left.declare(), "1": self.right.declare()})
        shared = {self.shared: Float(0.0, 1.0)} if self.shared else {}
        return {self.variable: decision, **shared}

    def value(self, params: Params, prefix: str = "") -> float:
        """The value below this node, whose flat names begin with `prefix`."""
        option = params[prefix + self.variable]
        chosen = self.right if option == "1" else self.left
        below = chosen.value(params, f"{prefix}{self.variable}.{option}.")
        if not self.shared:
            return below
        r = float(params[prefix + self.shared])
        return below + ((r - VERTEX) ** 2 if self.quadratic else r)

    def best(self, prefix: str = "") -> dict[str, float | str]:
        """The minimiser below this node: the first leaf has the smallest shift."""
        shared = {prefix + self.shared: VERTEX if self.quadratic else 0.0} if self.shared else {}
        below = self.left.best(f"{prefix}{self.variable}.0.")
        return {prefix + self.variable: "0", **shared, **below}


TreeNode = LeafNode | DecisionNode


def balanced_tree(depth: int = 2, shared: bool = False, quadratic: bool = False) -> Problem:
    """2^depth leaves with the shifts 0.1, 0.2, …; the paper's trees have `depth=2` and 3.

    With `shared`, each child of the root shares a variable among the leaves below it; it enters
    linearly or, if `quadratic`, as (r − ½)².
    """
    leaves = 2**depth

    def node(number: int) -> TreeNode:
        if number >= leaves:
            return LeafNode(f"x{number}", SHIFT * (number - leaves + 1))
        owner = shared and number in (2, 3)
        return DecisionNode(
            f"x{number}",
            node(2 * number),
            node(2 * number + 1),
            shared=f"r{2 * leaves + number - 2}" if owner else None,
            quadratic=quadratic,
        )

    size = {2: "small", 3: "large"}.get(depth, f"depth-{depth}")
    kind = "-quadratic" if shared and quadratic else "-shared" if shared else ""
    return _tree_problem(f"tree-{size}{kind}", node(1))


def unbalanced_tree(leaves: int = 4) -> Problem:
    """A caterpillar: every decision has a leaf and the next decision; shifts grow downwards.

    The shape of the paper's unbalanced trees is not published; this one is our choice.
    """
    tree: TreeNode = LeafNode(f"x{2 * leaves - 1}", SHIFT * leaves)
    for number in range(leaves - 1, 0, -1):
        tree = DecisionNode(f"x{number}", LeafNode(f"x{leaves + number - 1}", SHIFT * number), tree)
    return _tree_problem(f"tree-unbalanced-{leaves}", tree)


def _tree_problem(name: str, root: TreeNode) -> Problem:
    if not isinstance(root, DecisionNode):
        raise SpaceError("expected a tree of two leaves or more, got a single leaf")
    return Problem(
        name=name,
        space=Space(root.declare()),
        function=root.value,
        minimum=SHIFT,
        minimisers=(root.best(),),
        tags=("conditional",),
        source="Jenatton et al. 2017, section 4.1",
    )
