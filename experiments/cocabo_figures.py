"""Figures 5.2 and 5.4 to 5.9 of the thesis on CoCaBO: searches of mixed spaces.

Those of the thesis's length come first on the page, then shorter ones of 100 trials, which settled
what the library does. The methods are in `cocabo_searches`.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.reporting import table
from experiments import cocabo_batches, cocabo_levels
from experiments.cocabo_searches import (
    DEFAULT,
    METHODS,
    SHORT,
    THESIS,
    Length,
    run,
    thesis_cells,
)
from experiments.cocabo_words import (
    BATCHES,
    CHANGED,
    DISAGREEMENTS,
    FOLLOWED_LEVELS,
    READING,
    SHORTER,
    TESTS,
)
from experiments.comparison import by_method, corrected_p_values, gap_table
from experiments.figures import convergence_figure
from experiments.former import before_and_after, former_rows, not_made_again
from experiments.harness import Cell, Experiment, Row

SYNTHETIC = ("func-2C", "func-3C", "ackley-5C")
FEW_LEVELS = "ackley-5C5"
REAL = ("svm-boston", "nn-yacht", "boosting-digits")
MANY_LEVELS = ("ackley-2C", "ackley-3C", "ackley-4C")
TITLES = {
    "func-2C": "func-2C",
    "func-3C": "func-3C",
    "ackley-2C": "ackley-2C",
    "ackley-3C": "ackley-3C",
    "ackley-4C": "ackley-4C",
    "ackley-5C": "ackley-5C",
    "ackley-5C5": "ackley-5C5",
    "svm-boston": "SVM-Boston",
    "nn-yacht": "NN-Yacht",
    "boosting-digits": "Gradient boosting on digits, in place of XG-MNIST",
}
FIGURES = {  # of the thesis, by problem and batch; others are not in it
    **{(problem, "1"): "5.4" for problem in SYNTHETIC},
    **{(problem, "4"): "5.5" for problem in SYNTHETIC},
    (FEW_LEVELS, "1"): "5.6a",
    (FEW_LEVELS, "4"): "5.6b",
    **{(problem, "4"): "5.7" for problem in REAL},
}
PANELS = (
    ("CoCaBO-auto", "CoCaBO-0.5", "CoCaBO-1.0", "CoCaBO-0.0", DEFAULT),
    ("CoCaBO-auto", "One-hot", "TPE", "SMAC", "random"),
)
SHORT_PANELS = (
    ("CoCaBO-auto", "CoCaBO-0.5", "One-hot", "TPE", "SMAC", "random"),
    ("CoCaBO-auto", "cocabo", "direct-cocabo", "direct-overlap", "TPE"),
)


def report(rows: Sequence[Row]) -> str:
    of_thesis, short = divided(rows)
    parts = [READING, left_out(of_thesis)]
    for batch, problem in searched(of_thesis):
        mine = [row for row in of_thesis if row["cell"]["batch"] == batch]
        length = Length.of(mine[0]["cell"])
        shown = [length.trials - length.suggested // 2, length.trials]
        parts += [heading(batch, problem), *compared(mine, batch, problem, shown)]
    if sweep := cocabo_batches.of_batches(of_thesis):
        parts += ["## Figures 5.8 and 5.9: sizes of batches", cocabo_batches.sweep_table(sweep)]
        parts += [BATCHES, picture_link("Batches of several sizes", cocabo_batches.PICTURE)]
    if followed := cocabo_levels.followed(of_thesis):
        parts += ["## Figure 5.2: levels of func-2C", cocabo_levels.level_table(followed)]
        parts += [FOLLOWED_LEVELS, picture_link("Levels of func-2C", cocabo_levels.PICTURE)]
    if of_thesis:
        parts += ["## The default beside the others", pairs(of_thesis), TESTS]
    return "\n\n".join(filter(None, [*parts, *short_report(short)]))


def short_report(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    parts = [f"## Searches of {SHORT} trials", SHORTER]
    for batch, problem in searched(rows):
        mine = [row for row in rows if row["cell"]["batch"] == batch]
        parts.append(f"### {title_of(batch, problem)}")
        parts += compared(mine, batch, problem, [SHORT // 2, SHORT])
    parts += ["### The default beside the others", pairs(rows), TESTS]
    parts += ["### What the changes of rewards and of one-hot codes did", changes(rows), CHANGED]
    return [*parts, not_made_again("cocabo_figures", rows), DISAGREEMENTS]


def heading(batch: str, problem: str) -> str:
    """The title of searches of the thesis's length, with the thesis's figure if it has one."""
    figure = FIGURES.get((problem, batch))
    return f"## {f'Figure {figure}: ' if figure else ''}{title_of(batch, problem)}"


def title_of(batch: str, problem: str) -> str:
    return TITLES[problem] + ("" if batch == "1" else f", batches of {batch}")


def compared(rows: Sequence[Row], batch: str, problem: str, trials: Sequence[int]) -> list[str]:
    """Table and picture of the methods on one problem."""
    shown = gap_table(rows, [problem], "CoCaBO-auto", trials)
    name = picture_of(batch, problem, "iterations" in rows[0]["cell"])
    return [shown, picture_link(f"Convergence on {title_of(batch, problem)}", name)]


def picture_link(title: str, name: str) -> str:
    return f"![{title}](../images/{name}.png)"


def divided(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Searches of the thesis's length, and shorter ones."""
    of_thesis = [row for row in rows if "iterations" in row["cell"]]
    return of_thesis, [row for row in rows if "iterations" not in row["cell"]]


