"""`"auto"` beside `"gp"` on six named problems, from uniform starts.

Every run of the rotated function has another rotation and another minimiser.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence

import numpy as np

from benchmarks.reporting import table
from experiments.comparison import SOLVED, Searches, corrected_p_values, mean_and_sd
from experiments.harness import Cell, Experiment, Row
from experiments.searches import search
from outcrop import problems
from outcrop.problems import Problem
from outcrop.problems.base import box_problem
from outcrop.strategies.initial import design_size
from outcrop.typing import Points, Vector

TRIALS = {
    "branin": 50,
    "exp-2d-wide": 50,
    "holder-table": 50,
    "rastrigin-4 rotated": 50,
    "hartmann-6": 100,
    "michalewicz-10": 100,
}
METHODS = "auto", "gp"
FIRST_SEED = 1000  # of the starts and of the methods
READING = f"""\
50 trials, 100 of Hartmann-6 and Michalewicz-10; the first 2d + 2 of them, at most 12, are uniform
random points, the same for both methods. Gap: mean ± sd; solved: runs with a gap of {SOLVED} or
more; regret: median; ahead: in how many of the pairs `auto` has the lower value; p: two-sided
Wilcoxon test of the regrets, Holm over the table."""


def rastrigin(X: Points) -> Vector:
    """10 d + Σ xᵢ² − 10 cos 2π xᵢ."""
    return 10.0 * X.shape[1] + (X**2 - 10 * np.cos(2 * np.pi * X)).sum(1)


def problem_of(name: str, run: int) -> Problem:
    if name != "rastrigin-4 rotated":
        return problems.get(name)
    plain = box_problem("rastrigin-4", rastrigin, [(-5.12, 5.12)] * 4, 0.0, [[0.0] * 4])
    return problems.rotated(plain, run)


def run(cell: Cell, number: int) -> Row:
    problem, seed = problem_of(cell["problem"], number), FIRST_SEED + number
    space = problem.space
    initial = space.sample(np.random.default_rng(seed), design_size(space))
    return search(problem, cell["method"], initial, TRIALS[cell["problem"]], seed)


def report(rows: Sequence[Row]) -> str:
    every = {
        (problem, method): Searches(found, minimum_of(problem))
        for problem in TRIALS
        for method in METHODS
        if (found := _runs(rows, problem, method))
    }
    regrets = {
        key: dict(zip(searches.rows, searches.regrets().tolist(), strict=True))
        for key, searches in every.items()
    }
    p_values = corrected_p_values(
        {
            problem: (regrets[problem, "auto"], regrets[problem, "gp"])
            for problem in TRIALS
            if all((problem, method) in regrets for method in METHODS)
        }
    )
    lines = []
    for (problem, method), searches in every.items():
        gaps = list(searches.gaps().values())
        line = [problem, method, str(len(gaps)), mean_and_sd(gaps)]
        line += [f"{sum(gap >= SOLVED for gap in gaps)}/{len(gaps)}"]
        line += [f"{np.median(searches.regrets()):.1e}"]
        if method == "auto" and problem in p_values:
            other = regrets[problem, "gp"]
            pairs = [(value, other[i]) for i, value in regrets[problem, method].items()]
            ahead = sum(own < theirs for own, theirs in pairs)
            line += [f"{ahead}/{len(pairs)}", f"{p_values[problem]:.3f}"]
        lines.append([*line, "", ""][:8])
    header = ["problem", "method", "runs", "gap", "solved", "regret", "ahead", "p"]
    return "\n\n".join([READING, table(header, lines)])


def minimum_of(name: str) -> float:
    minimum = problem_of(name, 0).minimum
    assert minimum is not None  # all of them are known
    return minimum


def _runs(rows: Sequence[Row], problem: str, method: str) -> dict[int, Row]:
    cell = {"problem": problem, "method": method}
    return {row["run"]: row for row in rows if row["cell"] == cell}


EXPERIMENT = Experiment(
    "auto_named",
    "Named problems: what auto costs and gains",
    [[{"problem": problem, "method": method}] for method in METHODS for problem in TRIALS],
    run,
    report,
    documented=False,
)
