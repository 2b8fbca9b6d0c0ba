"""A small tree of choices with shared variables, beside BoTorch's model for such spaces.

The problem is `tree-small-shared` [Jenatton et al. 2017, Figure 1]: four leaves, minimum 0.1. Both
start from the same point in every leaf. BoTorch has no default for conditional spaces; here its
`HierarchicalConditionalKernelGP` is fitted anew for every suggestion, and log expected improvement
is maximised in every leaf with the rest held fixed. It takes part in fewer runs and trials, because
a suggestion takes it seconds; `--botorch 0` keeps its stored runs. Times are of the processor, one
thread each.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import json
import time
import warnings
from argparse import ArgumentParser, Namespace
from statistics import median
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.reporting import RESULTS, provenance, save, table, verdict
from outcrop.problems import Problem, get
from outcrop.space import Space
from outcrop.strategies import Sequence
from outcrop.strategies.initial import OnePerBranch
from outcrop.surrogates.space_nodes import nodes_of
from outcrop.typing import Params, Points

PROBLEM = "tree-small-shared"
TRIALS, TRIALS_OF_BOTORCH = 40, 20
BAR = 1e-3  # median regret after all trials
FASTER = 50
RESTARTS, RAW_SAMPLES = 10, 512


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=20, help="runs of ours")
    parser.add_argument(
        "--botorch", type=int, default=5, help="of these, runs of BoTorch too; 0 keeps stored ones"
    )


def run(options: Namespace) -> None:
    problem = get(PROBLEM)
    kept = {} if options.botorch else stored_botorch()
    rows: list[dict[str, Any]] = []
    for seed in range(options.runs):
        design = Sequence(problem.space, OnePerBranch())
        start = oc.Optimizer(problem.space, method=design, seed=seed).ask(problem.space.n_branches)
        initial = [trial.params for trial in start]
        rows.append({"method": "tree", "run": seed, **ours(problem, initial, seed)})
        if seed < options.botorch:
            rows.append({"method": "BoTorch", "run": seed, **botorch(problem, initial, seed)})
        print(" · ".join(f"{r['method']} {r['regret at 20']:.1e}" for r in rows[-2:]), flush=True)
    rows += kept.get("rows", [])
    of = {m: [r for r in rows if r["method"] == m] for m in ("tree", "BoTorch") if rows}
    seconds = {m: median(r["seconds"] for r in some) for m, some in of.items() if some}
    print(
        table(
            ["method", "runs", "regret at 20", "at 40", "right leaf at 20", "at end", "s per ask"],
            [
                [
                    m,
                    str(len(some)),
                    f"{median(r['regret at 20'] for r in some):.1e}",
                    f"{median(r['regret at 40'] for r in some):.1e}" if m == "tree" else "",
                    f"{sum(r['right leaf at 20'] for r in some)}",
                    f"{sum(r['right leaf'] for r in some)}",
                    f"{seconds[m]:.3f}",
                ]
                for m, some in of.items()
                if some
            ],
        )
    )
    regret = median(r["regret at 40"] for r in of["tree"])
    settled = all(r["right leaf"] for r in of["tree"])
    bars = {"regret": regret <= BAR, "leaf": settled}
    print(f"median regret {regret:.1e}, bar {BAR:.0e}: {verdict(bars['regret'])}")
    print(f"every run in the right leaf: {verdict(bars['leaf'])}")
    if of["BoTorch"]:
        ratio = seconds["BoTorch"] / seconds["tree"]
        bars["speed"] = ratio >= FASTER
        print(f"{ratio:.0f} times as fast, bar {FASTER}: {verdict(bars['speed'])}")
    made = provenance("botorch", "torch")
    made["botorch"] = kept.get("made", dict(made))  # of what its rows were made by
    save("conditional", made | {"rows": rows, "met": bars})


def stored_botorch() -> dict[str, Any]:
    """The stored runs of BoTorch, and the command and versions that they were made by."""
    path = RESULTS / "conditional.json"
    if not path.exists():
        return {}
    stored = json.loads(path.read_text("utf-8"))
    made = stored.get("botorch") or {key: stored[key] for key in ("command", "versions")}
    return {"rows": [r for r in stored["rows"] if r["method"] == "BoTorch"], "made": made}


def ours(problem: Problem, initial: list[Params], seed: int) -> dict[str, Any]:
    optimizer = oc.Optimizer(problem.space, method="tree", seed=seed, noise=False)
    tried = [(params, problem(params)) for params in initial]
    for params, value in tried:
        optimizer.add(params, value)
    seconds = []
    while len(tried) < TRIALS:
        begun = time.process_time()
        trial = optimizer.ask()
        seconds.append(time.process_time() - begun)
        tried.append((trial.params, problem(trial.params)))
        optimizer.tell(trial, tried[-1][1])
    return summary(problem, tried, seconds)


def botorch(problem: Problem, initial: list[Params], seed: int) -> dict[str, Any]:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    tried = [(params, problem(params)) for params in initial]
    seconds = []
    while len(tried) < TRIALS_OF_BOTORCH:
        X = problem.space.encode([params for params, _ in tried]).X
        begun = time.process_time()
        x = suggestion(problem.space, X, [value for _, value in tried])
        seconds.append(time.process_time() - begun)
        params = problem.space.decode(x)[0]
        tried.append((params, problem(params)))
    return summary(problem, tried, seconds)


def suggestion(space: Space, X: Points, y: list[float]) -> Points:
    """BoTorch's next point, encoded, `(1, D)`."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models.hierarchical import HierarchicalConditionalKernelGP
    from botorch.optim import optimize_acqf_mixed
    from gpytorch.mlls import ExactMarginalLogLikelihood

    children: dict[int, dict[int | float, list[int]]] = {}
    for column in space.columns:
        if column.conditions:
            parent, code = column.conditions[-1]
            children.setdefault(parent, {}).setdefault(code, []).append(column.index)
    inputs = torch.tensor(X, dtype=torch.double)
    values = -torch.tensor(y, dtype=torch.double)[:, None]  # it maximises
    _, leaves = nodes_of(space)
    held = []
    for leaf in leaves:
        free = {column.index for column in leaf.seen}
        fixed = {c.index: 0.0 if c.is_code else 0.5 for c in space.columns if c.index not in free}
        held.append(fixed | {column: float(code) for column, code in leaf.conditions})
    box = torch.stack([torch.zeros_like(inputs[0]), torch.ones_like(inputs[0])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each retried fit warns
        model = HierarchicalConditionalKernelGP(inputs, values, children)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        found, _ = optimize_acqf_mixed(
            LogExpectedImprovement(model, best_f=values.max()),
            bounds=box,
            q=1,
            num_restarts=RESTARTS,
            raw_samples=RAW_SAMPLES,
            fixed_features_list=held,
        )
    return np.asarray(found.numpy())


def summary(
    problem: Problem, tried: list[tuple[Params, float]], seconds: list[float]
) -> dict[str, Any]:
    assert problem.minimum is not None
    choices = {n: v for n, v in problem.minimisers[0].items() if isinstance(v, str)}
    result: dict[str, Any] = {"seconds": median(seconds)}
    for label, trials in ((" at 20", 20), (" at 40", 40), ("", len(tried))):
        params, value = min(tried[:trials], key=lambda pair: pair[1])
        result[f"regret{label}"] = value - problem.minimum
        result[f"right leaf{label}"] = all(params.get(n) == v for n, v in choices.items())
    return result
