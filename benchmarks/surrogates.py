"""Time of one warm suggestion of every method with a model, beside `method="gp"`.

Every method is given random configurations as its past, then asks and is told as in a search, so
that whatever it keeps from one trial to the next is warm. The methods take turns; a row is the
median of the processor's seconds over suggestions from n − r/2 to n + r/2 observations.

Methods for mixed spaces search five categories of 17 levels and a number; the `"gp"` beside them
searches six numbers. Treed surrogates are timed for growing n as well.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import outcrop as oc
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.problems import get

WARM_UP = 3  # suggestions before the clock starts
SIZES = (50, 100)
GROWING = (100, 200, 500, 1000, 2000, 5000)
GROWN = 3  # timed suggestions of each size there


class Case(NamedTuple):
    """A method on a problem, and how many times the seconds of `"gp"` it may take."""

    label: str
    problem: str
    method: Any
    bar: float | None = None


RUGGED = (
    Case("gp", "hartmann-6", "gp"),
    Case("warped", "hartmann-6", "warped", 4.0),
    Case("spartan", "hartmann-6", "spartan", 5.0),
    Case("treed", "hartmann-6", "treed", 6.0),
    Case("treed-warped", "hartmann-6", "treed-warped", 6.0),
    Case("latent", "hartmann-6", "latent", 10.0),
)
MIXED = (
    Case("gp on 6 numbers", "ackley-6", "gp"),
    Case("gp", "ackley-5C", "gp", 3.0),
    Case("cocabo", "ackley-5C", "cocabo", 3.0),
    Case("CoCaBO kernel", "ackley-5C", oc.Method(surrogate=oc.surrogates.CategoryMix()), 3.0),
    Case("hierarchical", "ackley-5C", "hierarchical"),
)
TREED = (Case("treed", "hartmann-6", "treed"), Case("treed-warped", "hartmann-6", "treed-warped"))


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repetitions", type=int, default=15, help="timed suggestions of each")
    parser.add_argument("--largest", type=int, default=GROWING[-1], help="leave out larger n")


def run(options: Namespace) -> None:
    rugged = [row for n in SIZES for row in compared(RUGGED, n, options.repetitions)]
    mixed = compared(MIXED, SIZES[-1], options.repetitions)
    for rows in (rugged, mixed):
        lines = [[str(row["n"]), row["method"], *shown(row)] for row in rows]
        print(table(["n", "method", "seconds", "× gp", "bar", ""], lines), end="\n\n")
    growing = [
        {"n": n, "method": case.label, "seconds": taken}
        for n in GROWING
        if n <= options.largest
        for case, taken in zip(TREED, median_seconds(TREED, n, GROWN), strict=True)
    ]
    lines = [[str(row["n"]), row["method"], f"{row['seconds']:.3f}"] for row in growing]
    print(table(["n", "method", "seconds"], lines))
    counted = {"repetitions": options.repetitions, "repetitions_growing": GROWN}
    save("surrogates", provenance() | counted | {"rows": [*rugged, *mixed], "growing": growing})


def compared(cases: Sequence[Case], n: int, repetitions: int) -> list[dict[str, Any]]:
    """Each case beside the first."""
    seconds = median_seconds(cases, n, repetitions)
    rows = []
    for case, taken in zip(cases, seconds, strict=True):
        ratio = taken / seconds[0]
        met = None if case.bar is None else ratio <= case.bar
        row = {"problem": case.problem, "n": n, "method": case.label, "seconds": taken}
        rows.append({**row, "ratio": ratio, "bar": case.bar, "met": met})
    return rows


def shown(row: dict[str, Any]) -> list[str]:
    bar = "" if row["bar"] is None else f"≤ {row['bar']:.0f} ×"
    met = "" if row["met"] is None else verdict(row["met"])
    return [f"{row['seconds']:.3f}", f"{row['ratio']:.2f}", bar, met]


def median_seconds(cases: Sequence[Case], n: int, repetitions: int) -> list[float]:
    """Of one suggestion at `n` observations by the method of each case."""
    searches = [Search(case, n - repetitions // 2 - WARM_UP) for case in cases]
    for step in range(WARM_UP + repetitions):
        for search in searches:
            search.go_on(is_timed=step >= WARM_UP)
    return [median(search.seconds) for search in searches]


class Search:
    """A method that was given `n` random configurations with their values."""

    def __init__(self, case: Case, n: int) -> None:
        self.problem = get(case.problem)
        space = self.problem.space
        self.optimizer = oc.Optimizer(space, method=case.method, seed=0, noise=False)
        past = space.sample(np.random.default_rng(0), n)
        self.optimizer.add(past, [self.problem(params) for params in past])
        self.seconds: list[float] = []

    def go_on(self, is_timed: bool) -> None:
        start = time.process_time()
        trial = self.optimizer.ask()
        if is_timed:
            self.seconds.append(time.process_time() - start)
        self.optimizer.tell(trial, self.problem(trial.params))
