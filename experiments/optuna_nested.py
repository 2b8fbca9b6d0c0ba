"""Objectives of Optuna with nested conditions, by `OutcropSampler` and by Optuna's own samplers.

No sampler is told the space: each learns what there is from the trials, as a user of Optuna has it.
`tree-large-shared` is the largest tree of "Bayesian optimization with tree-structured dependencies"
(Jenatton et al. 2017); `pipeline` is ours, with parameters of all kinds.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.reporting import table
from experiments.comparison import Searches, corrected_p_values
from experiments.harness import Cell, Experiment, Row
from experiments.searches import problem_of
from outcrop.space import Choice, Float
from outcrop.space.discrete import Group
from outcrop.strategies import EachBranch
from outcrop.surrogates import TreeStructured

TRIALS = 60
SHOWN = (20, 40, 60)  # trials after which regrets are reported
METHODS = (
    "OutcropSampler",
    "OutcropSampler all leaves",
    "OutcropSampler tree",
    "OutcropSampler gp",
    "TPE",
    "TPE multivariate",
    "GPSampler",
    "random",
)
ALL_LEAVES = oc.Method(surrogate=TreeStructured(), maximiser=EachBranch())
ALWAYS_TREE = oc.Method(surrogate=TreeStructured(chance=1.0), maximiser=EachBranch())
READING = f"""\
Define-by-run objectives with three levels of choices, {TRIALS} trials, every sampler with its
defaults and the run's number as seed. Ours believes in processes in leaves or in one for all by
what they predict, and every third suggestion, by lot, stays in the leaf of the incumbent. It also
runs as a search of all leaves at every suggestion (`all leaves`, that is `EachBranch()`), as such
with always the processes in leaves (`tree`, that is `TreeStructured(chance=1.0)`), and with always
one for all (`gp`). `TPE multivariate` is `TPESampler(multivariate=True, group=True)`. Regret: best
value less the minimum, median of the runs
after so many trials; leaf: runs whose best trial made the choices of the minimum; p: two-sided
Wilcoxon test of the logarithms of the last regrets (at least 1e-9), paired by run, against
`OutcropSampler`, Holm over the table; s: seconds of processor time per trial, mean of a run, median
of the runs."""


@dataclass(frozen=True)
class Objective:
    """What Optuna calls, its minimum, and the choices that are made there."""

    function: Callable[[Any], float]
    minimum: float
    choices: dict[str, Any]


def tree(trial: Any) -> float:
    """The tree of the document; its flat names are the names of the parameters."""
    problem = problem_of("tree-large-shared")
    params: dict[str, Any] = {}

    def ask(group: Group, prefix: str) -> None:
        for short, parameter in group.items():
            name = prefix + short
            if isinstance(parameter, Choice):
                params[name] = trial.suggest_categorical(name, parameter.names)
                ask(parameter.options[params[name]], f"{name}.{params[name]}.")
            elif isinstance(parameter, Float):
                params[name] = trial.suggest_float(name, parameter.low, parameter.high)

    ask(problem.space.declared, "")
    return problem(params)


def pipeline(trial: Any) -> float:
    """Bowls at different heights; the lowest is that of the net with stepwise decay."""
    value = 0.2 * (trial.suggest_float("share", 0.5, 1.0) - 0.8) ** 2
    match trial.suggest_categorical("model", ["forest", "svm", "net"]):
        case "forest":
            depth = trial.suggest_int("depth", 1, 20)
            features = trial.suggest_float("features", 0.1, 1.0, step=0.1)
            return value + 0.25 + ((depth - 12) / 20) ** 2 + (features - 0.4) ** 2
        case "svm":
            value += 0.02 * math.log10(trial.suggest_float("C", 1e-3, 1e3, log=True)) ** 2
            kernel = trial.suggest_categorical("kernel", ["linear", "rbf", "poly"])
            if kernel == "linear":
                return value + 0.4
            if kernel == "poly":
                return value + 0.2 + 0.05 * (trial.suggest_int("degree", 2, 5) - 3) ** 2
            gamma = trial.suggest_float("gamma", 1e-4, 1e1, log=True)
            value += 0.1 + 0.05 * (math.log10(gamma) + 1.5) ** 2
            if trial.suggest_categorical("balance", ["none", "weights"]) == "weights":
                return value - 0.05 + 0.2 * (trial.suggest_float("weight", 0, 1) - 0.3) ** 2
            return value
    rate = math.log10(trial.suggest_float("rate", 1e-5, 1e-1, log=True))
    layers = trial.suggest_int("layers", 1, 3)
    for i in range(layers):
        units = trial.suggest_int(f"units{i}", 8, 256, log=True)
        value += 0.02 * (math.log2(units) - 6 + i) ** 2
    value += 0.05 * (layers - 2) ** 2
    if trial.suggest_categorical("optimiser", ["adam", "sgd"]) == "adam":
        return value + 0.06 + 0.05 * (rate + 3) ** 2
    value += 0.05 * (rate + 2) ** 2 + 0.2 * (trial.suggest_float("momentum", 0, 0.99) - 0.9) ** 2
    if trial.suggest_categorical("schedule", ["constant", "steps"]) == "constant":
        return value + 0.04
    return value + 0.2 * (trial.suggest_float("decay", 0.1, 0.9) - 0.5) ** 2


OBJECTIVES = {
    "tree-large-shared": Objective(tree, 0.1, {"x1": "0", "x1.0.x2": "0", "x1.0.x2.0.x4": "0"}),
    "pipeline": Objective(
        pipeline, 0.0, {"model": "net", "layers": 2, "optimiser": "sgd", "schedule": "steps"}
    ),
}


def run(cell: Cell, number: int) -> Row:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)  # else a line per parameter
    objective = OBJECTIVES[cell["problem"]]
    study = optuna.create_study(sampler=sampler_of(cell["method"], number))
    seconds = []
    for _ in range(TRIALS):
        begun = time.process_time()
        study.optimize(objective.function, n_trials=1)  # whose own time is nothing beside
        seconds.append(round(time.process_time() - begun, 5))
    return {
        "values": [trial.value for trial in study.trials],
        "n_initial": 1,
        "seconds": seconds,
        "right": objective.choices.items() <= study.best_trial.params.items(),
    }


def sampler_of(method: str, seed: int) -> Any:
    from optuna.samplers import GPSampler, RandomSampler, TPESampler

    from outcrop.integrations.optuna import OutcropSampler

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # experimental, says Optuna
        if method == "TPE multivariate":
            return TPESampler(multivariate=True, group=True, seed=seed)
        samplers: dict[str, Callable[..., Any]] = {
            "OutcropSampler": OutcropSampler,
            "OutcropSampler all leaves": partial(OutcropSampler, method=ALL_LEAVES),
            "OutcropSampler tree": partial(OutcropSampler, method=ALWAYS_TREE),
            "OutcropSampler gp": partial(OutcropSampler, method="gp"),
            "TPE": TPESampler,
            "GPSampler": GPSampler,
            "random": RandomSampler,
        }
        return samplers[method](seed=seed)


def report(rows: Sequence[Row]) -> str:
    found: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        key = row["cell"]["problem"], row["cell"]["method"]
        found.setdefault(key, {})[row["run"]] = row
    searches = {key: Searches(runs, OBJECTIVES[key[0]].minimum) for key, runs in found.items()}
    last = {
        key: dict(zip(each.rows, np.log10(np.maximum(each.regrets(), 1e-9)).tolist(), strict=True))
        for key, each in searches.items()
    }
    p_values = corrected_p_values(
        {
            key: (numbers, last[key[0], METHODS[0]])
            for key, numbers in last.items()
            if key[1] != METHODS[0] and (key[0], METHODS[0]) in last
        }
    )
    lines = []
    for key, each in searches.items():
        regrets = [f"{np.median(each.regrets(n)):.1e}" for n in SHOWN]
        right = sum(bool(row["right"]) for row in each.rows.values())
        p = f"{p_values[key]:.3f}" if key in p_values else ""
        lines.append(
            [*key, str(len(each)), *regrets, f"{right}/{len(each)}", p, f"{each.seconds():.3f}"]
        )
    header = ["problem", "method", "runs", *(f"regret at {n}" for n in SHOWN), "leaf", "p", "s"]
    return f"{READING}\n\n{table(header, lines)}"


EXPERIMENT = Experiment(
    "optuna_nested",
    "Optuna's samplers on nested conditions",
    [[{"problem": problem, "method": method} for problem in OBJECTIVES for method in METHODS]],
    run,
    report,
    source="ours",
    summary="`OutcropSampler` is ahead of TPE and GPSampler",
)
