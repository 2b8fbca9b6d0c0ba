"""Results of methods before they were changed, beside those of today, on the same starts.

Former rows are in `results/former/NAME.jsonl`. Each has the commit that it was made by and the
command that makes it there; no version since then makes them.
"""

from __future__ import annotations

__all__ = ["before_and_after", "former_rows"]

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from benchmarks.reporting import table
from experiments import harness
from experiments.comparison import corrected_p_values
from experiments.harness import Row

K = TypeVar("K", bound=tuple[str, ...])
Numbers: TypeAlias = Mapping[int, float]  # by run


def former_rows(name: str) -> list[Row]:
    """The rows of an experiment that former versions made; none if there is no such file."""
    path = harness.RESULTS / "former" / f"{name}.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


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
