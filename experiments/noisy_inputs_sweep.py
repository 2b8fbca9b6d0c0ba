"""Figures 3.6 and 3.7 of the thesis: predictions from 10 to 100 training points."""

from __future__ import annotations

__all__ = ["BASELINE", "SWEEP", "Found", "Setting", "picture", "picture_of", "sweep_table"]

from collections.abc import Iterable, Mapping
from math import nan
from typing import Any, TypeAlias

import numpy as np

from benchmarks.reporting import table
from experiments.noisy_inputs import MODELS, TASKS, TESTED
from experiments.playbook import draw_band

BASELINE = "RBF"
LOWEST = 0.05  # the share of differences below the number in brackets
PANEL = (2.6, 2.2)  # inches
IN_A_ROW = 4

Setting: TypeAlias = tuple[str, str, str]  # task, noise of the inputs, points to train on
Found: TypeAlias = Mapping[str, Mapping[int, float]]  # by model and run


def sweep_table(found: Mapping[Setting, Found]) -> str:
    """A line for each model: how far it is from the plain process, by training points."""
    sizes = sorted({int(size) for _, _, size in found})
    by_size = {n: [own for s, own in found.items() if s[2] == str(n)] for n in sizes}
    runs = [_range(len(own[BASELINE]) for own in by_size[n]) for n in sizes]
    lines = [["runs of a setting", *runs]]
    for model in MODELS:
        if model != BASELINE:
            gains = [[gain for own in by_size[n] for gain in _gains(own, model)] for n in sizes]
            shown = [f"{np.median(g):+.2f} ({np.quantile(g, LOWEST):+.2f})" for g in gains]
            lines.append([model, *shown])
    return table(["model", *map(str, sizes)], lines)


def _gains(own: Found, model: str) -> list[float]:
    """Of a test value, over the plain process, in each run."""
    return [(value - own[BASELINE][run]) / TESTED for run, value in own[model].items()]


def _range(numbers: Iterable[int]) -> str:
    known = list(numbers)
    low, high = min(known), max(known)
    return str(low) if low == high else f"{low} to {high}"


def picture(found: Mapping[Setting, Found], spread: str) -> Any:
    """A panel for each task: log density of a test value over the points trained on."""
    from matplotlib.figure import Figure

    tasks = [task for task in TASKS if any(s[:2] == (task, spread) for s in found)]
    lines = -(-(len(tasks) + 1) // IN_A_ROW)
    figure = Figure(figsize=(PANEL[0] * IN_A_ROW, PANEL[1] * lines), layout="constrained")
    panels = figure.subplots(lines, IN_A_ROW, squeeze=False).ravel()
    for axes, task in zip(panels, tasks, strict=False):
        own = {int(s[2]): each for s, each in found.items() if s[:2] == (task, spread)}
        runs = sorted(set().union(*(each[BASELINE] for each in own.values())))
        sizes = np.array(sorted(own), dtype=float)
        for index, model in enumerate(MODELS):
            traces = [[own[int(n)][model].get(run, nan) for n in sizes] for run in runs]
            draw_band(axes, index, model, sizes, np.array(traces) / TESTED)
        typical = [np.mean(list(e[m].values())) / TESTED for e in own.values() for m in MODELS]
        low, high = np.quantile(typical, 0.06), max(typical)
        axes.set(title=task, ylim=(low - 0.1 * (high - low), high + 0.1 * (high - low)))
    for axes in panels[len(tasks) :]:
        axes.axis("off")
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].legend(handles, labels, loc="center", fontsize="small")
    figure.supxlabel("points to train on", fontsize="medium")
    figure.supylabel("log density of a value (mean ± standard error)", fontsize="medium")
    return figure


def picture_of(spread: str) -> str:
    return f"noisy_inputs_{spread.replace('.', '')}"


SWEEP = f"""\
The thesis finds large swings of `NIGP` and `RandFunc` from size to size and none of the others. The
table has the log density of a test value less that of `RBF`, over all tasks, both σ_x and all runs
of a size: median, and in brackets the number below which {LOWEST:.0%} of the differences lie."""
