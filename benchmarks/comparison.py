"""Stored regret runs as tables: each method by itself, then Outcrop against each peer in pairs.

Arrays run over seeds: `values` is `(seeds, trials)`, a gap is `(seeds,)`. Pairs share problem and
seed, so initial points too; a comparison uses the seeds that both methods have.
"""

from __future__ import annotations

__all__ = ["gaps", "holm", "paired_p_value", "summarise"]

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.reporting import RESULTS, command, save, table
from outcrop.typing import Matrix, Vector

Runs = Mapping[tuple[str, str], Mapping[int, dict[str, Any]]]  # (method, problem) to seed to run
Rows = list[dict[str, Any]]

OURS = "outcrop"
EARLY = {"hartmann-6": 60}  # trials after which the gap is shown as well


STARTS = {"latin": "a Latin hypercube", "sobol": "scrambled Sobol points"}


def summarise(
    records: Sequence[dict[str, Any]], minima: Mapping[str, float], name: str, start: str
) -> None:
    """Print and write `results/NAME.md` and `results/NAME.json`."""
    runs: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for record in records:
        runs.setdefault((record["method"], record["problem"]), {})[record["seed"]] = record
    methods = list(dict.fromkeys(record["method"] for record in records))

    single = [describe(runs, m, p, minima[p]) for p in minima for m in methods if (m, p) in runs]
    pairs = [
        compare(runs, peer, problem, minimum)
        for peer in methods
        if peer != OURS
        for problem, minimum in minima.items()
        if shared_seeds(runs, peer, problem)
    ]
    for pair, p in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True):
        pair["p_holm"] = p
    pooled = [pool(runs, peer, minima) for peer in dict.fromkeys(pair["peer"] for pair in pairs)]

    text = "\n\n".join(render(single, pairs, pooled, start))
    print(text)
    (RESULTS / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    versions: dict[str, list[dict[str, str]]] = {method: [] for method in methods}
    for record in records:
        if record["versions"] not in versions[record["method"]]:
            versions[record["method"]].append(record["versions"])
    repetitions = max((row["runs"] for row in single), default=0)
    save(
        name,
        {"command": command(), "repetitions": repetitions, "versions": versions}
        | {"methods": single, "pairs": pairs, "pooled": pooled},
    )


def gaps(values: Matrix, n_initial: int, minimum: float) -> Vector:
    """How much of the way from the best initial value to the minimum each run went."""
    first = values[:, :n_initial].min(1)
    return (first - values.min(1)) / (first - minimum)


def paired_p_value(differences: Vector) -> float:
    """Two-sided Wilcoxon signed-rank test; pairs without a difference are left out of it."""
    from scipy.stats import wilcoxon

    return float(wilcoxon(differences).pvalue) if np.any(differences) else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number [Holm 1979]."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(order))
    steps = np.arange(len(order), 0, -1) * np.asarray(p_values)[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted.tolist()


def describe(runs: Runs, method: str, problem: str, minimum: float) -> dict[str, Any]:
    chosen = runs[method, problem]
    values, n_initial = stack(chosen, sorted(chosen))
    early = EARLY.get(problem)
    return {
        "problem": problem,
        "method": method,
        "runs": len(values),
        "trials": values.shape[1],
        "median_regret": float(np.median(np.maximum(values.min(1) - minimum, 0.0))),
        "mean_gap": float(gaps(values, n_initial, minimum).mean()),
        "early_trials": early,
        "early_mean_gap": early and float(gaps(values[:, :early], n_initial, minimum).mean()),
        "seconds_per_trial": float(np.median([r["seconds_per_trial"] for r in chosen.values()])),
    }


def compare(runs: Runs, peer: str, problem: str, minimum: float) -> dict[str, Any]:
    ours, theirs = paired_gaps(runs, peer, problem, minimum)
    return {
        "peer": peer,
        "problem": problem,
        "pairs": len(ours),
        "mean_gap": float(ours.mean()),
        "peer_mean_gap": float(theirs.mean()),
        "better": int((ours > theirs).sum()),
        "worse": int((ours < theirs).sum()),
        "p": paired_p_value(ours - theirs),
    }


def pool(runs: Runs, peer: str, minima: Mapping[str, float]) -> dict[str, Any]:
    """Every pair of runs with this peer, each with the same weight."""
    pairs = [
        paired_gaps(runs, peer, problem, minimum)
        for problem, minimum in minima.items()
        if shared_seeds(runs, peer, problem)
    ]
    ours, theirs = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return {
        "peer": peer,
        "pairs": len(ours),
        "mean_gap": float(ours.mean()),
        "peer_mean_gap": float(theirs.mean()),
        "better": int((ours > theirs).sum()),
        "worse": int((ours < theirs).sum()),
        "p": paired_p_value(ours - theirs),
    }


def shared_seeds(runs: Runs, peer: str, problem: str) -> list[int]:
    return sorted({*runs.get((OURS, problem), ())} & {*runs.get((peer, problem), ())})


def paired_gaps(runs: Runs, peer: str, problem: str, minimum: float) -> tuple[Vector, Vector]:
    seeds = shared_seeds(runs, peer, problem)
    ours, n_initial = stack(runs[OURS, problem], seeds)
    theirs, _ = stack(runs[peer, problem], seeds)
    if not np.allclose(ours[:, :n_initial], theirs[:, :n_initial]):
        raise ValueError(f"{problem}: {OURS} and {peer} did not start from the same points")
    return gaps(ours, n_initial, minimum), gaps(theirs, n_initial, minimum)


def stack(chosen: Mapping[int, dict[str, Any]], seeds: Sequence[int]) -> tuple[Matrix, int]:
    return np.array([chosen[seed]["values"] for seed in seeds]), chosen[seeds[0]]["n_initial"]


def render(single: Rows, pairs: Rows, pooled: Rows, start: str) -> list[str]:
    """Markdown blocks."""
    blocks = [
        "# Regret beside peers",
        f"Made by `python -m benchmarks regret --start {start}`. Every method starts from the\n"
        f"same 2d + 2 points, {STARTS[start]}. The gap is the part of the way from the best\n"
        "of them to the minimum.",
        table(
            [
                "problem",
                "method",
                "runs",
                "trials",
                "median regret",
                "mean gap",
                "early gap",
                "s/trial",
            ],
            [
                [
                    row["problem"],
                    row["method"],
                    str(row["runs"]),
                    str(row["trials"]),
                    f"{row['median_regret']:.2e}",
                    f"{row['mean_gap']:.4f}",
                    f"{row['early_mean_gap']:.4f} at {row['early_trials']}"
                    if row["early_trials"]
                    else "",
                    f"{row['seconds_per_trial']:.3f}",
                ]
                for row in single
            ],
        ),
    ]
    if pairs:
        blocks += [
            f"{OURS.capitalize()} against each peer, final gaps in pairs of problem and seed:\n"
            "two-sided Wilcoxon signed-rank test, Holm's correction over the whole table.",
            table(
                ["peer", "problem", "pairs", OURS, "peer", "better", "worse", "p", "p (Holm)"],
                [[*_pair_cells(row), f"{row['p_holm']:.3g}"] for row in pairs],
            ),
            "All problems together.",
            table(
                ["peer", "problem", "pairs", OURS, "peer", "better", "worse", "p"],
                [_pair_cells(row) for row in pooled],
            ),
        ]
    return blocks


def _pair_cells(row: dict[str, Any]) -> list[str]:
    return [
        row["peer"],
        row.get("problem", "all"),
        str(row["pairs"]),
        f"{row['mean_gap']:.4f}",
        f"{row['peer_mean_gap']:.4f}",
        str(row["better"]),
        str(row["worse"]),
        f"{row['p']:.3g}",
    ]
