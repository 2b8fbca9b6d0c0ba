"""Searches of mixed spaces by CoCaBO and others, of the thesis's length and shorter.

`CoCaBO-…` and `One-hot` are the thesis's methods, `CoCaBO-raw` with the rewards of its program,
`CoCaBO-learns` with bandits that learn in batches of any size; `cocabo` is ours of that name, and
the *direct* variants search categories and numbers together, under CoCaBO's kernel and under that
of `"gp"`.

A cell with `iterations` is a search as in the thesis, from random points, each iteration of `batch`
trials; its hyperparameters are found anew as rarely as there. A cell without is one of `SHORT`
trials in all, from a Latin hypercube, whose hyperparameters are found anew at every trial.
"""

from __future__ import annotations

__all__ = [
    "DEFAULT",
    "FOLLOWED",
    "INITIAL",
    "LEARNING",
    "METHODS",
    "PEERS",
    "SHORT",
    "THESIS",
    "Length",
    "run",
    "thesis",
    "thesis_cells",
]

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

import outcrop as oc
from experiments.harness import Cell, Row
from experiments.mixed_models import INFERENCE, LearntMix, cocabo_model, one_hot_model
from experiments.peers import peer_search
from experiments.refitted import Refitted
from experiments.searches import initial_points, problem_of, search
from outcrop.acquisition import UCB
from outcrop.baselines import OneHot
from outcrop.problems import Problem
from outcrop.space import Space
from outcrop.strategies import CoCaBO
from outcrop.strategies.initial import RandomDesign
from outcrop.surrogates import GP, CategoryMix
from outcrop.typing import Params

INITIAL = 24
SHORT = 100  # trials of a shorter search, initial ones included
SEQUENTIAL, BATCHED = 200, 80  # iterations of the thesis's searches
EVERY, MIX_EVERY = 10, 25  # iterations after which hyperparameters and λ are found anew
DIGITS = 7  # that values of the thesis's searches are stored with
LEARNING = 0.2  # γ of bandits, about that of four or five levels one by one
DESIGN = RandomDesign(size=INITIAL)


@dataclass(frozen=True)
class Length:
    """How many trials a search has, and how many of them are asked for together."""

    batch: int
    iterations: int | None = None  # None is a shorter search

    @classmethod
    def of(cls, cell: Cell) -> Length:
        return cls(int(cell["batch"]), int(cell["iterations"]) if "iterations" in cell else None)

    @property
    def suggested(self) -> int:
        """Trials after the initial ones."""
        return SHORT - INITIAL if self.iterations is None else self.iterations * self.batch

    @property
    def trials(self) -> int:
        return INITIAL + self.suggested

    @property
    def horizon(self) -> int:
        """What sets the rate of the bandits."""
        return SHORT if self.iterations is None else self.suggested


def thesis(
    space: Space,
    length: Length,
    mix: float | None,
    reward: Literal["scaled", "raw"] = "scaled",
    gamma: float | None = None,
) -> CoCaBO:
    """CoCaBO-λ as the thesis describes it, unless rewards or the bandits' rate are others."""
    if length.iterations is not None and mix is None:
        every, mix_every = EVERY * length.batch, MIX_EVERY * length.batch
        method = _maximising_ucb(LearntMix(space, every, mix_every))
    else:
        method = _maximising_ucb(_fitted(cocabo_model(space, mix), length))
    return CoCaBO(method, length.batch, length.horizon, gamma, reward)


def one_hot(space: Space, length: Length) -> oc.Method:
    return _maximising_ucb(OneHot(on_cube=_fitted(one_hot_model(space), length)))


def _fitted(model: GP, length: Length) -> GP | Refitted:
    if length.iterations is None:
        return model
    return Refitted(model, INFERENCE, EVERY * length.batch)


def _maximising_ucb(surrogate: Any) -> oc.Method:
    return oc.Method(surrogate=surrogate, inference=INFERENCE, acquisition=UCB(2.0), initial=DESIGN)


def ours(space: Space, length: Length) -> CoCaBO:
    method = oc.Method(surrogate=CategoryMix(), initial=DESIGN)
    return CoCaBO(method, batch=length.batch, horizon=length.horizon)


def direct(space: Space, length: Length, surrogate: Any) -> oc.Method:
    return oc.Method(surrogate=surrogate, initial=DESIGN)


METHODS: dict[str, Callable[[Space, Length], Any]] = {
    "CoCaBO-auto": partial(thesis, mix=None),
    "CoCaBO-0.5": partial(thesis, mix=0.5),
    "CoCaBO-1.0": partial(thesis, mix=1.0),
    "CoCaBO-0.0": partial(thesis, mix=0.0),
    "CoCaBO-raw": partial(thesis, mix=None, reward="raw"),
    "CoCaBO-learns": partial(thesis, mix=None, gamma=LEARNING),
    "One-hot": one_hot,
    "cocabo": ours,
    "direct-cocabo": partial(direct, surrogate=CategoryMix()),
    "direct-overlap": partial(direct, surrogate=None),
}
THESIS = ("CoCaBO-auto", "CoCaBO-0.5", "CoCaBO-1.0", "CoCaBO-0.0", "One-hot")
PEERS = ("HyperOpt", "TPE", "SMAC")
DEFAULT = "direct-overlap"


def thesis_cells(problems: Sequence[str], methods: Sequence[str], batch: int = 1) -> list[Cell]:
    """Searches of the thesis's length."""
    iterations = str(SEQUENTIAL if batch == 1 else BATCHED)
    return [
        {"problem": problem, "method": method, "batch": str(batch), "iterations": iterations}
        for problem in problems
        for method in methods
    ]


(FOLLOWED,) = thesis_cells(["func-2C"], ["CoCaBO-auto"])  # its levels are stored for Figure 5.2


def run(cell: Cell, number: int) -> Row:
    problem, length = problem_of(cell["problem"]), Length.of(cell)
    design = None if length.iterations is None else DESIGN
    initial = initial_points(problem.space, INITIAL, number, design)
    if length.iterations is None:
        return _searched(problem, cell["method"], initial, length, number)
    seen: list[Params] = []
    row = _searched(_noting(problem, seen), cell["method"], initial, length, number)
    if cell == FOLLOWED:
        row["levels"] = levels_of(problem.space, seen)
    # Several thousand such rows are stored, so that they are kept small.
    values = [float(f"{value:.{DIGITS}g}") for value in row["values"]]
    return {**row, "values": values, "seconds": [round(float(np.mean(row["seconds"])), 5)]}


def _searched(
    problem: Problem, name: str, initial: Sequence[Params], length: Length, number: int
) -> Row:
    if name in PEERS:
        return peer_search(problem, name, initial, length.trials, number, length.batch)
    method = "random" if name == "random" else METHODS[name](problem.space, length)
    bent = name not in (*THESIS, "CoCaBO-raw", "CoCaBO-learns")
    return search(problem, method, initial, length.trials, number, length.batch, bent=bent)


def _noting(problem: Problem, seen: list[Params]) -> Problem:
    """The problem, which appends what it is asked for to `seen`."""

    def function(params: Params) -> float:
        seen.append(params)
        return problem.function(params)

    return replace(problem, function=function)


def levels_of(space: Space, params: Sequence[Params]) -> dict[str, list[int]]:
    """The code of each category's level, configuration by configuration."""
    X = space.encode(params).X
    codes = [column for column in space.columns if column.is_code]
    return {column.name: X[:, column.index].astype(int).tolist() for column in codes}
