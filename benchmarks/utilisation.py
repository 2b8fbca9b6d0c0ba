"""How busy worker processes are kept when an evaluation takes 50 times as long as a suggestion.

A first study, told by hand, measures the mean time of an ask; in a second one the evaluations sleep
for 50 times that. Utilisation is the time of all evaluations over the workers' time from the first
ask to the last result, the start of the processes and every wait for a suggestion included.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import tempfile
import time
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.reporting import provenance, save, table, verdict
from outcrop.problems import get
from outcrop.study import Study

PROBLEM = "hartmann-6"
WORKERS = 2
RATIO = 50.0  # of an evaluation to a suggestion
BAR = 0.95


@dataclass(frozen=True)
class Sleeping:
    """The problem, as if each evaluation took some seconds."""

    seconds: float

    def __call__(self, params: dict[str, Any]) -> float:
        time.sleep(self.seconds)
        problem = get(PROBLEM)
        x = np.array([[params[name] for name in problem.space.parameters]])
        return float(problem.evaluate(x)[0])


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--trials", type=int, default=60)


def run(options: Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'utilisation.db'}"
        suggestion = suggestion_seconds(new_study("pilot", url), options.trials)
        study = new_study("measured", url)
        evaluation = RATIO * suggestion
        study.optimize(Sleeping(evaluation), options.trials, n_workers=WORKERS, progress=False)
        trials = study.trials
    started = [trial.started for trial in trials if trial.started is not None]
    finished = [trial.finished for trial in trials if trial.finished is not None]
    wall = max(finished) - min(started)
    busy = evaluation * sum(trial.state == "finished" for trial in trials)
    utilisation = busy / (WORKERS * wall)
    print(
        table(
            ["utilisation", "measured", "bar", ""],
            [
                ["suggestion, mean ms", f"{1e3 * suggestion:.1f}", "", ""],
                ["evaluation, s", f"{evaluation:.2f}", "", ""],
                ["wall time, s", f"{wall:.1f}", "", ""],
                [
                    f"utilisation of {WORKERS} workers",
                    f"{utilisation:.3f}",
                    f">= {BAR}",
                    verdict(utilisation >= BAR),
                ],
            ],
        )
    )
    save(
        "utilisation",
        provenance()
        | {
            "trials": options.trials,
            "workers": WORKERS,
            "problem": PROBLEM,
            "suggestion_seconds": suggestion,
            "evaluation_seconds": evaluation,
            "wall_seconds": wall,
            "utilisation": utilisation,
            "bar": BAR,
            "met": utilisation >= BAR,
        },
    )


def new_study(name: str, url: str) -> Study:
    return Study(get(PROBLEM).space, name, url, method="gp", noise=False, seed=0)


def suggestion_seconds(study: Study, trials: int) -> float:
    """Mean seconds of an ask over a whole study, one trial at a time."""
    objective, seconds = Sleeping(0.0), []
    for _ in range(trials):
        start = time.perf_counter()
        trial = study.ask()
        seconds.append(time.perf_counter() - start)
        study.tell(trial, objective(dict(trial.params)))
    return fmean(seconds)
