"""Time of a suggestion while 31 trials are running, as a ratio to one while none is.

Five numbers and 50 observations; the method is `"gp"` but for its policy and acquisition. Every
policy has a search of its own, which has running trials and is rid of them by turns, so that both
suggestions have the same warm chains. A row is the median of the processor's seconds. Thompson
sampling is measured and has no bar, nor have constants of draws.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import time
from argparse import ArgumentParser, Namespace
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import outcrop as oc
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.problems import get

PROBLEM, OBSERVATIONS, RUNNING = "ackley-5", 50, 31
BAR = 3.0
WARM_UP = 2  # suggestions before the clock starts


class Case(NamedTuple):
    """A policy, and whether it is held to the bar."""

    policy: oc.pending.Pending
    has_bar: bool = True


CASES = (
    Case(oc.pending.Believer()),
    *(Case(oc.pending.Liar(value)) for value in ("min", "mean", "max")),
    Case(oc.pending.LocalPenalisation()),
    Case(oc.pending.HardPenalisation()),
    *(Case(oc.pending.PLAyBOOK(kind)) for kind in ("L", "LL", "H", "HL")),
    Case(oc.pending.PLAyBOOK("HL", constants="draws"), has_bar=False),
    Case(oc.pending.ThompsonSampling(), has_bar=False),
)
ACQUISITIONS = (oc.acquisition.LogEI(), oc.acquisition.UCB(2.0))


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repetitions", type=int, default=15, help="timed suggestions of each")


def run(options: Namespace) -> None:
    rows = [row for a in ACQUISITIONS for row in measured(a, options.repetitions)]
    lines = []
    for row in rows:
        numbers = [f"{row['alone']:.3f}", f"{row['busy']:.3f}", f"{row['ratio']:.2f}"]
        met = "" if row["met"] is None else verdict(row["met"])
        lines.append([row["acquisition"], row["policy"], *numbers, met])
    header = ["acquisition", "policy", "none running", f"{RUNNING} running", "ratio"]
    print(table([*header, f"≤ {BAR:.0f}"], lines))
    sizes = {"problem": PROBLEM, "observations": OBSERVATIONS, "running": RUNNING, "bar": BAR}
    save("pending", provenance() | sizes | {"repetitions": options.repetitions, "rows": rows})


def measured(acquisition: Any, repetitions: int) -> list[dict[str, Any]]:
    """Seconds of all policies, which take turns."""
    searches = [Search(case, acquisition) for case in CASES]
    for step in range(WARM_UP + repetitions):
        for search in searches:
            search.go_on(is_timed=step >= WARM_UP)
    return [search.row(type(acquisition).__name__) for search in searches]


class Search:
    """A method with one policy that was given random configurations with their values."""

    def __init__(self, case: Case, acquisition: Any) -> None:
        problem, rng = get(PROBLEM), np.random.default_rng(0)
        method = oc.Method(acquisition=acquisition, pending=case.policy)
        self.case = case
        self.optimizer = oc.Optimizer(problem.space, method=method, seed=0, noise=False)
        past = problem.space.sample(rng, OBSERVATIONS)
        self.optimizer.add(past, [problem(params) for params in past])
        self.running = problem.space.sample(rng, RUNNING)
        self.alone: list[float] = []
        self.busy: list[float] = []

    def go_on(self, is_timed: bool) -> None:
        """One suggestion with nothing running, and one with all; nothing is told."""
        alone = self._suggested()
        trials = []
        for params in self.running:
            self.optimizer.enqueue(params)
            trials.append(self.optimizer.ask())
        busy = self._suggested()
        for trial in trials:
            self.optimizer.release(trial)
        if is_timed:
            self.alone.append(alone)
            self.busy.append(busy)

    def _suggested(self) -> float:
        start = time.process_time()
        trial = self.optimizer.ask()
        taken = time.process_time() - start
        self.optimizer.release(trial)
        return taken

    def row(self, acquisition: str) -> dict[str, Any]:
        alone, busy = median(self.alone), median(self.busy)
        ratio = busy / alone
        return {
            "acquisition": acquisition,
            "policy": repr(self.case.policy),
            "alone": alone,
            "busy": busy,
            "ratio": ratio,
            "met": ratio <= BAR if self.case.has_bar else None,
        }
