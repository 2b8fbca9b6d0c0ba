"""Figures 5.2 and 5.4 to 5.9 of the thesis on CoCaBO: searches of mixed spaces.

The methods are in `cocabo_searches`; shorter searches, which settled what the library does, in
`cocabo_short`.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Sequence
from typing import Any

from experiments import cocabo_batches, cocabo_levels
from experiments.cocabo_pages import (
    compared,
    convergence_pictures,
    pairs,
    picture_link,
    searched,
    title_of,
)
from experiments.cocabo_searches import DEFAULT, THESIS, Length, run, thesis_cells
from experiments.cocabo_words import BATCHES, FOLLOWED_LEVELS, FOUND, READING, TESTS
from experiments.harness import Experiment, Row

SYNTHETIC = ("func-2C", "func-3C", "ackley-5C")
FEW_LEVELS = "ackley-5C5"
REAL = ("svm-boston", "nn-yacht", "boosting-digits")
MANY_LEVELS = ("ackley-2C", "ackley-3C", "ackley-4C")
FIGURES = {  # of the thesis, by problem and batch; others are not in it
    **{(problem, "1"): "5.4" for problem in SYNTHETIC},
    **{(problem, "4"): "5.5" for problem in SYNTHETIC},
    (FEW_LEVELS, "1"): "5.6a",
    (FEW_LEVELS, "4"): "5.6b",
    **{(problem, "4"): "5.7" for problem in REAL},
}
PANELS = (
    ("CoCaBO-auto", "CoCaBO-0.5", "CoCaBO-1.0", "CoCaBO-0.0", DEFAULT, "CoCaBO-learns"),
    ("CoCaBO-auto", "One-hot", "HyperOpt", "TPE", "SMAC", "random"),
)


def report(rows: Sequence[Row]) -> str:
    parts = [READING, left_out(rows)]
    for batch, problem in searched(rows):
        mine = [row for row in rows if row["cell"]["batch"] == batch]
        length = Length.of(mine[0]["cell"])
        shown = [length.trials - length.suggested // 2, length.trials]
        parts += [heading(batch, problem), *compared(rows, batch, problem, shown, picture_of)]
    if sweep := cocabo_batches.of_batches(rows):
        parts += ["## Figures 5.8 and 5.9: sizes of batches", cocabo_batches.sweep_table(sweep)]
        parts += [BATCHES, picture_link("Batches of several sizes", cocabo_batches.PICTURE)]
    if followed := cocabo_levels.followed(rows):
        parts += ["## Figure 5.2: levels of func-2C", cocabo_levels.level_table(followed)]
        parts += [FOLLOWED_LEVELS, picture_link("Levels of func-2C", cocabo_levels.PICTURE)]
    parts += ["## The default beside the others", pairs(rows), TESTS, FOUND]
    return "\n\n".join(filter(None, parts))


def heading(batch: str, problem: str) -> str:
    """The title of searches, with the thesis's figure if it has one."""
    figure = FIGURES.get((problem, batch))
    return f"## {f'Figure {figure}: ' if figure else ''}{title_of(batch, problem)}"


def left_out(rows: Sequence[Row]) -> str:
    """A sentence on searches that were not made; empty if all were."""
    made = [row["cell"] for row in rows]
    wanted: dict[str, list[str]] = {}
    missing: dict[str, list[str]] = {}
    for cell in EXPERIMENT.cells:
        title = title_of(cell["batch"], cell["problem"])
        wanted.setdefault(title, []).append(cell["method"])
        if cell not in made:
            missing.setdefault(title, []).append(cell["method"])
    named = [
        title if missing[title] == methods else f"{title} ({', '.join(missing[title])})"
        for title, methods in wanted.items()
        if title in missing
    ]
    return f"Not made yet, and left out: {'; '.join(named)}." if named else ""


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    figures = convergence_pictures(rows, PANELS, picture_of)
    if sweep := cocabo_batches.of_batches(rows):
        figures[cocabo_batches.PICTURE] = cocabo_batches.picture(sweep)
    if followed := cocabo_levels.followed(rows):
        figures[cocabo_levels.PICTURE] = cocabo_levels.picture(followed[0])
    return figures


def picture_of(batch: str, problem: str) -> str:
    return f"cocabo_{problem}" + ("" if batch == "1" else f"_{batch}") + "_thesis"


FUNCTIONS = (*SYNTHETIC, FEW_LEVELS)
COMPARED = (*THESIS, DEFAULT, "random")
EXPERIMENT = Experiment(
    "cocabo_figures",
    "CoCaBO: Figures 5.2 and 5.4 to 5.9",
    [
        thesis_cells(FUNCTIONS, [*COMPARED, "HyperOpt", "TPE"]),
        thesis_cells(FUNCTIONS, COMPARED, 4),
        thesis_cells(REAL, COMPARED, 4),
        [
            *thesis_cells(["svm-boston"], ["CoCaBO-auto"]),
            *thesis_cells(list(cocabo_batches.SWEPT), ["CoCaBO-auto"], 2),
            *thesis_cells(list(cocabo_batches.SWEPT), ["CoCaBO-auto"], 8),
        ],
        thesis_cells(["svm-boston", "nn-yacht"], ["CoCaBO-learns"], 4),
        thesis_cells(FUNCTIONS, ["SMAC"]),
        [*thesis_cells(FUNCTIONS, ["SMAC"], 4), *thesis_cells(REAL, ["SMAC"], 4)],
        thesis_cells(MANY_LEVELS, [*COMPARED, "HyperOpt", "TPE"]),
        thesis_cells(FUNCTIONS, ["CoCaBO-raw", "cocabo", "direct-cocabo"]),
        thesis_cells(MANY_LEVELS, ["SMAC"]),
    ],
    run,
    report,
    draw,
    source="Alvi 2019, ch. 5",
    summary='CoCaBO is ahead of one-hot codes, as published; `"gp"` is level with it or ahead',
)
