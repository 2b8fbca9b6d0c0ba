"""Regret of `method="gp"` beside Optuna's `GPSampler` and BoTorch, from the same initial points.

A run is one (method, problem, seed). It starts from 2d + 2 points, a Latin hypercube or scrambled
Sobol points (`--start`), that depend on problem and seed only, so that methods are compared in
pairs. Each run is one line of `results/regret/METHOD.jsonl` (`results/regret-sobol/` for Sobol
points), and is not repeated unless `--again` is given.

    gap = (first − best) / (first − minimum),    first: the best initial value

A gap of 1 is a solved problem.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import json
import time
import zlib
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import environment
from benchmarks.comparison import summarise
from benchmarks.methods import METHODS
from benchmarks.reporting import RESULTS, provenance
from outcrop.problems import Problem, get
from outcrop.typing import Points

TRIALS = {
    "branin": 50,
    "hartmann-6": 100,
    "ackley-2": 50,
    "levy-2": 50,
    "beale": 50,
    "griewank-2": 50,
}  # the initial points count
NAMES = {"latin": "regret", "sobol": "regret-sobol"}  # of the results, by where searches start


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--problems", nargs="+", choices=TRIALS, default=list(TRIALS))
    parser.add_argument("--runs", type=int, default=10, help="seeds 0 to RUNS − 1")
    parser.add_argument("--start", choices=NAMES, default="latin", help="kind of initial points")
    parser.add_argument("--again", action="store_true", help="forget the methods' earlier runs")


def run(options: Namespace) -> None:
    lines = RESULTS / NAMES[options.start]
    lines.mkdir(parents=True, exist_ok=True)
    if options.again:
        for method in options.methods:
            (lines / f"{method}.jsonl").unlink(missing_ok=True)
    done = {(r["method"], r["problem"], r["seed"]) for r in read_runs(lines)}
    for seed in range(options.runs):  # outermost, so that a part of the runs can be compared too
        for method in options.methods:
            for problem in options.problems:
                if (method, problem, seed) not in done:
                    _append(lines, one_run(method, problem, seed, options.start))
    minima = {name: minimum(name) for name in TRIALS}
    summarise(read_runs(lines), minima, NAMES[options.start], options.start)


def read_runs(lines: Path) -> list[dict[str, Any]]:
    """Every stored run of a known method."""
    return [
        json.loads(line)
        for method in METHODS
        if (path := lines / f"{method}.jsonl").exists()
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def one_run(method: str, name: str, seed: int, start: str) -> dict[str, Any]:
    problem = get(name)
    optimiser = METHODS[method](problem, seed)
    initial = initial_points(problem, seed, start)
    values = problem.evaluate(initial).tolist()
    for x, value in zip(initial, values, strict=True):
        optimiser.add(x, value)
    seconds = []
    while len(values) < TRIALS[name]:
        begun = time.perf_counter()
        x = optimiser.ask()
        asked = time.perf_counter() - begun
        value = float(problem.evaluate(x[None])[0])
        begun = time.perf_counter()
        optimiser.tell(value)
        seconds.append(asked + time.perf_counter() - begun)
        values.append(value)
    return {
        "method": method,
        "problem": name,
        "seed": seed,
        "n_initial": len(initial),
        "values": values,
        "seconds_per_trial": float(np.median(seconds)),
        **provenance(*environment.PEERS),
    }


def initial_points(problem: Problem, seed: int, start: str) -> Points:
    """The 2d + 2 points that every method starts from, in the problem's own units."""
    from scipy.stats import qmc

    n = 2 * problem.dimension + 2
    scrambling = np.random.default_rng([seed, zlib.crc32(problem.name.encode())])
    if start == "sobol":
        sobol = qmc.Sobol(problem.dimension, rng=scrambling)
        return problem.from_unit(sobol.random_base2((n - 1).bit_length())[:n])
    return problem.from_unit(qmc.LatinHypercube(problem.dimension, rng=scrambling).random(n))


def minimum(name: str) -> float:
    known = get(name).minimum
    assert known is not None
    return known


def _append(lines: Path, record: dict[str, Any]) -> None:
    path = lines / f"{record['method']}.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    regret = min(record["values"]) - minimum(record["problem"])
    print(
        f"{record['method']:13} {record['problem']:10} seed {record['seed']}: "
        f"regret {regret:9.2e}, {record['seconds_per_trial']:.3f} s a trial",
        flush=True,
    )
