"""Results of methods before they were changed, beside those of today, on the same starts.

Former rows are in `results/former/NAME.jsonl`. Each has the commit that it was made by and the
command that makes it there; no version since then makes them.
"""

from __future__ import annotations

__all__ = ["before_and_after", "former_rows", "not_made_again"]

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from benchmarks.reporting import table
from experiments import harness
from experiments.comparison import corrected_p_values
from experiments.harness import Row

K = TypeVar("K", bound=tuple[str, ...])
Numbers: TypeAlias = Mapping[int, float]  # by run


def former_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """What former versions made of cells that `rows` have from a later one."""
    still = {_key(row) for row in rows} & {_key(row) for row in _stored(name)}
    return [row for row in _stored(name) if _key(row) not in still]


def not_made_again(name: str, rows: Sequence[Row]) -> str:
    """A sentence on those of `rows` that are still of a former version; empty if none is."""
    former = {_key(row) for row in _stored(name)}
    cells = dict.fromkeys(" ".join(row["cell"].values()) for row in rows if _key(row) in former)
    if not cells:
        return ""
    return f"Not made again since, and so of the former version: {', '.join(cells)}."


def _stored(name: str) -> list[Row]:
    path = harness.RESULTS / "former" / f"{name}.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def _key(row: Row) -> tuple[Any, ...]:
    return *sorted(row["cell"].items()), row["run"], row.get("commit")


def before_and_after(
    keys: Sequence[str],
    pairs: Mapping[K, tuple[Numbers, Numbers]],
    larger_is_better: bool,
) -> str:
    """A line for each setting: means over the runs that both versions have, and their comparison.

    p: two-sided Wilcoxon test, paired by run, Holm over the table.
    """
    p_values = corrected_p_values(pairs)
    lines = []
    for key, (before, after) in pairs.items():
        both = sorted(before.keys() & after.keys())
        if not both:
            continue
        gains = np.array([after[run] - before[run] for run in both])
        gains = gains if larger_is_better else -gains
        line = [*key, str(len(both))]
        line += [_mean_and_error([numbers[run] for run in both]) for numbers in (before, after)]
        line += [f"{(gains > 0).sum()} : {(gains < 0).sum()}", f"{p_values[key]:.3f}"]
        lines.append(line)
    return table([*keys, "runs", "before", "after", "better : worse", "p"], lines)


def _mean_and_error(numbers: Sequence[float]) -> str:
    return f"{np.mean(numbers):.3f} ({np.std(numbers) / len(numbers) ** 0.5:.3f})"
