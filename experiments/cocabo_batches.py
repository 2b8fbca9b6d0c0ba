"""Figures 5.8 and 5.9 of the thesis on CoCaBO: batches of 1 to 8, by iterations and by trials."""

from __future__ import annotations

__all__ = ["BATCHES", "PICTURE", "SWEPT", "of_batches", "picture", "sweep_table"]

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from benchmarks.reporting import table
from experiments.cocabo_searches import INITIAL
from experiments.comparison import Searches, best_traces, corrected_p_values, mean_and_sd
from experiments.harness import Row
from experiments.playbook import draw_band
from experiments.searches import problem_of

METHOD = "CoCaBO-auto"
SWEPT = {"ackley-5C": "ackley-5C", "svm-boston": "SVM-Boston"}
BATCHES = (1, 2, 4, 8)
ITERATIONS = 80  # that all batches have
TRIALS = 160  # suggested, that all batches have
PICTURE = "cocabo_batches"
PANEL = (4.6, 3.4)  # inches

Sweep: TypeAlias = dict[tuple[str, int], Searches]  # by problem and batch


def of_batches(rows: Sequence[Row]) -> Sweep:
    """The searches of the figures that there are; an unknown minimum is the best value of all."""
    found: dict[tuple[str, int], dict[int, Row]] = {}
    for problem in SWEPT:
        for batch in BATCHES:
            those = {row["run"]: row for row in rows if _is(row, problem, batch)}
            if those:
                found[problem, batch] = those
    return {key: Searches(runs, _minimum(found, key[0])) for key, runs in found.items()}


def _is(row: Row, problem: str, batch: int) -> bool:
    cell = row["cell"]
    known = cell["problem"], cell["method"], cell["batch"]
    return known == (problem, METHOD, str(batch))


def _minimum(found: Mapping[tuple[str, int], Mapping[int, Row]], problem: str) -> float:
    minimum = problem_of(problem).minimum
    if minimum is not None:
        return minimum
    mine = [runs for key, runs in found.items() if key[0] == problem]
    return min(min(row["values"]) for runs in mine for row in runs.values())


def sweep_table(sweep: Sweep) -> str:
    """Gaps after equally many iterations and after equally many trials, beside batches of one."""
    iterations = {key: each.gaps(INITIAL + ITERATIONS * key[1]) for key, each in sweep.items()}
    trials = {key: each.gaps(INITIAL + TRIALS) for key, each in sweep.items()}
    columns = []
    for gaps in (iterations, trials):
        pairs = {
            key: (numbers, gaps[key[0], 1])
            for key, numbers in gaps.items()
            if key[1] != 1 and (key[0], 1) in gaps
        }
        p_values = corrected_p_values(pairs)
        columns.append(
            {
                key: [
                    mean_and_sd(list(numbers.values())),
                    f"{p_values[key]:.3f}" if key in p_values else "",
                ]
                for key, numbers in gaps.items()
            }
        )
    lines = [
        [key[0], str(key[1]), str(len(each)), *columns[0][key], *columns[1][key]]
        for key, each in sweep.items()
    ]
    header = ["problem", "batch", "runs", f"gap after {ITERATIONS} iterations", "p"]
    return table([*header, f"gap after {TRIALS} suggested trials", "p"], lines)


def picture(sweep: Sweep) -> Any:
    """Best values by iterations above, by trials below; a column for each problem."""
    from matplotlib.figure import Figure

    problems = list(dict.fromkeys(problem for problem, _ in sweep))
    size = PANEL[0] * len(problems), PANEL[1] * 2
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(2, len(problems), sharey="col", squeeze=False)
    for (problem, batch), searches in sweep.items():
        column, index = problems.index(problem), BATCHES.index(batch)
        best = best_traces(searches.values)[:, INITIAL - 1 :]
        counts = np.arange(best.shape[1])
        ends = counts % batch == 0  # of an iteration
        x = counts[ends] / batch
        draw_band(panels[0, column], index, f"b = {batch}", x, best[:, ends])
        draw_band(panels[1, column], index, f"b = {batch}", counts.astype(float), best)
    for column, problem in enumerate(problems):
        panels[0, column].set(title=SWEPT[problem], xlabel="iterations")
        panels[1, column].set_xlabel("suggested trials")
        panels[0, column].legend(fontsize="small")
    for axes in panels[:, 0]:
        axes.set_ylabel("best value\n(mean ± standard error)")
    return figure
