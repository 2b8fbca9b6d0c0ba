"""The simulator: how busy workers are in virtual time, how fast it is, whether real time agrees.

1. Utilisation of 8 workers when evaluations take 50 times as long as a suggestion on average.
2. A search of 1000 workers by a cheap method.
3. A real search on 2 processes whose evaluations sleep as long as those of a simulation take; the
   real time is from the first ask to the last result, the start of the processes included.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import time
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from typing import Any

import outcrop as oc
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.study import Trial

PROBLEM = "hartmann-6"
RATIO = 50.0  # of an evaluation to a suggestion
WORKERS, BAR = 8, 0.97
DURATIONS = {
    "constant": oc.durations.ConstantDuration(1.0),
    "half-normal": oc.durations.HalfNormal(1.0),
}
MODES = ("asynchronous", "synchronous")
CROWD = 1000
REAL_WORKERS, AGREEMENT = 2, 0.05
HOUR = 3600.0


@dataclass(frozen=True)
class Sleeping:
    """The problem, as if its evaluations took the times of a simulation."""

    seconds: dict[int, float]  # by trial number

    def evaluate(self, trial: Trial) -> float:
        time.sleep(self.seconds[trial.number])
        return oc.problems.get(PROBLEM)(dict(trial.params))


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--trials", type=int, default=2000, help="of each search of 8 workers")
    parser.add_argument("--crowd", type=int, default=20_000, help="trials of 1000 workers")
    parser.add_argument("--real", type=int, default=60, help="trials in real time, a second each")


def run(options: Namespace) -> None:
    busy = [utilisation(mode, name, options.trials) for name in DURATIONS for mode in MODES]
    crowd = crowded(options.crowd)
    real = [agreement(method, options.real) for method in ("random", "gp")]
    save(
        "simulation",
        provenance() | {"utilisation": busy, "crowd": crowd, "real_time": real},
    )


def utilisation(mode: Any, lengths: str, trials: int) -> dict[str, Any]:
    simulation = oc.simulate(
        PROBLEM,
        "random",
        n_workers=WORKERS,
        n_trials=trials,
        duration=DURATIONS[lengths],
        overhead=1 / RATIO,
        mode=mode,
        noise=False,
    )
    share = simulation.utilisation
    has_bar = mode == "asynchronous"
    print(
        table(
            ["utilisation", "measured", "bar", ""],
            [
                [
                    f"{WORKERS} workers, {lengths}, {mode}",
                    f"{share:.3f}",
                    f">= {BAR}" if has_bar else "",
                    verdict(share >= BAR) if has_bar else "",
                ]
            ],
        ),
        flush=True,
    )
    found = {
        "workers": WORKERS,
        "trials": trials,
        "evaluation_to_suggestion": RATIO,
        "durations": lengths,
        "mode": mode,
        "makespan": simulation.makespan,
        "utilisation": share,
    }
    return found | ({"bar": BAR, "met": share >= BAR} if has_bar else {})


def crowded(trials: int) -> dict[str, Any]:
    began = time.perf_counter()
    simulation = oc.simulate(
        PROBLEM,
        "random",
        n_workers=CROWD,
        n_trials=trials,
        duration=oc.durations.HalfNormal(HOUR),
        overhead=0.1,
        noise=False,
    )
    seconds = time.perf_counter() - began
    hours = simulation.busy / HOUR
    print(
        table(
            [f"{CROWD} workers", "measured"],
            [
                ["trials", f"{simulation.n_evaluations}"],
                ["hours of evaluations", f"{hours:.0f}"],
                ["real time, s", f"{seconds:.1f}"],
            ],
        ),
        flush=True,
    )
    return {
        "workers": CROWD,
        "trials": simulation.n_evaluations,
        "simulated_hours": hours,
        "makespan_hours": simulation.makespan / HOUR,
        "utilisation": simulation.utilisation,
        "real_seconds": seconds,
    }


def agreement(method: str, trials: int) -> dict[str, Any]:
    problem = oc.problems.get(PROBLEM)
    simulation = oc.simulate(
        problem, method, n_workers=REAL_WORKERS, n_trials=trials, overhead="measured", noise=False
    )
    lengths = {t.number: (t.finished or 0.0) - (t.started or 0.0) for t in simulation.evaluated}
    study = oc.Study(problem.space, method=method, noise=False, seed=0)
    study.optimize(Sleeping(lengths), trials, n_workers=REAL_WORKERS, progress=False)
    started = min(trial.started for trial in study.trials if trial.started is not None)
    real = max(trial.finished for trial in study.trials if trial.finished is not None) - started
    difference = real / simulation.makespan - 1
    print(
        table(
            [f"{method}, {REAL_WORKERS} processes", "measured", "bar", ""],
            [
                ["virtual time, s", f"{simulation.makespan:.2f}", "", ""],
                ["real time, s", f"{real:.2f}", "", ""],
                [
                    "difference",
                    f"{difference:+.1%}",
                    f"within {AGREEMENT:.0%}",
                    verdict(abs(difference) <= AGREEMENT),
                ],
            ],
        ),
        flush=True,
    )
    return {
        "method": method,
        "workers": REAL_WORKERS,
        "trials": trials,
        "virtual_seconds": simulation.makespan,
        "virtual_thinking_seconds": simulation.thinking,
        "real_seconds": real,
        "difference": difference,
        "bar": AGREEMENT,
        "met": abs(difference) <= AGREEMENT,
    }
