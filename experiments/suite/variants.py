"""Variants of a method on the choosing half of the suite, each beside the first.

Boxes and mixed spaces of three groups; functions of ten dimensions are left out for their cost.
Variants that concern categories, conditions or noise alone are run on the problems that have them.
"""

from __future__ import annotations

__all__ = [
    "Exploring",
    "SmallDesign",
    "categorical_cells",
    "cells",
    "noisy_cells",
    "report",
    "tree_cells",
]

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

import outcrop as oc
from benchmarks.comparison import holm, paired_p_value
from benchmarks.reporting import table
from experiments.harness import Cell, Row
from experiments.suite.groups import GROUPS, has_categories
from experiments.suite.judging import gap
from experiments.suite.noisy import base_of
from experiments.suite.tuning import TUNING
from outcrop.strategies.base import Belief, Strategy, Suggestion, View
from outcrop.strategies.initial import LatinHypercube, design_size
from outcrop.surrogates import Kind
from outcrop.typing import Rng

SUITE = "bbob", "bounds", "own"
LARGEST = "-d10"
EXPLORES = 10  # one trial of so many is drawn at random


@dataclass(frozen=True)
class Exploring:
    """A method of which some trials are uniform random points."""

    method: oc.Method

    def strategy(self, space: oc.Space) -> Strategy:
        return _ExploringStrategy(self.method.strategy(space), space)


@dataclass(frozen=True)
class _ExploringStrategy:
    strategy: Strategy
    space: oc.Space

    def propose(self, view: View, rng: Rng) -> Suggestion:
        suggestion = self.strategy.propose(view, rng)
        if view.number % EXPLORES:
            return suggestion
        [params] = self.space.sample(rng, 1)
        return replace(suggestion, params=params)

    def belief(self, view: View, rng: Rng) -> Belief:
        return self.strategy.belief(view, rng)


@dataclass(frozen=True)
class SmallDesign:
    """A kind of surrogate that is used after a part of the usual number of initial points."""

    surrogate: Kind
    share: float

    def points(self, space: oc.Space) -> int:
        return int(self.share * design_size(space))

    def strategy(self, space: oc.Space) -> Strategy:
        initial = LatinHypercube(size=self.points(space))
        return oc.Method(surrogate=self.surrogate, initial=initial).strategy(space)


def cells(variants: Iterable[str]) -> list[Cell]:
    """A cell for each variant of each problem, variants of one problem after each other."""
    return _cells(
        variants,
        [
            (group, problem)
            for group in SUITE
            for problem in GROUPS[group].problems
            if not problem.endswith(LARGEST)
        ],
    )


def categorical_cells(variants: Iterable[str]) -> list[Cell]:
    """The same on problems with categories."""
    return _cells(
        variants, [("own", name) for name in GROUPS["own"].problems if has_categories(name)]
    )


def noisy_cells(variants: Iterable[str]) -> list[Cell]:
    """The same on noisy problems whose minimum is known."""
    noisy = GROUPS["noisy"].problems
    return _cells(variants, [("noisy", name) for name in noisy if base_of(name) not in TUNING])


def tree_cells(variants: Iterable[str]) -> list[Cell]:
    """The same on conditional problems."""
    return _cells(variants, [("trees", name) for name in GROUPS["trees"].problems])


def _cells(variants: Iterable[str], problems: Iterable[tuple[str, str]]) -> list[Cell]:
    names = list(variants)
    return [
        {"variant": variant, "group": group, "half": "choose", "problem": problem}
        for group, problem in problems
        for variant in names
    ]


def report(rows: Sequence[Row], variants: Iterable[str]) -> str:
    """Mean gaps of variants, and their differences from the first over the runs that both have.

    Gaps of all variants are measured from the start of the first, also of those that have other
    initial points.
    """
    found: dict[str, dict[tuple[str, int], Row]] = {}
    for row in rows:
        found.setdefault(row["cell"]["variant"], {})[row["cell"]["problem"], row["run"]] = row
    first, *others = [variant for variant in variants if variant in found]
    start = {key: row["start"] for key, row in found[first].items()}
    apart = {}
    for variant in others:
        both = sorted(found[variant].keys() & start.keys())
        reached = [
            [gap(start[key], found[name][key]["found"], 0.0) for key in both]
            for name in (variant, first)
        ]
        apart[variant] = np.array(reached)
    corrected = holm([paired_p_value(own - of_first) for own, of_first in apart.values()])
    every = [gap(row["start"], row["found"], 0.0) for row in found[first].values()]
    lines = [[first, str(len(every)), f"{np.mean(every):.3f}", "", "", ""]]
    for (variant, (own, of_first)), p in zip(apart.items(), corrected, strict=True):
        change = own - of_first
        error = change.std(ddof=1) / np.sqrt(len(change))
        lines.append(
            [
                variant,
                str(len(change)),
                f"{own.mean():.3f}",
                f"{change.mean():+.3f} ± {error:.3f}",
                f"{(change > 0).sum()} : {(change < 0).sum()}",
                f"{p:.3f}",
            ]
        )
    header = ["variant", "runs", "gap", "beside the first", "better : worse", "p"]
    return table(header, lines)
