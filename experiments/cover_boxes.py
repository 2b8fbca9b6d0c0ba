"""How much of an acquisition's maximum covers of several sizes find, in searches of Table 1.

A search of `modulated_table1` in which the usual maximiser makes the suggestions; a few of its
acquisitions are searched by each cover, too. A score is the share of the largest value that was
found by any of them. What was chosen on the first problems is confirmed on `CONFIRMING`.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.reporting import table
from experiments.harness import Cell, Experiment, Row
from experiments.modulated_table1 import searched_by
from outcrop.baselines import DeltaCover
from outcrop.maximise import Maximiser
from outcrop.maximise.base import Function, Maximum
from outcrop.space import Space
from outcrop.typing import Points, Rng

AT = (25, 45, 65, 85)  # suggestions at which the covers are compared
TRIALS = 104  # enough for all of them in eight dimensions
EACH = 2  # searches by each cover
COVERS = {
    "boxes kept": DeltaCover(fewest=10),
    "boxes halved, 3 to the end": DeltaCover(),
    "boxes halved, 2 to the end": DeltaCover(fewest=2),
    "five boxes": DeltaCover(boxes=5, fewest=5),
    "half the cover, boxes halved": DeltaCover(spread=1000),
    "a third of all": DeltaCover(spread=667, boxed=17, fewest=10),
}
CHOOSING = (
    ("hartmann-6", "GP"),
    ("shubert", "LGP"),
    ("ackley-6", "LGP"),
    ("weierstrass-8", "Homosced GP"),
    ("deflected-corrugated-spring-10", "LGP"),
    ("griewank-2", "GP"),
    ("corrupted-exponential-8", "GP"),
)
CONFIRMING = (
    ("hartmann-6", "LGP"),
    ("holder-table", "LGP"),
    ("ackley-6", "Heterosced GP"),
    ("weierstrass-8", "GP"),
    ("nn-boston", "GP"),
    ("cross-in-tray", "GP"),
    ("corrupted-exponential-8", "Homosced GP"),
)


class _Comparing:
    """The usual maximiser, which lets the covers search some of the functions it is given."""

    def __init__(self) -> None:
        self.calls = 0
        self.found: list[dict[str, Any]] = []

    def __call__(self, function: Function, space: Space, rng: Rng, **more: Any) -> Maximum:
        self.calls += 1
        if self.calls in AT:
            self.found.append(self._compared(function, space, {**more, "candidates": None}))
        return Maximiser()(function, space, rng, **more)

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None) -> Points:
        return Maximiser().candidates(space, rng, incumbents)

    def _compared(self, function: Function, space: Space, more: dict[str, Any]) -> dict[str, Any]:
        compared: dict[str, Any] = {"at": self.calls}
        for name, cover in COVERS.items():
            begun = time.process_time()
            each = [cover(function, space, np.random.default_rng(i), **more) for i in range(EACH)]
            compared[name] = {
                "values": [one.value for one in each],
                "evaluations": [one.evaluations for one in each],
                "seconds": round((time.process_time() - begun) / EACH, 4),
            }
        return compared


def run(cell: Cell, number: int) -> Row:
    comparing = _Comparing()
    searched_by(comparing, cell, number, TRIALS)
    return {"found": comparing.found}


def report(rows: Sequence[Row]) -> str:
    """Mean and lower shares of the largest values, and evaluations relative to the first cover."""
    scores: dict[str, list[float]] = {name: [] for name in COVERS}
    costs: dict[str, list[float]] = {name: [] for name in COVERS}
    first = next(iter(COVERS))
    for found in (each for row in rows for each in row["found"]):
        largest = max(max(found[name]["values"]) for name in COVERS)
        if largest > 0:
            for name in COVERS:
                scores[name] += [value / largest for value in found[name]["values"]]
                spent, usual = (sum(found[each]["evaluations"]) for each in (name, first))
                costs[name].append(spent / usual)
    lines = [
        [
            name,
            f"{np.mean(shares):.3f}",
            f"{np.median(shares):.3f}",
            f"{np.quantile(shares, 0.1):.3f}",
            f"{np.mean(costs[name]):.2f}",
        ]
        for name, shares in scores.items()
        if shares
    ]
    return table(["cover", "mean share", "median", "lowest tenth", "evaluations"], lines)


def cells(pairs: Sequence[tuple[str, str]]) -> list[Cell]:
    return [{"problem": problem, "method": method} for problem, method in pairs]


EXPERIMENT = Experiment(
    "cover_boxes",
    "Covers of acquisitions",
    [cells(CHOOSING), cells(CONFIRMING)],
    run,
    report,
    documented=False,
)
