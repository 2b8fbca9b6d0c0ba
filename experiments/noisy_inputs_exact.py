"""Tables 3.2 and 3.3 once more: values at the exact points, while models are told of input noise.

The experiment tests a guess about the published tables: that training values were not perturbed.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.reporting import table
from experiments.harness import Cell, Experiment, Row
from experiments.noisy_inputs import TASKS, TESTED, scores
from experiments.noisy_inputs_published import MODELS, PUBLISHED, mean_and_spread
from experiments.noisy_inputs_tables import EXPERIMENT as PERTURBED
from experiments.noisy_inputs_tables import KINDS, SPREADS, TABLED, Setting, by_setting

PUBLISHED_TASKS = tuple(task for task in TASKS if any(key[1] == task for key in PUBLISHED))
FIRST = ("decaying-sin", "ackley-2d", "michalewicz-2d", "draw-from-gp-2d", "draw-from-gp-3d")
MISSED, EXACT = "missed", "exact"


def run(cell: Cell, number: int) -> Row:
    task, spread, size = cell["task"], float(cell["noise"]), int(cell["size"])
    found = scores(task, spread, size, number, exact=True)
    return {kind: {m: found[m][i] for m in MODELS} for i, kind in enumerate(KINDS)}


def report(rows: Sequence[Row]) -> str:
    return "\n\n".join([READING, beside_published(rows, PERTURBED.rows()), FINDINGS])


def beside_published(exact: Sequence[Row], missed: Sequence[Row]) -> str:
    """Log density per test point: published, with exact values and with those of missed points."""
    kind = KINDS[0]
    found = {EXACT: means(exact, kind), MISSED: means(missed, kind)}
    lines = []
    for setting, own in found[EXACT].items():
        task, spread, size = setting
        told = [f"{mean_and_spread(PUBLISHED[kind, *setting, m])[0]:.2f}" for m in MODELS]
        lines.append([task, spread, size, "published", *told])
        lines.append(["", "", "", EXACT, *(f"{own[m]:.2f}" for m in MODELS)])
        if setting in found[MISSED]:
            lines.append(
                ["", "", "", MISSED, *(f"{found[MISSED][setting][m]:.2f}" for m in MODELS)]
            )
    return table(["task", "σ_x", "N", "", *MODELS], lines)


def means(rows: Sequence[Row], kind: str) -> dict[Setting, Mapping[str, float]]:
    """Per test point, over the runs of a setting."""
    return {
        setting: {m: float(np.mean(list(own[m].values()))) / TESTED for m in MODELS}
        for setting, own in by_setting(rows, kind, MODELS).items()
        if setting[2] in TABLED
    }


READING = ""
FINDINGS = ""


def cells(tasks: Sequence[str]) -> list[Cell]:
    return [
        {"task": task, "noise": spread, "size": size}
        for task in tasks
        for spread in SPREADS
        for size in TABLED
    ]


EXPERIMENT = Experiment(
    "noisy_inputs_exact",
    "Noisy inputs: the published tables, and training values without the noise",
    [cells(FIRST), cells([task for task in PUBLISHED_TASKS if task not in FIRST])],
    run,
    report,
)
