"""Predictions of held-out values from many observations: boxes beside the exact process.

All beliefs of a run have the chains of one fit, which are inferred from a part of the observations
as always; they differ in what is conditioned on: all observations exactly, all in boxes, or 500.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT", "scores"]

from collections.abc import Sequence
from statistics import mean

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from benchmarks.reporting import table
from experiments.harness import Cell, Experiment, Row
from experiments.searches import problem_of
from outcrop.data import Observations
from outcrop.surrogates import GP, Inferred, Mixture, Plain, Situation, Standardised
from outcrop.surrogates.base import Posterior
from outcrop.surrogates.inferred import best_and_others
from outcrop.surrogates.leafwise import LeafwisePosterior
from outcrop.surrogates.local_processes import EXACT_ROWS
from outcrop.surrogates.situation import NoiseFacts
from outcrop.typing import Points, Vector

PROBLEMS = ("hartmann-6", "ackley-6", "griewank-2", "michalewicz-5", "func-3C")
SIZES = (1000, 2000)
NEW = 300  # held-out points
BELIEFS = ("all", "boxes", "part")


def run(cell: Cell, number: int) -> Row:
    problem, n = problem_of(cell["problem"]), int(cell["n"])
    rng = np.random.default_rng([number, n])
    params = problem.space.sample(rng, n + NEW)
    X = problem.space.encode(params)[0]
    values = np.array([problem(each) for each in params])
    outcome = Standardised.of(values[:n], X[:n])
    data, wanted = Observations(X[:n], outcome.apply(values[:n])), outcome.apply(values[n:])
    situation = Situation(problem.space, NoiseFacts(declared=False), observations=n)
    surrogate = Plain().surrogate(situation)
    assert isinstance(surrogate, Inferred)
    boxes = surrogate.fit(data, rng)
    processes = [_process(part) for part in boxes.components]
    exact = Mixture(tuple(process.condition(data) for process in processes), boxes.weights)
    some = best_and_others(data, EXACT_ROWS)
    part = Mixture(tuple(process.condition(some) for process in processes), boxes.weights)
    beliefs = {"all": exact, "boxes": boxes, "part": part}
    return {name: scores(belief, X[n:], wanted) for name, belief in beliefs.items()}


def _process(part: Posterior) -> GP:
    """The process of a chain, which is the same in all boxes."""
    assert isinstance(part, LeafwisePosterior)
    return part.leaves[0].model


def scores(belief: Mixture, X: Points, y: Vector) -> dict[str, float]:
    """Mean log density of `y`, share of it in the central 90 % of the mixture, and RMSE."""
    means, variances = belief.predict_each(X)
    stds = np.sqrt(variances)
    densities = logsumexp(norm.logpdf(y, means, stds), axis=0, b=belief.weights[:, None])
    below = belief.weights @ norm.cdf(y, means, stds)
    return {
        "log_density": float(np.mean(densities)),
        "coverage": float(np.mean((below > 0.05) & (below < 0.95))),
        "rmse": float(np.sqrt(np.mean((y - belief.weights @ means) ** 2))),
    }


def report(rows: Sequence[Row]) -> str:
    lines = []
    for problem in PROBLEMS:
        for n in map(str, SIZES):
            own = [row for row in rows if row["cell"] == {"problem": problem, "n": n}]
            if own:
                shown = [", ".join(_averaged(own, belief)) for belief in BELIEFS]
                lines.append([problem, n, str(len(own)), *shown])
    return table(["function", "n", "seeds", "all", "boxes", f"{EXACT_ROWS} observations"], lines)


def _averaged(rows: Sequence[Row], belief: str) -> list[str]:
    formats = {"log_density": ".2f", "coverage": ".2f", "rmse": ".3f"}
    return [format(mean(row[belief][name] for row in rows), how) for name, how in formats.items()]


EXPERIMENT = Experiment(
    "many_calibration",
    "Predictions from many observations",
    [[{"problem": problem, "n": str(n)} for problem in PROBLEMS for n in SIZES]],
    run,
    report,
    documented=False,
)
