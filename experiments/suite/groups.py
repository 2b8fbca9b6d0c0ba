"""Groups of problems, with the budget of each problem and the methods that it is for.

A budget counts all trials. Initial points are 2d + 2, at most 12, where d is the number of
parameters.
"""

from __future__ import annotations

__all__ = ["GROUPS", "METHODS", "Group", "has_categories", "problem_of", "trials_of", "why_not"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from experiments.peers import PEERS
from experiments.suite.bounds import BOUNDS, bounds_problem
from experiments.suite.coco import BBOB, MIXINT, coco_problem
from experiments.suite.noisy import NOISY, base_of
from experiments.suite.own import OWN, TREES, drawn_dimension, own_problem
from experiments.suite.tuning import TASKS, TUNING, tuning_problem
from outcrop import problems
from outcrop.problems import Problem
from outcrop.space import Categorical, Choice, Parameter
from outcrop.strategies.registry import registered

METHODS = (*registered(), *PEERS)
WITHOUT_CONDITIONS = "BoTorch", "HEBO"
BUDGETS = {3: 40, 6: 60}  # trials up to so many parameters
LARGEST = 80  # with more parameters
TUNING_TRIALS = 50
TREE_TRIALS = 60


@dataclass(frozen=True)
class Group:
    """Problems that are judged together."""

    problems: Sequence[str]
    make: Callable[[str, int], Problem]  # a problem's name and an instance
    trials: Callable[[str], int]


def problem_of(group: str, name: str, instance: int) -> Problem:
    """An instance of a problem; of one of the noisy group, without its noise."""
    return GROUPS[group].make(name, instance)


def trials_of(group: str, name: str) -> int:
    return GROUPS[group].trials(name)


def why_not(method: str, group: str, problem: str) -> str:
    """Why a method is not run on a problem; empty where it is."""
    if method not in WITHOUT_CONDITIONS:
        return ""
    kinds = _kinds(base_of(problem))
    if Choice in kinds:
        return f"{method} has no conditional spaces"
    if method == "BoTorch" and Categorical in kinds:
        return "BoTorch's search over categories takes minutes for each run"
    return ""


def has_categories(problem: str) -> bool:
    """Whether a problem has categories, but no conditions."""
    kinds = _kinds(base_of(problem))
    return Categorical in kinds and Choice not in kinds


def budget(d: int) -> int:
    return next((trials for most, trials in BUDGETS.items() if d <= most), LARGEST)


@cache
def _kinds(name: str) -> frozenset[type[Parameter]]:
    """The kinds of parameters of problems that may have others than numbers."""
    if name in TASKS:
        space = TASKS[name].space
    elif name in (*OWN, *TREES) and not drawn_dimension(name):
        space = problems.get(name).space
    else:
        return frozenset()
    return frozenset(type(column.parameter) for column in space.columns)


def _coco_trials(name: str) -> int:
    return budget(int(name.rpartition("-d")[2]))


@cache
def _own_trials(name: str) -> int:
    return budget(drawn_dimension(name) or problems.get(name).dimension)


def _bounds_trials(name: str) -> int:
    return budget(int(name.rpartition("-")[2]))


def _base(name: str, instance: int) -> Problem:
    return _group_of(base_of(name)).make(base_of(name), instance)


def _base_trials(name: str) -> int:
    return _group_of(base_of(name)).trials(base_of(name))


def _group_of(problem: str) -> Group:
    return next(group for group in GROUPS.values() if problem in group.problems)


GROUPS = {
    "bbob": Group(BBOB, coco_problem, _coco_trials),
    "bounds": Group(BOUNDS, bounds_problem, _bounds_trials),
    "own": Group(OWN, own_problem, _own_trials),
    "tuning": Group(TUNING, tuning_problem, lambda name: TUNING_TRIALS),
    "trees": Group(TREES, own_problem, lambda name: TREE_TRIALS),
    "bbob-mixint": Group(MIXINT, coco_problem, _coco_trials),
    "noisy": Group(NOISY, _base, _base_trials),
}
