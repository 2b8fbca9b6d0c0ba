"""Sampled hyperparameters beside a MAP estimate and the marginal GP, by what a search finds.

The thesis (section 6.2) asks which inference a search should use and sketches the marginal GP as
the cheap middle way; it gives no numbers to compare with.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

import time
from collections.abc import Sequence

import numpy as np

import outcrop as oc
from experiments.harness import Cell, Experiment, Row
from outcrop import problems
from outcrop.inference import MAP, Laplace
from outcrop.strategies.initial import design_size

TRIALS = 40
METHODS = {
    "sampled": oc.Method(),
    "MAP": oc.Method(inference=MAP()),
    "marginal GP": oc.Method(inference=Laplace()),
}
PROBLEMS = ("branin", "hartmann-6", "ackley-2", "griewank-2")


def run(cell: Cell, number: int) -> Row:
    """Values of one search; the design depends on the run only, so methods are paired."""
    problem = problems.get(cell["problem"])
    optimizer = oc.Optimizer(
        problem.space, method=METHODS[cell["method"]], seed=number, noise=False
    )
    values, seconds = [], []
    for _ in range(TRIALS):
        start = time.perf_counter()
        trial = optimizer.ask()
        seconds.append(time.perf_counter() - start)
        values.append(problem(trial.params))
        optimizer.tell(trial, values[-1])
    return {"values": values, "seconds": float(np.median(seconds[design_size(problem.space) :]))}


def gap(row: Row) -> float:
    problem = problems.get(row["cell"]["problem"])
    assert problem.minimum is not None
    first = min(row["values"][: design_size(problem.space)])
    return float((first - min(row["values"])) / (first - problem.minimum))


def report(rows: Sequence[Row]) -> str:
    from scipy.stats import wilcoxon

    lines = [
        f"Gap after {TRIALS} trials, mean ± sd, and median seconds per suggestion (indicative: the",
        "machine was shared). p: two-sided Wilcoxon against `sampled`, Holm over the table.",
        "",
        "| problem | method | runs | gap | p | s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    cells = {
        (problem, method): {
            r["run"]: r for r in rows if r["cell"] == {"problem": problem, "method": method}
        }
        for problem in PROBLEMS
        for method in METHODS
    }
    p_values = {}
    for (problem, method), found in cells.items():
        paired = sorted(found.keys() & cells[problem, "sampled"].keys())
        ours = [gap(cells[problem, "sampled"][run]) for run in paired]
        theirs = [gap(found[run]) for run in paired]
        if method != "sampled" and ours != theirs:
            p_values[problem, method] = float(wilcoxon(ours, theirs).pvalue)
    corrected, floor = {}, 0.0
    for rank, key in enumerate(sorted(p_values, key=lambda k: p_values[k])):
        floor = max(floor, min(1.0, p_values[key] * (len(p_values) - rank)))
        corrected[key] = floor
    for (problem, method), found in cells.items():
        gaps = [gap(row) for row in found.values()]
        p = f"{corrected[problem, method]:.3f}" if (problem, method) in corrected else ""
        seconds = np.median([row["seconds"] for row in found.values()])
        spread = f"{np.mean(gaps):.4f} ± {np.std(gaps):.4f}"
        lines.append(f"| {problem} | {method} | {len(gaps)} | {spread} | {p} | {seconds:.3f} |")
    return "\n".join(lines)


EXPERIMENT = Experiment(
    "inference_methods",
    "Sampled, MAP or marginal: inference of hyperparameters",
    [{"problem": problem, "method": method} for problem in PROBLEMS for method in METHODS],
    run,
    report,
)
