"""How many runs are missing, and how long they will take, told from runs that are stored."""

from __future__ import annotations

__all__ = ["expected_seconds", "plan", "processor_seconds"]

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.reporting import table
from experiments.harness import Cell, Experiment, Filter, Row
from experiments.progress import in_words


def plan(
    experiments: Sequence[Experiment],
    runs: int,
    wanted: Filter,
    jobs: int | None,
    kept: Callable[[Row], bool] | None = None,
) -> str:
    """A line for each experiment with missing runs, and their sum; empty if none is missing.

    Results that are not `kept` count as missing. `jobs` is how many processes share the work, if
    that is known.
    """
    lines, whole, unknown = [], 0.0, 0
    for experiment in experiments:
        missing = experiment.missing(runs, wanted, kept)
        if not missing:
            continue
        timed = [(row["cell"], processor_seconds(row)) for row in experiment.rows()]
        known_of = {_key(cell): expected_seconds(cell, timed) for cell, _ in missing}
        each = [known_of[_key(cell)] for cell, _ in missing]
        known = [seconds for seconds in each if seconds is not None]
        whole, unknown = whole + sum(known), unknown + len(each) - len(known)
        lines.append([experiment.name, str(len(missing)), _about(sum(known), len(known), each)])
    if not lines:
        return ""
    count = sum(int(line[1]) for line in lines)
    lines.append(["in all", str(count), in_words(whole)])
    shared = f"; {jobs} processes need about {in_words(whole / jobs)}" if jobs else ""
    more = f", and {unknown} runs of unknown length" if unknown else ""
    said = f"Times are of one processor, at least, from stored runs{shared}{more}."
    return f"{table(['experiment', 'missing runs', 'processor time'], lines)}\n{said}"


def _about(seconds: float, known: int, each: Sequence[object]) -> str:
    if not known:
        return "unknown"
    return in_words(seconds) + (f" for {known} of them" if known < len(each) else "")


def expected_seconds(cell: Cell, timed: Sequence[tuple[Cell, float | None]]) -> float | None:
    """The mean of the runs of this cell, else of the cells most like it, else None."""
    found: dict[int, list[float]] = {}
    for other, seconds in timed:
        if seconds is not None:
            alike = sum(other.get(key) == value for key, value in cell.items())
            found.setdefault(alike, []).append(seconds)
    return float(np.mean(found[max(found)])) if found else None


def _key(cell: Cell) -> tuple[tuple[str, str], ...]:
    return tuple(cell.items())


def processor_seconds(row: Row) -> float | None:
    """What a stored run took; earlier rows tell of suggestions and fits only."""
    if "elapsed" in row:
        return float(row["elapsed"]["processor"])
    seconds = row.get("seconds")
    if isinstance(seconds, dict):
        return float(sum(seconds.values()))
    if isinstance(seconds, list) and "values" in row:
        return float(np.mean(seconds)) * (len(row["values"]) - row.get("n_initial", 0))
    return float(seconds) if isinstance(seconds, int | float) else None
