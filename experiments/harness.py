"""What all experiments share: cells that run once, results as JSON lines, tables in the docs.

A cell is one setting (method, problem, …); a run of a cell is one line of `results/NAME.jsonl`.
Interrupted or called again with more runs, an experiment only adds what is missing.
"""

from __future__ import annotations

__all__ = ["Cell", "Experiment", "Row", "complete", "forget", "matches"]

import json
import multiprocessing
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from experiments.progress import view_of

RESULTS = Path(__file__).parent / "results"
SOURCES = ("src", "experiments/*.py", "experiments/data")  # what a result depends on
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
TICK = 0.5  # seconds between two looks at what is running

Cell: TypeAlias = Mapping[str, str]
Row: TypeAlias = dict[str, Any]
Filter: TypeAlias = Mapping[str, Collection[str]]  # the values wanted, by key
Key: TypeAlias = tuple[tuple[tuple[str, str], ...], int]


@dataclass(frozen=True)
class Experiment:
    """One reproduced table or figure."""

    name: str
    title: str
    parts: Sequence[Sequence[Cell]]  # all runs of a part are done before the next one's first
    run: Callable[[Cell, int], Row]  # a cell and the number of the run, which is its seed
    report: Callable[[Sequence[Row]], str]  # Markdown
    draw: Callable[[Sequence[Row]], Mapping[str, Any]] = lambda rows: {}  # figures by their name

    @property
    def cells(self) -> list[Cell]:
        return list(chain(*self.parts))

    @property
    def path(self) -> Path:
        return RESULTS / f"{self.name}.jsonl"

    def rows(self) -> list[Row]:
        """All results so far, by the order of the cells; a line that was not finished is none."""
        text = self.path.read_text("utf-8") if self.path.exists() else ""
        rows = {_key(r["cell"], r["run"]): r for r in map(json.loads, _finished(text).splitlines())}
        order = {_key(cell, 0)[0]: i for i, cell in enumerate(self.cells)}
        known = [key for key in rows if key[0] in order]
        return [rows[key] for key in sorted(known, key=lambda key: (order[key[0]], key[1]))]

    def missing(self, runs: int, wanted: Filter) -> list[tuple[Cell, int]]:
        """Runs without a result, in the order they should be made."""
        done = {_key(row["cell"], row["run"]) for row in self.rows()}
        return [
            (cell, run)
            for part in self.parts
            for run in range(runs)  # before the cells, so that few runs can be compared too
            for cell in part
            if matches(cell, wanted) and _key(cell, run) not in done
        ]


def matches(cell: Cell, wanted: Filter) -> bool:
    return all(key in cell and cell[key] in values for key, values in wanted.items())


def complete(experiment: Experiment, runs: int, jobs: int, wanted: Filter | None = None) -> int:
    """Run what is missing on `jobs` processes, keep each result as it comes; how many failed.

    A run that raises, or whose process dies, is reported and tried again by the next call.
    """
    from pebble import ProcessPool

    missing = experiment.missing(runs, wanted or {})
    if not missing:
        return 0
    _cut_unfinished(experiment.path)
    origin = {"outcrop": version("outcrop"), **commit()}
    failures = 0
    os.environ.update(ONE_THREAD)  # read by NumPy in workers that are started anew, not forked
    pool: Any = ProcessPool(jobs, context=multiprocessing.get_context("spawn"))
    with view_of(experiment.name, len(missing)) as view:
        try:
            futures: dict[Future[tuple[Row, float]], tuple[Cell, int]] = {
                pool.schedule(_timed, args=(experiment.run, cell, run)): (cell, run)
                for cell, run in missing
            }
            pending = set(futures)
            while pending:
                view.running([_label(*futures[f]) for f in futures if f.running()])
                done, pending = wait(pending, TICK, FIRST_COMPLETED)
                for future in done:
                    cell, run = futures[future]
                    if error := future.exception():
                        failures += 1
                        view.failed(_label(cell, run), error)
                        continue
                    result, seconds = future.result()
                    made = {"command": _command(experiment, cell, run), **origin}
                    row = {"cell": dict(cell), "run": run, **result, **made}
                    _append(experiment.path, json.dumps(row))
                    view.finished(_label(cell, run), seconds)
        finally:
            pool.stop()
            pool.join()
    return failures


def forget(experiment: Experiment, wanted: Filter) -> None:
    """Remove the results of the cells that match; not while the experiment runs."""
    if experiment.path.exists():
        lines = _finished(experiment.path.read_text("utf-8")).splitlines(keepends=True)
        kept = [line for line in lines if not matches(json.loads(line)["cell"], wanted)]
        experiment.path.write_text("".join(kept), "utf-8")


def commit() -> dict[str, str]:
    """The commit of the source tree, with a + if what results depend on has changed since."""
    root = Path(__file__).parent.parent
    git = ["git", "--no-optional-locks"]
    ask = partial(subprocess.run, cwd=root, capture_output=True, text=True, check=False)
    try:
        head = ask([*git, "rev-parse", "--short", "HEAD"])
        clean = ask([*git, "diff", "--quiet", "HEAD", "--", *SOURCES])
    except OSError:  # git is not installed
        return {}
    if head.returncode:
        return {}
    return {"commit": head.stdout.strip() + ("+" if clean.returncode else "")}


def _timed(run: Callable[[Cell, int], Row], cell: Cell, number: int) -> tuple[Row, float]:
    begun = time.perf_counter()
    return run(cell, number), time.perf_counter() - begun


def _key(cell: Cell, run: int) -> Key:
    return tuple(sorted(cell.items())), run


def _label(cell: Cell, run: int) -> str:
    return f"{' '.join(cell.values())} run {run}"


def _command(experiment: Experiment, cell: Cell, run: int) -> str:
    """What makes this result, if those of earlier runs are there."""
    chosen = ",".join(f"{key}={value}" for key, value in cell.items())
    words = ["python", "-m", "experiments", experiment.name, "--runs", str(run + 1)]
    return shlex.join([*words, "--cells", chosen])


def _finished(text: str) -> str:
    """The lines that were written to their end."""
    return text[: text.rfind("\n") + 1]


def _cut_unfinished(path: Path) -> None:
    """Cut off the rest of a line whose process was killed, so that the next one starts anew."""
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)


def _append(path: Path, line: str) -> None:
    """At once and unbuffered, so that two calls for different cells may share the file."""
    with path.open("ab", buffering=0) as file:
        file.write(line.encode() + b"\n")
