"""Time of one warm suggestion: `method="gp"` beside Optuna's `GPSampler` and BoTorch.

Each method is given Sobol points of the problem as its past, then asks and is told as in a search,
so that whatever it keeps from one trial to the next is warm. The methods take turns; a row is the
median over suggestions from n − r/2 to n + r/2 observations.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import numpy as np

from benchmarks import environment
from benchmarks.methods import METHODS, Method
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.problems import Problem, get

WARM_UP = 3  # suggestions before the clock starts
ALL = ("outcrop", "optuna-gp", "botorch", "botorch-exact")
CASES = (
    ("hartmann-6", 50, ALL),
    ("hartmann-6", 100, ALL),
    ("hartmann-6", 200, ALL[:1]),
    ("hartmann-6", 500, ALL[:1]),
    ("michalewicz-5", 100, ALL[:1]),
)
RATIO_BARS = {"optuna-gp": 1.0, "botorch": 5.0}  # how many times our time they must take
SECONDS_BARS = {("michalewicz-5", 100): 0.15, ("hartmann-6", 500): 0.5}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repetitions", type=int, default=7, help="timed suggestions of each")
    parser.add_argument("--largest", type=int, default=500, help="leave out larger n")


def run(options: Namespace) -> None:
    rows: list[dict[str, Any]] = []
    for name, n, methods in CASES:
        if n > options.largest:
            continue
        makers = {method: METHODS[method] for method in methods}
        seconds = median_seconds(get(name), n, makers, options.repetitions)
        rows += [row(name, n, method, seconds) for method in methods]
    print(
        table(
            ["problem", "n", "method", "seconds", "× ours", "bar", ""],
            [
                [
                    r["problem"],
                    str(r["n"]),
                    r["method"],
                    f"{r['seconds']:.3f}",
                    f"{r['ratio']:.2f}",
                    r["bar"],
                    "" if r["met"] is None else verdict(r["met"]),
                ]
                for r in rows
            ],
        )
    )
    save(
        "suggestion",
        provenance(*environment.PEERS) | {"repetitions": options.repetitions, "rows": rows},
    )


def row(problem: str, n: int, method: str, seconds: dict[str, float]) -> dict[str, Any]:
    taken, ratio = seconds[method], seconds[method] / seconds["outcrop"]
    bar, met = "", None
    if method in RATIO_BARS:
        bar, met = f"≥ {RATIO_BARS[method]:.0f} × ours", ratio >= RATIO_BARS[method]
    elif (problem, n) in SECONDS_BARS:
        limit = SECONDS_BARS[problem, n]
        bar, met = f"≤ {limit} s", taken <= limit
    return {"problem": problem, "n": n, "method": method} | {
        "seconds": taken,
        "ratio": ratio,
        "bar": bar,
        "met": met,
    }


def median_seconds(
    problem: Problem,
    n: int,
    makers: Mapping[str, Callable[[Problem, int], Method]],
    repetitions: int,
) -> dict[str, float]:
    """Of one suggestion at `n` observations by each of the methods that `makers` make."""
    given = n - repetitions // 2 - WARM_UP
    optimisers = {
        name: with_past(make(problem, 0), problem, given) for name, make in makers.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in makers}
    for step in range(WARM_UP + repetitions):
        for name, optimiser in optimisers.items():
            start = time.perf_counter()
            x = optimiser.ask()
            if step >= WARM_UP:
                seconds[name].append(time.perf_counter() - start)
            optimiser.tell(float(problem.evaluate(x[None])[0]))
    return {name: median(taken) for name, taken in seconds.items()}


def with_past(method: Method, problem: Problem, n: int) -> Method:
    """The method once it has been told `n` scrambled Sobol points."""
    from scipy.stats import qmc

    sobol = qmc.Sobol(problem.dimension, seed=np.random.default_rng(0))
    X = problem.from_unit(sobol.random_base2((n - 1).bit_length())[:n])
    for x, value in zip(X, problem.evaluate(X).tolist(), strict=True):
        method.add(x, value)
    return method
