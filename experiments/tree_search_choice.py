"""Ways to search the leaves of a tree: the runs that the default was chosen by.

`python -m experiments.tree_search_choice --first 1000 --runs 8` appends a line for each search to
`results/tree_search_choice.jsonl` and prints what all lines say. The searches are those of
`tree_figure2`, from other starts. In turns or by lot, some suggestions are restricted to one leaf:
`focus` to the leaf with the best level, `incumbent` and `by lot` to the leaf of the incumbent.
"""

from __future__ import annotations

__all__ = ["METHODS"]

import argparse
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.reporting import table
from experiments.comparison import corrected_p_values
from experiments.harness import RESULTS, Row
from experiments.provenance import tree_state
from experiments.searches import problem_of
from experiments.tree_figure2 import tree_search
from outcrop.acquisition import Acquisition
from outcrop.acquisition.base import Belief
from outcrop.kernels import Fourier
from outcrop.strategies import EachBranch, TopBranches
from outcrop.surrogates import LeafwisePosterior, Mixture, TreeStructured
from outcrop.typing import Conditions, Points, Rng, Vector

PATH = RESULTS / "tree_search_choice.jsonl"
SHOWN = (20, 40, 60)
FLOOR = 1e-9


@dataclass(frozen=True, eq=False)
class InTurn(TopBranches):
    """One leaf or all leaves, `share` of the suggestions the former: that of the best level.

    Or, with `is_incumbents`, that of the incumbent.
    """

    share: float = 0.5
    is_incumbents: bool = False

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Acquisition:
        is_focused = floor(step * self.share) > floor((step - 1) * self.share)
        wanted = replace(self, count=1, extras=False, exact_up_to=0 if is_focused else 64)
        return TopBranches.prepare(wanted, posterior, incumbent, candidates, rng, step)

    def _ranked(
        self,
        inner: Acquisition,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        leaves: Sequence[Conditions],
    ) -> tuple[list[int], Vector]:
        if not self.is_incumbents:
            return super()._ranked(inner, posterior, incumbent, candidates, leaves)
        assert isinstance(posterior, Mixture)
        first = posterior.components[0]
        assert isinstance(first, LeafwisePosterior)
        return [first.best_leaf()], np.zeros(len(leaves))


SEARCHES: dict[str, dict[str, Any]] = {
    "all leaves": {},
    "two steps": {"acquisition": InTurn(share=1.0)},
    "focus 1/2": {"acquisition": InTurn(share=0.5)},
    "incumbent 1/2": {"acquisition": InTurn(share=0.5, is_incumbents=True)},
    "by lot 1/2": {"maximiser": EachBranch(focus=0.5)},
    "by lot 1/3": {"maximiser": EachBranch(focus=1 / 3)},
}
MODELS = {
    "": TreeStructured(chance=1.0),
    "auto, ": TreeStructured(),
    "Fourier, ": TreeStructured(Fourier(), chance=1.0),
}
METHODS = {
    f"{prefix}{name}": oc.Method(surrogate=model, **search)
    for prefix, model in MODELS.items()
    for name, search in SEARCHES.items()
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.tree_search_choice")
    parser.add_argument("--first", type=int, default=1000, help="number of the first run")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--problems", default="tree-small-shared,tree-large-shared")
    parser.add_argument("--methods", default="all leaves", help="separated by semicolons")
    parser.add_argument("--trials", type=int, default=60)
    given = parser.parse_args(arguments)
    done = {(*row["cell"].values(), row["run"]) for row in rows()}
    for run in range(given.first, given.first + given.runs):
        for problem in given.problems.split(","):
            for method in given.methods.split(";"):
                if (problem, method, run) not in done:
                    keep(problem, method, run, given.trials)
    print(summary(rows()))


def keep(problem: str, method: str, run: int, trials: int) -> None:
    """Search and append the result."""
    cell = {"problem": problem, "method": method}
    found = tree_search(cell, METHODS, run, trials)
    words = [
        "--trials",
        str(trials),
        "--first",
        str(run),
        "--runs",
        "1",
        "--problems",
        problem,
        "--methods",
        method,
    ]
    command = shlex.join(["python", "-m", "experiments.tree_search_choice", *words])
    line = json.dumps({"cell": cell, "run": run, **found, "command": command, **tree_state()})
    with PATH.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def rows() -> list[Row]:
    text = PATH.read_text("utf-8") if PATH.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def summary(found: Sequence[Row]) -> str:
    """Means of log₁₀ regrets after some trials, and tests of each against `all leaves`."""
    logs: dict[tuple[str, str], dict[int, list[float]]] = {}
    right: dict[tuple[str, str], int] = {}  # runs whose best trial is in the best leaf
    for row in found:
        key = row["cell"]["problem"], row["cell"]["method"]
        best = np.minimum.accumulate(row["values"]) - problem_of(key[0]).minimum
        logs.setdefault(key, {})[row["run"]] = np.log10(np.maximum(best, FLOOR)).tolist()
        right[key] = right.get(key, 0) + bool(row["right"][-1])
    lines = []
    for (problem, method), runs in logs.items():
        prefix = next(p for p in reversed(MODELS) if method.startswith(p))
        base = logs.get((problem, f"{prefix}all leaves"), {})
        line = [problem, method, str(len(runs))]
        for n in SHOWN:
            at = {run: trace[n - 1] for run, trace in runs.items() if len(trace) >= n}
            of_base = {run: trace[n - 1] for run, trace in base.items() if len(trace) >= n}
            p = corrected_p_values({0: (at, of_base)}).get(0, 1.0)
            values = list(at.values()) or [np.nan]
            line.append(f"{np.median(values):.2f} ({np.mean(values):.2f}) p {p:.3f}")
        lines.append([*line, str(right[problem, method])])
    header = ["problem", "method", "runs", *(f"at {n}" for n in SHOWN), "right leaf"]
    return table(header, sorted(lines))


if __name__ == "__main__":
    main()
