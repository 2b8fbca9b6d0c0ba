"""Cost of processes in the leaves of a conditional space, beside the same belief held dense.

The likelihood is that of 200 observations on the eight leaves of the large balanced tree, computed
by leaves and by one dense process with the same covariance. A suggestion is warm and noise-free, of
`TreeStructured` and of `Marginal`, both by sampled hyperparameters; the methods take turns, a row
is a median. Times are of the processor, so that others on the machine count less.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.baselines import Marginal
from outcrop.data import Observations
from outcrop.params import Layout
from outcrop.problems import get
from outcrop.strategies import Method
from outcrop.surrogates import GP, BranchGP, Kind, Situation, TreeStructured

PROBLEM = "tree-large-shared"
N = 200
BARS = {"likelihood": 1 / 2, "suggestion": 1 / 4}  # of the seconds of the dense process
NOISE = 1e-4


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repetitions", type=int, default=7, help="timed suggestions of each")


def run(options: Namespace) -> None:
    rows: list[dict[str, Any]] = []
    for what, measured in (
        ("likelihood", likelihood_seconds(40 * options.repetitions)),
        ("suggestion", suggestion_seconds(options.repetitions)),
    ):
        ratio = measured["tree"] / measured["dense"]
        met = ratio <= BARS[what]
        rows.append({"what": what, "n": N, **measured, "ratio": ratio, "met": met})
    print(
        table(
            ["what", "n", "tree, ms", "dense, ms", "ratio", "bar", ""],
            [
                [
                    r["what"],
                    str(r["n"]),
                    f"{1e3 * r['tree']:.2f}",
                    f"{1e3 * r['dense']:.2f}",
                    f"{r['ratio']:.2f}",
                    f"≤ {BARS[r['what']]:.2f}",
                    verdict(r["met"]),
                ]
                for r in rows
            ],
        )
    )
    save("tree", provenance() | {"problem": PROBLEM, "rows": rows})


def likelihood_seconds(repetitions: int) -> dict[str, float]:
    """Of one likelihood at hyperparameters drawn from the prior, sorted into leaves before."""
    data = past()
    kernel = Marginal().kernel(Situation(get(PROBLEM).space))
    layout = Layout.of(kernel, data)
    drawn: Any = layout.bind(layout.sample_prior(np.random.default_rng(1), 1)[0])
    shared, *leaves = drawn.kernels
    tree = BranchGP(shared, tuple(leaves), NOISE)
    dense, sorted_ = GP(drawn, NOISE), tree.sorted(data)
    assert abs(tree.log_likelihood(sorted_) - dense.log_likelihood(data)) < 1e-6
    calls: dict[str, Callable[[], object]] = {
        "tree": lambda: tree.log_likelihood(sorted_),
        "dense": lambda: dense.log_likelihood(data),
    }
    return medians(calls, repetitions)


def suggestion_seconds(repetitions: int) -> dict[str, float]:
    """Of one suggestion at about `N` observations, the newest told before the clock starts."""
    problem = get(PROBLEM)
    kinds: dict[str, Kind] = {"tree": TreeStructured(chance=1.0), "dense": Marginal()}
    optimizers = {}
    for name, kind in kinds.items():
        optimizer = oc.Optimizer(problem.space, method=Method(kind), noise=False, seed=0)
        data = past(N - repetitions // 2 - 1)
        for params, value in zip(problem.space.decode(data.X), data.y.tolist(), strict=True):
            optimizer.add(params, value)
        optimizers[name] = optimizer
    seconds: dict[str, list[float]] = {name: [] for name in optimizers}
    for step in range(repetitions + 1):
        for name, optimizer in optimizers.items():
            start = time.process_time()
            trial = optimizer.ask()
            if step:  # chains are cold at the first
                seconds[name].append(time.process_time() - start)
            optimizer.tell(trial, float(problem.function(trial.params)))
    return {name: median(taken) for name, taken in seconds.items()}


def past(n: int = N) -> Observations:
    """Random configurations of the problem, and their values standardised."""
    problem = get(PROBLEM)
    X = problem.space.encode(problem.space.sample(np.random.default_rng(0), n)).X
    y = np.array([problem.function(params) for params in problem.space.decode(X)])
    return Observations(X, (y - y.mean()) / y.std())


def medians(calls: dict[str, Callable[[], object]], repetitions: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repetitions):
        for name, call in calls.items():
            start = time.process_time()
            call()
            seconds[name].append(time.process_time() - start)
    return {name: median(taken) for name, taken in seconds.items()}
