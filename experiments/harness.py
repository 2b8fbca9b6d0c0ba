"""What all experiments share: cells that run once, results as JSON lines, pages in the docs.

A cell is one setting (method, problem, …); a run of a cell is one line of `results/NAME.jsonl`, or
of another file that the experiment names. Interrupted or called again with more runs, an experiment
only adds what is missing. Results of a changed version of the library get a label, which is part of
their file's name, or else the earlier ones are forgotten; those of sources that are not committed
are kept in a file elsewhere.
"""

from __future__ import annotations

__all__ = ["Cell", "Experiment", "Filter", "Row", "complete", "forget", "matches", "stored"]

import json
import os
import shlex
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from experiments.executors import opened
from experiments.progress import view_of
from experiments.provenance import (
    MixedVersions,
    OtherCode,
    code_digest,
    is_peer,
    made_by,
    require_clean,
    same_version,
    tree_state,
    version_of,
)
from outcrop.study.running.protocol import Future

RESULTS = Path(__file__).parent / "results"
TICK = 0.1  # seconds between two looks at what is running

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
    file: Callable[[Cell], str] | None = None  # of a cell's results, where not all are in one file
    source: str = ""  # whose experiment it is, in the table in front of the pages
    summary: str = ""  # what was found, in a few words of its page
    documented: bool = True  # has a page, and runs where no name is given
    label: str = ""  # of the version that is run, where it is not the usual one
    scratch: Path | None = None  # holds all results, whatever the state of the sources

    @property
    def cells(self) -> list[Cell]:
        return list(chain(*self.parts))

    @property
    def path(self) -> Path:
        """The file of all results, or the folder of their files."""
        if self.scratch:
            return self.scratch
        return RESULTS / (self.name if self.file else f"{self._labelled(self.name)}.jsonl")

    def path_of(self, cell: Cell) -> Path:
        """The file that holds the results of a cell."""
        if self.scratch or not self.file:
            return self.path
        return self.path / f"{self._labelled(self.file(cell))}.jsonl"

    def _labelled(self, stem: str) -> str:
        return f"{stem}@{self.label}" if self.label else stem

    def rows(self, wanted: Filter | None = None) -> list[Row]:
        """All results so far, by the order of the cells; a line that was not finished is none."""
        cells = [cell for cell in self.cells if matches(cell, wanted or {})]
        read = chain(*map(_read, dict.fromkeys(map(self.path_of, cells))))
        rows = {_key(row["cell"], row["run"]): row for row in read}
        order = {_key(cell, 0)[0]: i for i, cell in enumerate(cells)}
        known = [key for key in rows if key[0] in order]
        return [rows[key] for key in sorted(known, key=lambda key: (order[key[0]], key[1]))]

    def missing(
        self, runs: int, wanted: Filter, kept: Callable[[Row], bool] | None = None
    ) -> list[tuple[Cell, int]]:
        """Runs without a result that is `kept`, in the order they should be made."""
        stored = [row for row in self.rows(wanted) if kept is None or kept(row)]
        done = {_key(row["cell"], row["run"]) for row in stored}
        return [
            (cell, run)
            for part in self.parts
            for run in range(runs)  # before the cells, so that few runs can be compared too
            for cell in part
            if matches(cell, wanted) and _key(cell, run) not in done
        ]


def matches(cell: Cell, wanted: Filter) -> bool:
    return all(key in cell and cell[key] in values for key, values in wanted.items())


def complete(
    experiment: Experiment,
    runs: int,
    jobs: int,
    wanted: Filter | None = None,
    executor: str = "",
) -> int:
    """Run what is missing, keep each result as it comes; how many failed.

    Runs are made by `jobs` processes or by the executor that is named (`executors.opened`). One
    that raises, or whose process dies, is reported and tried again by the next call. Nothing is run
    if the sources are not committed or results of other sources are in the same file.
    """
    missing = experiment.missing(runs, wanted or {})
    if not missing:
        return 0
    state = tree_state()
    if not experiment.scratch:
        require_clean(state)
        _require_same_source(experiment, [cell for cell, _ in missing], state)
    for path in {experiment.path_of(cell) for cell, _ in missing}:
        _cut_unfinished(path)
    failures = 0
    digest = code_digest() if executor else ""
    pending: dict[Future, tuple[Cell, int]] = {}
    with opened(executor, jobs) as pool, view_of(experiment.name, len(missing)) as view:
        try:
            for cell, run in missing:
                pending[pool.submit(_made, experiment.run, cell, run, digest)] = cell, run
            while pending:
                view.running([_label(*pending[f]) for f in pending if _is_running(f)])
                done = [future for future in pending if future.done()]
                if not done:
                    time.sleep(TICK)
                for future in done:
                    cell, run = pending.pop(future)
                    try:
                        result, elapsed = future.result()
                    except Exception as error:
                        failures += 1
                        view.failed(_label(cell, run), error)
                        continue
                    made = {"command": _command(experiment, cell, run), **made_by(cell, state)}
                    row = {"cell": dict(cell), "run": run, **result, "elapsed": elapsed, **made}
                    _append(experiment.path_of(cell), json.dumps(row))
                    view.finished(_label(cell, run), elapsed["wall"])
        finally:
            for future in pending:
                future.cancel()
    return failures


