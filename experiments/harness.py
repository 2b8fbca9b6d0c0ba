"""What all experiments share: cells that run once, results as JSON lines, tables in the docs.

A cell is one setting (method, problem, …); a run of a cell is one line of `results/NAME.jsonl`.
Interrupted or called again with more runs, an experiment only adds what is missing.
"""

from __future__ import annotations

__all__ = ["Cell", "Experiment", "Row", "complete"]

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

RESULTS = Path(__file__).parent / "results"

Cell: TypeAlias = Mapping[str, str]
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """One reproduced table or figure."""

    name: str
    title: str
    cells: Sequence[Cell]
    run: Callable[[Cell, int], Row]  # a cell and the number of the run, which is its seed
    report: Callable[[Sequence[Row]], str]  # Markdown

    @property
    def path(self) -> Path:
        return RESULTS / f"{self.name}.jsonl"

    def rows(self) -> list[Row]:
        """All results so far."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines()]


def complete(experiment: Experiment, runs: int, jobs: int) -> None:
    """Run what is missing on `jobs` processes, keep each result as it comes, show progress."""
    done = {(tuple(sorted(row["cell"].items())), row["run"]) for row in experiment.rows()}
    missing = [
        (cell, run)
        for run in range(runs)
        for cell in experiment.cells
        if (tuple(sorted(cell.items())), run) not in done
    ]
    RESULTS.mkdir(exist_ok=True)
    # Worker processes inherit this: two cores with nested threads measure nothing.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    with ProcessPoolExecutor(jobs) as pool, experiment.path.open("a") as file:
        futures = {pool.submit(experiment.run, cell, run): (cell, run) for cell, run in missing}
        for count, future in enumerate(as_completed(futures), 1):
            cell, run = futures[future]
            made = {"command": f"python -m experiments {experiment.name} --runs {runs}"}
            made |= {"outcrop": version("outcrop")}
            row = {"cell": dict(cell), "run": run, **future.result(), **made}
            file.write(json.dumps(row) + "\n")
            file.flush()
            print(f"{experiment.name}: {count}/{len(missing)} {' '.join(cell.values())} {run}")
