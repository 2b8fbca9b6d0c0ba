"""Chains, sweeps and spreads of the methods for rugged functions: the runs they were chosen by.

`python -m experiments.rugged_choices --problems shubert --methods "latent 6x3x1;latent 2x9x5"
--first 1000 --runs 10` appends a line for each search to `results/rugged_choices.jsonl` and prints
what all lines say. A method is a preset, or a method of `spartan_figures` in capitals, and how it
samples: chains × sweeps × draws kept of each chain.
"""

from __future__ import annotations

__all__ = ["method_of"]

import argparse
import json
import shlex
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import outcrop as oc
from benchmarks.reporting import table
from experiments import spartan_figures
from experiments.comparison import SOLVED, by_method, corrected_p_values
from experiments.harness import RESULTS, Row, stored
from experiments.provenance import require_clean, tree_state, version_of
from experiments.searches import initial_points, problem_of, search
from outcrop.strategies.initial import design_size
from outcrop.surrogates import Latent, Spartan, Warped
from outcrop.surrogates.situation import INFERENCE, LATENT_INFERENCE

NAME = "rugged_choices"
TRIALS = 50
KINDS = {
    "latent": (Latent(), LATENT_INFERENCE),
    "warped": (Warped(), INFERENCE),
    "spartan": (Spartan(), INFERENCE),
}


def method_of(name: str, dimension: int) -> oc.Method | str:
    """The method of a name such as `gp`, `latent 6x3x1` or `WARP 10x1x1`."""
    first, _, numbers = name.partition(" ")
    if not numbers:
        return first
    chains, sweeps, kept = map(int, numbers.split("x"))
    if first in KINDS:
        kind, inference = KINDS[first]
        chosen = replace(inference, chains=chains, sweeps=sweeps, kept=kept)
        return oc.Method(surrogate=kind, inference=chosen)
    method = spartan_figures.METHODS[first](dimension)
    chosen = replace(method.inference, chains=chains, sweeps=sweeps, kept=kept)
    return replace(method, inference=chosen)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.rugged_choices")
    parser.add_argument("--first", type=int, default=1000, help="number of the first run")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--problems", default="")
    parser.add_argument("--methods", default="", help="separated by semicolons")
    given = parser.parse_args(arguments)
    done = {(*row["cell"].values(), row["run"], version_of(row)) for row in stored(NAME)}
    version = tree_state().get("source", "")
    for run in range(given.first, given.first + given.runs):
        for problem in given.problems.split(","):
            for method in given.methods.split(";"):
                if (problem, method, run, version) not in done:
                    keep(problem, method, run)
    print(summary(stored(NAME)))


def keep(problem: str, method: str, run: int) -> None:
    """Search and append the result."""
    state = tree_state()
    require_clean(state)
    task, is_documents = problem_of(problem), method[0].isupper()
    size = spartan_figures.INITIAL if is_documents else design_size(task.space)
    trials = spartan_figures.TRIALS if is_documents else TRIALS
    initial = initial_points(task.space, size, run)
    found = search(task, method_of(method, task.dimension), initial, trials, run)
    words = ["--first", str(run), "--runs", "1", "--problems", problem, "--methods", method]
    command = shlex.join(["python", "-m", "experiments.rugged_choices", *words])
    cell = {"problem": problem, "method": method}
    line = json.dumps({"cell": cell, "run": run, **found, "command": command, **state})
    with (RESULTS / f"{NAME}.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def summary(found: Sequence[Row]) -> str:
    """Mean gaps by version, half, problem and method, and tests against the group's first one.

    A group is what one version made of one problem with variants of one method, from starts to
    choose on (runs 1000 and above) or to confirm on.
    """
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in found:
        half = "choose" if row["run"] >= 1000 else "confirm"
        family = "documents" if row["cell"]["method"][0].isupper() else "presets"
        key = version_of(row), half, row["cell"]["problem"], family
        groups.setdefault(key, []).append(row)
    lines = []
    for (version, half, problem, _), mine in groups.items():
        searches = by_method(mine, problem)
        base = next(iter(searches.values())).gaps()
        for method, each in searches.items():
            gaps = each.gaps()
            p = corrected_p_values({0: (gaps, base)}).get(0, 1.0)
            values = np.array(list(gaps.values()))
            solved = f"{(values >= SOLVED).sum()}/{len(values)}"
            error = values.std() / len(values) ** 0.5
            line = [version, half, problem, method, f"{values.mean():.4f} ({error:.4f})", solved]
            lines.append([*line, f"{p:.3f}", f"{each.seconds():.3f}"])
    return table(["version", "half", "problem", "method", "gap", "solved", "p", "s"], lines)


if __name__ == "__main__":
    main()