def searched(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Batch sizes and problems that several methods searched, in the order of the figures."""
    methods: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        cell = row["cell"]
        methods.setdefault((cell["batch"], cell["problem"]), set()).add(cell["method"])
    return in_order([key for key, those in methods.items() if len(those) > 1])


def in_order(keys: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Batch sizes and problems, small batches first."""
    problems = list(TITLES)
    return sorted(set(keys), key=lambda each: (int(each[0]), problems.index(each[1])))


def left_out(rows: Sequence[Row]) -> str:
    """A sentence on searches of the thesis's length that were not made; empty if all were."""
    if not rows:
        return "Searches of the thesis's length are not made yet with this version, and left out."
    made = [row["cell"] for row in rows]
    wanted = [cell for cell in EXPERIMENT.cells if "iterations" in cell]
    missing: dict[str, list[str]] = {}
    for cell in wanted:
        if cell not in made:
            title = title_of(cell["batch"], cell["problem"])
            missing.setdefault(title, []).append(cell["method"])
    if not missing:
        return ""
    named = "; ".join(f"{title} ({', '.join(methods)})" for title, methods in missing.items())
    return f"Not made yet at the thesis's length, and left out: {named}."


def changes(rows: Sequence[Row]) -> str:
    """The last gaps of methods before and after they were changed."""
    former = [
        {**row, "cell": {**row["cell"], "method": f"former {row['cell']['method']}"}}
        for row in former_rows("cocabo_figures", rows)
    ]
    found: dict[tuple[str, ...], tuple[dict[int, float], dict[int, float]]] = {}
    for batch, problem in in_order((r["cell"]["batch"], r["cell"]["problem"]) for r in former):
        every = [row for row in [*rows, *former] if row["cell"]["batch"] == batch]
        searches = by_method(every, problem)
        for method in METHODS:
            if method in searches and f"former {method}" in searches:
                before = searches[f"former {method}"].gaps(SHORT)
                found[problem, batch, method] = before, searches[method].gaps(SHORT)
    return before_and_after(["problem", "batch", "method"], found, larger_is_better=True)


def pairs(rows: Sequence[Row]) -> str:
    """`direct-overlap` against each other method, by the last gaps; Holm for each problem."""
    lines = []
    for batch, problem in searched(rows):
        mine = [row for row in rows if row["cell"]["batch"] == batch]
        found = {method: each.gaps() for method, each in by_method(mine, problem).items()}
        if DEFAULT not in found:
            continue
        own = found.pop(DEFAULT)
        p_values = corrected_p_values({method: (other, own) for method, other in found.items()})
        for method, p in p_values.items():
            both = own.keys() & found[method].keys()
            ahead = sum(own[run] > found[method][run] for run in both)
            behind = sum(own[run] < found[method][run] for run in both)
            lines.append([problem, batch, method, f"{ahead} : {behind}", f"{p:.3f}"])
    return table(["problem", "batch", "other", f"{DEFAULT} ahead : behind", "p"], lines)


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    of_thesis, short = divided(rows)
    figures = {}
    for those, panels in ((of_thesis, PANELS), (short, SHORT_PANELS)):
        for batch, problem in searched(those):
            mine = [row for row in those if row["cell"]["batch"] == batch]
            name = picture_of(batch, problem, those is of_thesis)
            figures[name] = convergence_figure(mine, problem, panels)
    if sweep := cocabo_batches.of_batches(of_thesis):
        figures[cocabo_batches.PICTURE] = cocabo_batches.picture(sweep)
    if followed := cocabo_levels.followed(of_thesis):
        figures[cocabo_levels.PICTURE] = cocabo_levels.picture(followed[0])
    return figures


def picture_of(batch: str, problem: str, is_of_thesis: bool) -> str:
    name = f"cocabo_{problem}" + ("" if batch == "1" else f"_{batch}")
    return f"{name}_thesis" if is_of_thesis else name


def short_cells(problems: Sequence[str], methods: Sequence[str], batch: int = 1) -> list[Cell]:
    return [
        {"problem": problem, "method": method, "batch": str(batch)}
        for problem in problems
        for method in methods
    ]


RARE = ("CoCaBO-1.0", "CoCaBO-0.0", "CoCaBO-raw")
CORE = (*(method for method in METHODS if method not in RARE), "TPE", "SMAC", "random")
SHORT_BATCHED = tuple(m for m in CORE if m not in ("TPE", "random"))  # as the thesis
SHORT_CELLS = [
    *short_cells([*SYNTHETIC, "svm-boston"], CORE),
    *short_cells(["func-2C"], SHORT_BATCHED, 4),
    *short_cells(SYNTHETIC, ["CoCaBO-raw"]),
]

FUNCTIONS = (*SYNTHETIC, FEW_LEVELS)
COMPARED = (*THESIS, DEFAULT, "random")
EXPERIMENT = Experiment(
    "cocabo_figures",
    "CoCaBO: Figures 5.2 and 5.4 to 5.9",
    [
        SHORT_CELLS,
        thesis_cells(FUNCTIONS, [*COMPARED, "TPE"]),
        thesis_cells(FUNCTIONS, COMPARED, 4),
        thesis_cells(REAL, COMPARED, 4),
        [
            *thesis_cells(["svm-boston"], ["CoCaBO-auto"]),
            *thesis_cells(list(cocabo_batches.SWEPT), ["CoCaBO-auto"], 2),
            *thesis_cells(list(cocabo_batches.SWEPT), ["CoCaBO-auto"], 8),
        ],
        thesis_cells(FUNCTIONS, ["SMAC"]),
        [*thesis_cells(FUNCTIONS, ["SMAC"], 4), *thesis_cells(REAL, ["SMAC"], 4)],
        thesis_cells(MANY_LEVELS, [*COMPARED, "TPE"]),
        thesis_cells(FUNCTIONS, ["CoCaBO-raw", "cocabo", "direct-cocabo"]),
        thesis_cells(MANY_LEVELS, ["SMAC"]),
    ],
    run,
    report,
    draw,
    source="Alvi 2019, ch. 5",
    summary='CoCaBO is ahead of one-hot codes, as published; `"gp"` is level with it or ahead',
)
