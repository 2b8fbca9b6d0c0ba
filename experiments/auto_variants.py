"""Variants of `"auto"` on the choosing half of the suite: boxes and mixed spaces of all groups.

`results/auto_choice.jsonl` holds searches of earlier variants, by a script that was not kept.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT", "VARIANTS"]

from collections.abc import Sequence

import numpy as np

import outcrop as oc
from benchmarks.comparison import paired_p_value
from benchmarks.reporting import table
from experiments.harness import Cell, Experiment, Row
from experiments.suite.experiment import run_method
from experiments.suite.groups import GROUPS
from experiments.suite.judging import gap
from outcrop.surrogates import Ensemble
from outcrop.surrogates.ensemble import MEMBERS
from outcrop.surrogates.partly_additive import PartlyAdditive
from outcrop.surrogates.situation import LENGTHSCALES

SUITE = "bbob", "bounds", "own"
LARGEST = "-d10"  # functions of ten dimensions are left out


def ensemble(growing: bool = False, **options: float) -> oc.Method:
    """`"auto"` with other options; lengthscales of effects may grow with the dimension."""
    effects = PartlyAdditive(LENGTHSCALES) if growing else PartlyAdditive()
    return oc.Method(surrogate=Ensemble((*MEMBERS[:-1], effects), **options))  # type: ignore[arg-type]


VARIANTS = {
    "growing": ensemble(growing=True, forgetting=0.05),
    "effects": ensemble(forgetting=0.05),
    "effects, 0.01 forgotten": ensemble(forgetting=0.01),
}


def run(cell: Cell, number: int) -> Row:
    return run_method(VARIANTS[cell["variant"]], cell, number)


def report(rows: Sequence[Row]) -> str:
    """Mean gaps, and their differences from the first variant, over problems that both have."""
    found: dict[str, dict[tuple[str, int], float]] = {}
    for row in rows:
        key = row["cell"]["problem"], row["run"]
        reached = gap(row["start"], row["found"], 0.0)
        found.setdefault(row["cell"]["variant"], {})[key] = reached
    first = next(iter(VARIANTS))
    lines = []
    for variant, gaps in found.items():
        both = sorted(gaps.keys() & found[first].keys())
        apart = np.array([gaps[key] - found[first][key] for key in both])
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        line = [variant, str(len(both)), f"{np.mean([gaps[key] for key in both]):.3f}"]
        if variant != first:
            line += [f"{apart.mean():+.3f} ± {error:.3f}", f"{paired_p_value(apart):.3f}"]
        lines.append([*line, "", ""][:5])
    return table(["variant", "problems", "gap", "beside the first", "p"], lines)


EXPERIMENT = Experiment(
    "auto_variants",
    "Variants of auto",
    [
        [
            {"variant": variant, "group": group, "half": "choose", "problem": problem}
            for group in SUITE
            for problem in GROUPS[group].problems
            if not problem.endswith(LARGEST)
            for variant in VARIANTS
        ]
    ],
    run,
    report,
    documented=False,
)
