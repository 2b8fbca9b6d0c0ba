"""Figure 5.2 of the thesis on CoCaBO: which levels its bandits draw, and how likely they make them.

Bandits do not keep what they believed. It is computed again from the levels and values of a search,
one category by itself, since each has a bandit of its own.
"""

from __future__ import annotations

__all__ = [
    "ENDS",
    "FIRST",
    "LAST",
    "PICTURE",
    "followed",
    "level_table",
    "picture",
    "replayed",
    "shares",
]

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.reporting import table
from experiments.cocabo_searches import FOLLOWED, INITIAL, Length, levels_of, thesis
from experiments.harness import Row
from experiments.searches import problem_of
from outcrop.bandits import ArmChoice, best_so_far
from outcrop.strategies import CoCaBO
from outcrop.typing import Matrix

ENDS = 50  # iterations at the beginning and at the end that are compared
FIRST, LAST = f"first {ENDS}", f"last {ENDS}"
PICTURE = "cocabo_levels"
SIZE = (10.0, 6.4)  # inches


def followed(rows: Sequence[Row]) -> list[Row]:
    """The searches whose levels were stored."""
    return [row for row in rows if row["cell"] == FOLLOWED and "levels" in row]


def replayed(method: CoCaBO, levels: Sequence[int], values: Sequence[float], n: int) -> Matrix:
    """The probability of each of `n` levels at every iteration, `(iterations, n)`.

    For searches one by one, from levels and values of all trials.
    """
    bandit = method.bandit(n)
    weights, found = bandit.init(n), []
    gains = -np.asarray(values)
    for trial in range(INITIAL, len(levels)):
        p, level = bandit.probabilities(weights), levels[trial]
        found.append(p)
        reward = best_so_far(levels[: trial + 1], gains[: trial + 1], n)[level]
        choice = ArmChoice((level,), (float(p[level]),))
        weights = bandit.update(weights, choice, float(reward))
    return np.array(found)


def _best_levels() -> dict[str, tuple[int, int]]:
    """The level of the minimum, and the number of levels, of every category."""
    problem = problem_of(FOLLOWED["problem"])
    best = levels_of(problem.space, problem.minimisers[:1])
    sizes = {column.name: column.levels or 0 for column in problem.space.columns}
    return {name: (level, sizes[name]) for name, (level,) in best.items()}


def _probabilities(row: Row, name: str, n: int) -> Matrix:
    space = problem_of(FOLLOWED["problem"]).space
    method = thesis(space, Length.of(FOLLOWED), mix=None)
    return replayed(method, row["levels"][name], row["values"], n)


def shares(rows: Sequence[Row]) -> dict[str, dict[int, float]]:
    """How often the best levels come in the first and in the last iterations, by run.

    The mean of all categories.
    """
    found: dict[str, dict[int, float]] = {FIRST: {}, LAST: {}}
    for row in rows:
        drawn = [(row["levels"][name], best) for name, (best, _) in _best_levels().items()]
        hits = np.array([np.array(levels[INITIAL:]) == best for levels, best in drawn])
        found[FIRST][row["run"]] = float(hits[:, :ENDS].mean())
        found[LAST][row["run"]] = float(hits[:, -ENDS:].mean())
    return found


def level_table(rows: Sequence[Row]) -> str:
    """How often the level of the minimum is drawn at first and in the end, mean of the runs."""
    lines = []
    for name, (best, n) in _best_levels().items():
        hits = np.array([np.array(row["levels"][name][INITIAL:]) == best for row in rows])
        last = [_probabilities(row, name, n)[-1, best] for row in rows]
        most = sum(row_hits.mean() > 1 / n for row_hits in hits)
        line = [name, str(n), str(len(rows)), f"{1 / n:.2f}"]
        line += [f"{hits[:, :ENDS].mean():.2f}", f"{hits[:, -ENDS:].mean():.2f}"]
        lines.append([*line, f"{np.mean(last):.2f}", f"{most}/{len(rows)}"])
    header = ["category", "levels", "runs", "by chance", FIRST, LAST]
    return table([*header, "probability at the end", "runs above chance"], lines)


def picture(row: Row) -> Any:
    """One search: levels by iterations, how often each came, and their probabilities."""
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure

    from outcrop.plots.convergence import COLOURS

    figure = Figure(figsize=SIZE, layout="constrained")
    categories = _best_levels()
    panels = figure.subplots(2, 2, squeeze=False)
    width = 0.8 / len(categories)
    for index, (name, (best, n)) in enumerate(categories.items()):
        colour, levels = COLOURS[index], np.array(row["levels"][name][INITIAL:])
        strong = levels == best
        shift = (index - 0.5) * 0.16  # keeps both categories apart
        iterations = np.arange(1, len(levels) + 1)
        for those, alpha in ((strong, 1.0), (~strong, 0.35)):
            panels[0, 0].scatter(
                iterations[those], levels[those] + 1 + shift, s=7, color=colour, alpha=alpha
            )
        counts = np.bincount(levels, minlength=n)
        panels[0, 1].bar(
            np.arange(1, n + 1) + (index - 0.5) * width,
            counts,
            width,
            color=[to_rgba(colour, 1.0 if level == best else 0.35) for level in range(n)],
            label=f"{name}, best level {best + 1}",
        )
        for level, trace in enumerate(_probabilities(row, name, n).T):
            strength = {"lw": 2.0} if level == best else {"lw": 1.0, "alpha": 0.45}
            panels[1, index].plot(iterations, trace, color=colour, **strength)
        panels[1, index].set(xlabel="iterations", ylabel=f"probability of each level of {name}")
    panels[0, 0].set(xlabel="iterations", ylabel="level")
    panels[0, 1].set(xlabel="level", ylabel="iterations with it")
    panels[0, 1].legend(fontsize="small")
    return figure
