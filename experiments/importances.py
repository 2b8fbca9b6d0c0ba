"""Importances of six tuning tasks from random trials: `study.importance()` beside Optuna's fANOVA.

Both are given the same values. fANOVA fits a random forest and reports shares of parameters alone.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.reporting import table
from experiments.harness import Cell, Experiment, Row
from experiments.suite.instances import instance_of
from experiments.suite.tuning import tuning_problem
from outcrop.space import Categorical, Float, Int, Parameter
from outcrop.typing import Params

TRIALS = 30
TASKS = (
    "svc-breast-cancer",
    "svr-diabetes",
    "kernel-ridge-diabetes",
    "boosting-diabetes",
    "forest-wine",
    "network-wine",
)
READING = f"""\
{TRIALS} random trials of each task. First: the parameter with the largest share alone, with that
share and its standard deviation; runner-up: the second; unknown: the share of the variation that
our belief does not know."""


def run(cell: Cell, number: int) -> Row:
    problem = tuning_problem(cell["problem"], instance_of("choose", number))
    params = problem.space.sample(np.random.default_rng(number), TRIALS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks are told how long to train
        values = [float(problem(each)) for each in params]
    study = oc.Optimizer(problem.space, method="gp", seed=number)
    study.add(params, values)
    found = study.importance()
    return {
        "values": values,
        "first": {name: [share.mean, share.std] for name, share in found.first.items()},
        "total": {name: [share.mean, share.std] for name, share in found.total.items()},
        "unknown": found.unknown,
        "fanova": fanova(problem.space, params, values, number),
    }


def fanova(
    space: oc.Space, params: Sequence[Params], values: Sequence[float], seed: int
) -> dict[str, float]:
    """The importances of Optuna's evaluator."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    known = {name: distribution(parameter) for name, parameter in space.parameters.items()}
    study = optuna.create_study()
    for each, value in zip(params, values, strict=True):
        trial = optuna.trial.create_trial(params=dict(each), distributions=known, value=value)
        study.add_trial(trial)
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=seed)
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(share) for name, share in found.items()}


def distribution(parameter: Parameter) -> Any:
    from optuna import distributions

    match parameter:
        case Float(low, high, log=log):
            return distributions.FloatDistribution(low, high, log=log)
        case Int(low, high, log=log):
            return distributions.IntDistribution(low, high, log=log)
        case Categorical(choices):
            listed: Any = choices  # of types that Optuna takes
            return distributions.CategoricalDistribution(listed)
    raise TypeError(f"{parameter!r} has no distribution of Optuna")


def report(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        ranked = sorted(row["first"], key=lambda name: -row["first"][name][0])
        theirs = max(row["fanova"], key=lambda name: row["fanova"][name])
        lines.append(
            [
                row["cell"]["problem"],
                str(row["run"]),
                _worded(ranked[0], row["first"]),
                _worded(ranked[1], row["first"]),
                f"{row['unknown']:.2f}",
                f"{theirs} {row['fanova'][theirs]:.2f}",
                "yes" if theirs == ranked[0] else "no",
            ]
        )
    names = ["problem", "run", "first", "runner-up", "unknown", "first by fANOVA", "same"]
    return f"{READING}\n\n{table(names, lines)}"


def _worded(name: str, shares: dict[str, list[float]]) -> str:
    mean, std = shares[name]
    return f"{name} {mean:.2f} ± {std:.2f}"


EXPERIMENT = Experiment(
    name="importances",
    title="Importances beside fANOVA",
    parts=[[{"problem": name} for name in TASKS]],
    run=run,
    report=report,
    documented=False,
)
