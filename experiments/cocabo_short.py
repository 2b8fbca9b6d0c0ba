"""Searches of mixed spaces of 100 trials, which settled what the library does.

Those of the thesis's length are in `cocabo_figures`, the methods of both in `cocabo_searches`.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence
from typing import Any

from experiments.cocabo_pages import compared, convergence_pictures, pairs, searched, title_of
from experiments.cocabo_searches import METHODS, SHORT, run
from experiments.cocabo_words import CHANGED, DISAGREEMENTS, SHORTER, TESTS
from experiments.comparison import by_method
from experiments.former import before_and_after, former_rows, not_made_again
from experiments.harness import Cell, Experiment, Row

NAME = "cocabo_short"
SYNTHETIC = ("func-2C", "func-3C", "ackley-5C")
PANELS = (
    ("CoCaBO-auto", "CoCaBO-0.5", "One-hot", "TPE", "SMAC", "random"),
    ("CoCaBO-auto", "cocabo", "direct-cocabo", "direct-overlap", "TPE"),
)


def report(rows: Sequence[Row]) -> str:
    parts = [SHORTER]
    for batch, problem in searched(rows):
        parts.append(f"## {title_of(batch, problem)}")
        parts += compared(rows, batch, problem, [SHORT // 2, SHORT], picture_of)
    parts += ["## The default beside the others", pairs(rows), TESTS]
    parts += ["## What the changes of rewards and of one-hot codes did", changes(rows), CHANGED]
    return "\n\n".join(filter(None, [*parts, not_made_again(NAME, rows), DISAGREEMENTS]))


def changes(rows: Sequence[Row]) -> str:
    """The last gaps of methods before and after they were changed."""
    former = [
        {**row, "cell": {**row["cell"], "method": f"former {row['cell']['method']}"}}
        for row in former_rows(NAME, rows)
    ]
    found: dict[tuple[str, ...], tuple[dict[int, float], dict[int, float]]] = {}
    for batch, problem in searched([*rows, *former]):
        every = [row for row in [*rows, *former] if row["cell"]["batch"] == batch]
        searches = by_method(every, problem)
        for method in METHODS:
            if method in searches and f"former {method}" in searches:
                before = searches[f"former {method}"].gaps(SHORT)
                found[problem, batch, method] = before, searches[method].gaps(SHORT)
    return before_and_after(["problem", "batch", "method"], found, larger_is_better=True)


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    return convergence_pictures(rows, PANELS, picture_of)


def picture_of(batch: str, problem: str) -> str:
    return f"cocabo_{problem}" + ("" if batch == "1" else f"_{batch}")


def cells(problems: Sequence[str], methods: Sequence[str], batch: int = 1) -> list[Cell]:
    return [
        {"problem": problem, "method": method, "batch": str(batch)}
        for problem in problems
        for method in methods
    ]


RARE = ("CoCaBO-1.0", "CoCaBO-0.0", "CoCaBO-raw")
CORE = (*(method for method in METHODS if method not in RARE), "TPE", "SMAC", "random")
BATCHED = tuple(method for method in CORE if method not in ("TPE", "random"))  # as the thesis
EXPERIMENT = Experiment(
    NAME,
    f"CoCaBO: searches of {SHORT} trials",
    [
        [
            *cells([*SYNTHETIC, "svm-boston"], CORE),
            *cells(["func-2C"], BATCHED, 4),
            *cells(SYNTHETIC, ["CoCaBO-raw"]),
        ]
    ],
    run,
    report,
    draw,
    source="ours",
    summary='CoCaBO is ahead of one-hot codes; `"gp"` is level with it or ahead',
)
