"""Pictures of experiments, for the docs."""

from __future__ import annotations

__all__ = ["convergence_figure", "save"]

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from experiments.comparison import best_traces, by_method
from experiments.harness import Row
from experiments.searches import problem_of

PANEL = (5.2, 4.0)  # inches
COLOURS = 256  # that cover what is there, thin lines included


def convergence_figure(rows: Sequence[Row], problem: str, panels: Sequence[Sequence[str]]) -> Any:
    """Methods on a problem over their iterations, initial points left out, a panel for each group.

    Regrets on a logarithmic scale; best values where the minimum is often found exactly.
    """
    from matplotlib.figure import Figure

    from outcrop import plots

    searches = by_method(rows, problem)
    present = [those for group in panels if (those := [m for m in group if m in searches])]
    figure = Figure(figsize=(PANEL[0] * len(present), PANEL[1]), layout="constrained")
    every = figure.subplots(1, len(present), sharey=True, squeeze=False)[0]
    exact = "grid" in problem_of(problem).tags
    for axes, methods in zip(every, present, strict=True):
        traces = {m: best_traces(searches[m].values)[:, searches[m].n_initial :] for m in methods}
        minimum = None if exact else problem_of(problem).minimum
        plots.convergence(traces, minimum=minimum, axes=axes)
        axes.set_xlabel("iterations")
    for axes in every[1:]:
        axes.set_ylabel("")
    return figure


def save(figure: Any, path: Path) -> None:
    """As a PNG that is the same for the same results, of few colours, so that it is small."""
    from PIL import Image

    path.parent.mkdir(exist_ok=True)
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=110, metadata={"Software": None})
    plain = Image.open(drawn).convert("RGB")
    few = plain.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
