"""The runs of the suite: `python -m experiments suite --cells half=choose,group=bbob,method=gp`.

A row holds what judging needs: `start` and `found` are the best initial value and the best value
at the end, less `optimum` where that is known. On noisy problems they are true values, and what is
found is the trial that the method recommends; of peers, the one with the best observed value.
`improvements` are the numbers of the trials, from 1, whose observed value was the best so far, and
these values. Numbers have six significant digits; `seconds` of processor time are for all
suggestions of the run.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT", "run", "run_method"]

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.harness import Cell, Experiment, Row
from experiments.peers import PEERS, peer_search
from experiments.searches import initial_points, search
from experiments.suite.groups import GROUPS, METHODS, problem_of, trials_of, why_not
from experiments.suite.instances import HALVES, RUNS, instance_of, seed_of
from experiments.suite.noisy import NoisyCalls, base_of, noise_std
from outcrop.problems import Problem
from outcrop.space import Space
from outcrop.strategies.initial import Design, design_size
from outcrop.typing import Params


def run(cell: Cell, number: int) -> Row:
    return run_method(cell["method"], cell, number)


def run_method(
    method: Any,
    cell: Cell,
    number: int,
    design: Design | None = None,
    points: Callable[[Space], int] = design_size,
) -> Row:
    """A run of the cell's problem by a method, which need not have a name.

    `design` and `points`, a number for the space, are for methods that start otherwise than all do.
    """
    if number >= RUNS:
        raise ValueError(f"run {number}: a problem has {RUNS} runs in each half")
    group, name, half = cell["group"], cell["problem"], cell["half"]
    instance, seed = instance_of(half, number), seed_of(half, number)
    problem = problem_of(group, name, instance)
    trials = trials_of(group, name)
    initial = initial_points(problem.space, points(problem.space), seed, design)
    if group == "noisy":
        std = noise_std(base_of(name), problem)
        calls = NoisyCalls(problem, std, seed)
        row = searched(replace(problem, function=calls), method, initial, trials, seed, noisy=True)
        end, true = row.pop("recommended"), calls.true
        extra = {"noise": rounded(std)}
    else:
        row = searched(problem, method, initial, trials, seed)
        true = row["values"]
        end, extra = int(np.argmin(true)), {}
    optimum, n_initial = problem.minimum, row["n_initial"]
    return {
        "instance": instance,
        "seed": seed,
        "trials": trials,
        "n_initial": n_initial,
        "optimum": None if optimum is None else rounded(optimum),
        "start": rounded(min(true[:n_initial]) - (optimum or 0.0)),
        "found": rounded(true[end] - (optimum or 0.0)),
        **extra,
        "improvements": improvements(row["values"]),
        "seconds": round(sum(row["seconds"]), 3),
        "fallbacks": row["fallbacks"],
    }


def searched(
    problem: Problem,
    method: Any,
    initial: Sequence[Params],
    trials: int,
    seed: int,
    noisy: bool = False,
) -> Row:
    """All values of a search, and of a noisy one the index of the trial to judge."""
    if not isinstance(method, str) or method not in PEERS:
        return search(problem, method, initial, trials, seed, noisy=noisy)
    row = peer_search(problem, method, initial, trials, seed, noisy=noisy)
    return {**row, "recommended": int(np.argmin(row["values"]))}


def improvements(values: Sequence[float]) -> list[tuple[int, float]]:
    """Number and value of every trial that was better than all before it."""
    found: list[tuple[int, float]] = []
    best = np.inf
    for number, value in enumerate(values, start=1):
        if value < best:
            best = value
            found.append((number, rounded(value)))
    return found


def rounded(value: float) -> float:
    return float(f"{value:.6g}")


def cells(group: str) -> list[Cell]:
    return [
        {"group": group, "half": half, "problem": problem, "method": method}
        for half in HALVES
        for problem in GROUPS[group].problems
        for method in METHODS
        if not why_not(method, group, problem)
    ]


def no_report(rows: Sequence[Row]) -> str:
    return ""


EXPERIMENT = Experiment(
    "suite",
    "Development suite",
    [cells(group) for group in GROUPS],
    run,
    no_report,
    file=lambda cell: f"{cell['group']}.{cell['method']}",
    documented=False,
)
