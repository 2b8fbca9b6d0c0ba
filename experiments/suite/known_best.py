"""The best value that any stored run found, where the optimum is not known.

`data/best.json` has for every tuning task and instance the lowest value among all stored runs and
which run that was: gaps of these tasks are relative to it, not to a minimum. Written by
`python -m experiments.suite best`; a lower value that a later run finds counts once it is there.
"""

from __future__ import annotations

__all__ = ["Best", "load", "update"]

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from experiments.harness import Row
from experiments.provenance import version_of
from experiments.suite.noisy import base_of

PATH = Path(__file__).parent / "data" / "best.json"
ABOUT = "Lowest stored values, by task and instance; written by `python -m experiments.suite best`."

Best: TypeAlias = dict[str, dict[str, Row]]  # by problem and instance


def load(path: Path = PATH) -> Best:
    if not path.exists():
        return {}
    best: Best = json.loads(path.read_text("utf-8"))["best"]
    return best


def update(rows: Iterable[Row], path: Path = PATH) -> int:
    """Take over values of `rows` that are lower than those known; how many were."""
    best, changes = load(path), 0
    for row in rows:
        if row["optimum"] is not None:
            continue
        task = best.setdefault(base_of(row["cell"]["problem"]), {})
        known = task.get(str(row["instance"]))
        if known is None or row["found"] < known["value"]:
            task[str(row["instance"])] = {
                "value": row["found"],
                "method": row["cell"]["method"],
                "run": row["run"],
                "version": version_of(row),
            }
            changes += 1
    ordered = {
        problem: dict(sorted(instances.items())) for problem, instances in sorted(best.items())
    }
    text = json.dumps({"about": ABOUT, "best": ordered}, indent=1)
    path.write_text(text + "\n", "utf-8")
    return changes
