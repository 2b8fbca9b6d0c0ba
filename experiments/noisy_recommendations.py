"""What is recommended after a search that does not know whether values have noise.

    python -m experiments noisy_recommendations --runs 3 --cells half=choose,method=gp

Each search is judged by the true gap of what several rules recommend after it. `replicated` is the
same search, of which each of the last three trials is a replicate of an evaluated configuration
where that is expected to gain more than the suggestion, by the knowledge gradient.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence
from copy import copy
from typing import cast

import numpy as np

import outcrop as oc
from benchmarks.comparison import paired_p_value
from benchmarks.reporting import table
from experiments.harness import Cell, Experiment, Row
from experiments.knowledge_gradient import gains
from experiments.searches import initial_points
from experiments.suite.groups import problem_of, trials_of
from experiments.suite.instances import instance_of, seed_of
from experiments.suite.judging import gap
from experiments.suite.noisy import BBOB, noise_std
from outcrop.problems import Problem
from outcrop.strategies.initial import design_size
from outcrop.strategies.model_based import UnitBelief
from outcrop.typing import Params

EXACT = [
    *(f"bbob-f{function:02}-d2" for function in (1, 3, 15, 16, 21, 22, 23)),
    *("bbob-f15-d5", "bbob-f21-d5", "michalewicz-5", "shubert", "branin"),
]
NOISY = [
    *(f"bbob-f{function:02}-d{d}" for d in (2, 5) for function in BBOB),
    *("branin", "func-2C", "hartmann-6", "michalewicz-5", "six-hump-camel"),
]
PROBLEMS = {
    "none": EXACT,
    "constant": NOISY,
    "varying": ["branin", "hartmann-6"],
    "varying, told": ["branin", "hartmann-6"],
}
LAST = 3  # trials that may be replicates
TOP = 10  # configurations that are compared
FACTOR = 4.0  # by which noise varies to either side, along the first parameter
STREAM = 40  # keeps noise apart from the other random numbers of a seed
RULES = ("evaluated", "observed", "halves", "recommended", "replicated")
READING = f"""\
Mean gap of what is recommended after searches with noise=None. evaluated: the best of all that was
evaluated, which nobody knows; observed: the best value; halves: exact and noisy models have half of
the weight each, as in the search; recommended: `recommend()`; replicated: the same where the last
{LAST} trials may be replicates, with the mean number that are; p: recommended against halves, and
replicated against recommended, two-sided Wilcoxon test of runs."""


class Measured:
    """A problem with noise; true values and standard deviations are kept."""

    def __init__(self, name: str, problem: Problem, noise: str, seed: int) -> None:
        self.problem, self.noise = problem, noise
        self.rng = np.random.default_rng([seed, STREAM])
        self.std = 0.0 if noise == "none" else noise_std(name, problem)
        self.true: list[float] = []

    def __call__(self, params: Params) -> tuple[float, float | None]:
        """A value, and its standard deviation if it is told."""
        std = self.std
        if self.noise.startswith("varying"):
            std *= FACTOR ** (2 * float(self.problem.space.encode([params]).X[0, 0]) - 1)
        self.true.append(self.problem(params))
        value = self.true[-1] + std * float(self.rng.standard_normal())
        return value, std if self.noise.endswith("told") else None


def run(cell: Cell, number: int) -> Row:
    name, half = cell["problem"], cell["half"]
    group = "bbob" if name.startswith("bbob") else "own"
    problem, seed = problem_of(group, name, instance_of(half, number)), seed_of(half, number)
    trials, calls = trials_of(group, name), Measured(name, problem, cell["noise"], seed)
    optimizer = oc.Optimizer(problem.space, method=cell["method"], seed=seed, ask_seconds=None)
    for params in initial_points(problem.space, design_size(problem.space), seed):
        value, std = calls(params)
        optimizer.add(params, value, std=std)
    start = min(calls.true)
    continued(optimizer, calls, trials - LAST)
    other, other_calls = copy(optimizer), copy(calls)
    other_calls.true, other_calls.rng = [*calls.true], np.random.default_rng([seed, STREAM, 1])
    continued(optimizer, calls, trials)
    replicates = sum(replicated(other, other_calls) for _ in range(LAST))

    def judged(true: Sequence[float], index: int) -> float:
        return gap(start, true[index], cast(float, problem.minimum))

    means, _ = optimizer.belief.predict([trial.params for trial in optimizer.trials])
    indices = {
        "evaluated": int(np.argmin(calls.true)),
        "observed": optimizer.best_trial.number,
        "halves": int(np.argmin(means)),
        "recommended": optimizer.recommend().trial.number,
    }
    gaps = {rule: judged(calls.true, index) for rule, index in indices.items()}
    gaps["replicated"] = judged(other_calls.true, first_told(other))
    return {"gaps": gaps, "replicates": replicates}


def continued(optimizer: oc.Optimizer, calls: Measured, trials: int) -> None:
    """Search on until there are `trials` values."""
    while len(calls.true) < trials:
        trial = optimizer.ask()
        value, std = calls(trial.params)
        optimizer.tell(trial, value, std=std)


def replicated(optimizer: oc.Optimizer, calls: Measured) -> bool:
    """Make one trial; whether it was a replicate."""
    believed = optimizer.belief.believed
    assert isinstance(believed, UnitBelief)
    finished = [trial for trial in optimizer.trials if trial.value is not None]
    X = optimizer.space.encode([trial.params for trial in finished]).X
    order = np.argsort(believed.mixture.moments(X)[0], kind="stable")
    _, first = np.unique(X[order], axis=0, return_index=True)
    best = order[np.sort(first)[:TOP]]
    trial = optimizer.ask()
    points = np.vstack([X[best], optimizer.space.encode([trial.params]).X])
    known = np.array([each.std or 0.0 for each in finished])
    nearest = [int(np.argmin(((X - x) ** 2).sum(1))) for x in points]
    noise = (known[nearest] / believed.outcome.unit) ** 2
    expected = gains(believed.mixture, X[best], points, noise)
    again = int(np.argmax(expected[:-1]))
    is_replicate = bool(expected[again] > expected[-1])
    if is_replicate:
        optimizer.release(trial)
        optimizer.enqueue(finished[best[again]].params)
        trial = optimizer.ask()
    value, std = calls(trial.params)
    optimizer.tell(trial, value, std=std)
    return is_replicate


def first_told(optimizer: oc.Optimizer) -> int:
    """The position of the recommended configuration among all values, in their order."""
    params = optimizer.recommend().params
    return next(i for i, trial in enumerate(optimizer.trials) if trial.params == params)


def report(rows: Sequence[Row]) -> str:
    lines = []
    for half in ("choose", "confirm"):
        for method in ("gp", "auto"):
            for noise in PROBLEMS:
                own = [
                    row
                    for row in rows
                    if row["cell"]["half"] == half
                    and row["cell"]["method"] == method
                    and row["cell"]["noise"] == noise
                ]
                if own:
                    lines.append([half, method, noise, str(len(own)), *_figures(own)])
    names = ["half", "method", "noise", "runs", *RULES, "replicates", "p", "p of replication"]
    return f"{READING}\n\n{table(names, lines)}"


def _figures(rows: Sequence[Row]) -> list[str]:
    each = {rule: np.array([row["gaps"][rule] for row in rows]) for rule in RULES}
    means = [f"{values.mean():.3f}" for values in each.values()]
    p = paired_p_value(each["recommended"] - each["halves"])
    other = paired_p_value(each["replicated"] - each["recommended"])
    count = np.mean([row["replicates"] for row in rows])
    return [*means, f"{count:.1f}", f"{p:.3f}", f"{other:.3f}"]


EXPERIMENT = Experiment(
    name="noisy_recommendations",
    title="Recommendations where noise is unknown",
    parts=[
        [
            {"half": half, "method": method, "noise": noise, "problem": problem}
            for noise, problems in PROBLEMS.items()
            for problem in problems
        ]
        for half in ("choose", "confirm")
        for method in ("gp", "auto")
    ],
    run=run,
    report=report,
    documented=False,
)