def forget(
    experiment: Experiment, wanted: Filter, kept: Callable[[Row], bool] | None = None
) -> None:
    """Remove results of the cells that match, but for those `kept`; not while they are run."""
    cells = [cell for cell in experiment.cells if matches(cell, wanted)]
    for path in {experiment.path_of(cell) for cell in cells}:
        if path.exists():
            lines = _finished(path.read_text("utf-8")).splitlines(keepends=True)
            left = []
            for line in lines:
                row = json.loads(line)
                if not matches(row["cell"], wanted) or (kept is not None and kept(row)):
                    left.append(line)
            path.write_text("".join(left), "utf-8")


def _require_same_source(
    experiment: Experiment, cells: Sequence[Cell], state: Mapping[str, str]
) -> None:
    """Refuse to add rows of the present source to a file with rows of another."""
    if "source" not in state:
        return
    for path in {experiment.path_of(cell) for cell in cells if not is_peer(cell)}:
        stored = [row for row in _read(path) if not is_peer(row["cell"])]
        others = {version_of(row) for row in stored} - {same_version(state["source"])}
        if others:
            raise MixedVersions(
                f"{path.name} holds results of another version of the library (src "
                f"{', '.join(sorted(others))}, now {state['source']}): keep the new ones apart "
                "with --label NAME, or make the old ones again with --renew"
            )


def _made(
    run: Callable[[Cell, int], Row], cell: Cell, number: int, digest: str
) -> tuple[Row, dict[str, float]]:
    """A run and the seconds it took; refused where the code is not that of the caller."""
    if digest and digest != code_digest():
        raise OtherCode("this worker has another version of outcrop or of the experiments")
    wall, processor = time.perf_counter(), time.process_time()
    row = run(cell, number)
    elapsed = time.perf_counter() - wall, time.process_time() - processor
    return row, dict(zip(("wall", "processor"), (round(s, 3) for s in elapsed), strict=True))


def _is_running(future: Future) -> bool:
    """Whether a future says that it runs; those of some libraries do not say."""
    running = getattr(future, "running", None)
    return bool(running()) if callable(running) else False


def _key(cell: Cell, run: int) -> Key:
    return tuple(sorted(cell.items())), run


def _label(cell: Cell, run: int) -> str:
    return f"{' '.join(cell.values())} run {run}"


def _command(experiment: Experiment, cell: Cell, run: int) -> str:
    """What makes this result, if those of earlier runs are there."""
    chosen = ",".join(f"{key}={value}" for key, value in cell.items())
    words = ["python", "-m", "experiments", experiment.name, "--runs", str(run + 1)]
    label = ["--label", experiment.label] if experiment.label else []
    return shlex.join([*words, "--cells", chosen, *label])


def stored(name: str) -> list[Row]:
    """The rows of `results/NAME.jsonl`, in the order they were made."""
    return _read(RESULTS / f"{name}.jsonl")


def _read(path: Path) -> list[Row]:
    """The rows of a file; a line that was not finished is none."""
    text = path.read_text("utf-8") if path.exists() else ""
    return [json.loads(line) for line in _finished(text).splitlines()]


def _finished(text: str) -> str:
    """The lines that were written to their end."""
    return text[: text.rfind("\n") + 1]


def _cut_unfinished(path: Path) -> None:
    """Cut off the rest of a line whose process was killed, so that the next one starts anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)


def _append(path: Path, line: str) -> None:
    """At once and unbuffered, so that two calls for different cells may share the file."""
    with path.open("ab", buffering=0) as file:
        file.write(line.encode() + b"\n")
