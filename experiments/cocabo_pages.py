"""What the pages on CoCaBO's searches share: titles, tables and pictures of the methods."""

from __future__ import annotations

__all__ = ["compared", "convergence_pictures", "pairs", "picture_link", "searched", "title_of"]

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.reporting import table
from experiments.cocabo_searches import DEFAULT
from experiments.comparison import by_method, corrected_p_values, gap_table
from experiments.figures import convergence_figure
from experiments.harness import Row

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
NamePicture = Callable[[str, str], str]  # by batch size and problem


def title_of(batch: str, problem: str) -> str:
    return TITLES[problem] + ("" if batch == "1" else f", batches of {batch}")


def searched(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Batch sizes and problems that several methods searched, small batches first."""
    methods: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        cell = row["cell"]
        methods.setdefault((cell["batch"], cell["problem"]), set()).add(cell["method"])
    problems = list(TITLES)
    several = [key for key, those in methods.items() if len(those) > 1]
    return sorted(several, key=lambda each: (int(each[0]), problems.index(each[1])))


def compared(
    rows: Sequence[Row], batch: str, problem: str, trials: Sequence[int], named: NamePicture
) -> list[str]:
    """Table and picture of the methods on one problem, in batches of one size."""
    mine = [row for row in rows if row["cell"]["batch"] == batch]
    shown = gap_table(mine, [problem], "CoCaBO-auto", trials)
    title = f"Convergence on {title_of(batch, problem)}"
    return [shown, picture_link(title, named(batch, problem))]


def picture_link(title: str, name: str) -> str:
    return f"![{title}](../images/{name}.png)"


def pairs(rows: Sequence[Row]) -> str:
    """The library's default against each other method, by the last gaps; Holm for each problem."""
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


def convergence_pictures(
    rows: Sequence[Row], panels: Sequence[Sequence[str]], named: NamePicture
) -> dict[str, Any]:
    """A picture for each problem and batch size."""
    figures = {}
    for batch, problem in searched(rows):
        mine = [row for row in rows if row["cell"]["batch"] == batch]
        figures[named(batch, problem)] = convergence_figure(mine, problem, panels)
    return figures
