"""Chains of hyperparameters in leaves, with and without patience: how far they lie behind the best.

`python -m experiments.tree_chains --runs 10` searches trees of `tree_figure2` with processes in
leaves, appends a line for each search to `results/tree_chains.jsonl`, and prints what all lines
say. After every fit the log density of each chain is compared with that of the best chain.
"""

from __future__ import annotations

__all__: list[str] = []

import argparse
import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.reporting import table
from experiments.comparison import Searches, corrected_p_values
from experiments.harness import RESULTS, Row
from experiments.provenance import tree_state
from experiments.searches import problem_of
from experiments.tree_figure2 import SHOWN, TRIALS, logarithms, tree_search
from outcrop.inference import Draws, Slice
from outcrop.inference.target import log_posterior
from outcrop.strategies import EachBranch
from outcrop.surrogates import BranchChains, TreeStructured
from outcrop.surrogates.branch_chains import BranchTarget
from outcrop.typing import Rng

PATH = RESULTS / "tree_chains.jsonl"
FAR = 20.0  # nats
METHODS = {
    name: oc.Method(
        surrogate=TreeStructured(chance=1.0),
        inference=Slice(chains=6, patience=patience),
        maximiser=EachBranch(),
    )
    for name, patience in {"patience 2.5": 2.5, "no patience": inf}.items()
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.tree_chains")
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--problems", default="tree-small-shared,tree-large-shared")
    given = parser.parse_args(arguments)
    done = {(*row["cell"].values(), row["run"]) for row in rows()}
    for run in range(given.first, given.first + given.runs):
        for problem in given.problems.split(","):
            for method in METHODS:
                if (problem, method, run) not in done:
                    keep(problem, method, run)
    print(summary(rows()))


def keep(problem: str, method: str, run: int) -> None:
    """Search, and append the result with the share of chains that lie far behind."""
    cell = {"problem": problem, "method": method}
    with distances() as behind:
        found = tree_search(cell, METHODS, run, TRIALS)
    far = round(float(np.mean(np.array(behind) > FAR)), 5)
    words = ["--first", str(run), "--runs", "1", "--problems", problem]
    command = shlex.join(["python", "-m", "experiments.tree_chains", *words])
    row = {"cell": cell, "run": run, **found, "far": far, "command": command, **tree_state()}
    with PATH.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


@contextmanager
def distances() -> Any:
    """How far every chain lies behind the best of its fit, in nats, for all warm fits inside."""
    behind: list[list[float]] = []
    drawn = BranchChains._drawn

    def watched(
        chains: BranchChains,
        target: BranchTarget,
        marks: list[int],
        rng: Rng,
        before: Mapping[str, Any],
    ) -> Draws:
        draws = drawn(chains, target, marks, rng, before)
        if before:
            values = np.array([log_posterior(target)(theta) for theta in draws.thetas])
            behind.append((values.max() - values).tolist())
        return draws

    BranchChains._drawn = watched  # type: ignore[method-assign, assignment]
    try:
        yield behind
    finally:
        BranchChains._drawn = drawn  # type: ignore[method-assign]


def rows() -> list[Row]:
    text = PATH.read_text("utf-8") if PATH.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def summary(found: Sequence[Row]) -> str:
    """Shares of chains far behind, means of log₁₀ regrets, tests of both methods, Holm over all."""
    runs: dict[tuple[str, str], dict[int, Row]] = {}
    for row in found:
        runs.setdefault(tuple(row["cell"].values()), {})[row["run"]] = row
    logs: dict[tuple[str, str, int], dict[int, float]] = {}
    for (problem, method), own in runs.items():
        minimum = problem_of(problem).minimum or 0.0
        traces = logarithms(Searches(own, minimum).values, minimum)
        for n in SHOWN:
            last = traces[:, n - 1].tolist()
            logs[problem, method, n] = dict(zip(own, last, strict=True))
    one, other = METHODS
    p_values = corrected_p_values(
        {(p, n): (logs[p, one, n], logs.get((p, other, n), {})) for p, m, n in logs if m == one}
    )
    lines = []
    for (problem, method), own in runs.items():
        line = [problem, method, str(len(own))]
        line.append(f"{100 * np.mean([row['far'] for row in own.values()]):.1f} %")
        for n in SHOWN:
            mean = np.mean(list(logs[problem, method, n].values()))
            p = f", p {p_values[problem, n]:.3f}" if method == one else ""
            line.append(f"{mean:.2f}{p}")
        lines.append(line)
    header = ["problem", "method", "runs", "far", *(f"at {n}" for n in SHOWN)]
    return table(header, sorted(lines))


if __name__ == "__main__":
    main()
