"""The library's own problems: boxes and mixed spaces, and trees of conditions.

Problems that are scaled copies of others are left out. Functions drawn from a Gaussian process have
another draw as each instance, all others are reflected.
"""

from __future__ import annotations

__all__ = ["OWN", "TREES", "drawn_dimension", "own_problem"]

from collections.abc import Callable

from experiments.suite.instances import require_open
from experiments.suite.reflections import reflected
from outcrop import problems
from outcrop.problems import Problem

SCALED = ("ack-", "mic-", "egg-2", "bra-2", "cam-2", "ros-2")  # copies on [−1, 1]^d
DRAWS: dict[str, Callable[[int, int], Problem]] = {
    "mat": problems.matern_draw,
    "rbf": problems.rbf_draw,
}
TREES = [name for name in problems.names() if name.startswith("tree-")]
OWN = [name for name in problems.names() if name not in TREES and not name.startswith(SCALED)]


def own_problem(name: str, instance: int) -> Problem:
    require_open(instance)
    if d := drawn_dimension(name):
        return DRAWS[name.partition("-")[0]](d, instance)
    return reflected(problems.get(name), instance)


def drawn_dimension(name: str) -> int | None:
    """The dimension of a function that is drawn, which need not be made for it; or None."""
    family, _, dimension = name.partition("-")
    return int(dimension) if family in DRAWS else None
