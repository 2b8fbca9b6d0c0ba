"""Many processes on one study in one SQLite file: what the store costs, and whether it loses any.

Each process asks, waits as an evaluation would, and tells. The overhead of a trial is the time of
its ask and its tell, turns of others included, without the time in which a suggestion was made.
"""

from __future__ import annotations

__all__ = ["add_arguments", "crowd", "run"]

import multiprocessing
import random
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.reporting import provenance, save, table, verdict
from outcrop.space import Float, Space
from outcrop.strategies.base import Belief, Strategy, Suggestion, View
from outcrop.study import Study, load_study
from outcrop.study.study_strategies import Strategies
from outcrop.typing import Rng

SPACE = Space({"x": Float(0, 1), "y": Float(0, 1)})
BAR = 20.0  # ms per ask and tell


@dataclass
class Timed:
    """A strategy that adds up the seconds it takes."""

    strategy: Strategy
    seconds: float = field(default=0.0)

    def propose(self, view: View, rng: Rng) -> Suggestion:
        start = time.perf_counter()
        suggestion = self.strategy.propose(view, rng)
        self.seconds += time.perf_counter() - start
        return suggestion

    def belief(self, view: View, rng: Rng) -> Belief:
        return self.strategy.belief(view, rng)


_all_ready: Any = None  # a barrier: importing is not what is measured


def prepare(barrier: Any) -> None:
    """Make a process of the crowd ready."""
    global _all_ready
    _all_ready = barrier


def work(url: str, trials: int, evaluation: float, seed: int) -> list[dict[str, float]]:
    """One process's share: seconds of each ask, tell and suggestion."""
    study = load_study("crowd", url)
    timed = Timed(study._strategies.for_space(study.space))
    study._strategies = Strategies(timed)
    chance = random.Random(seed)
    _all_ready.wait()
    time.sleep(chance.uniform(0.0, 1.0) * evaluation)  # a crowd does not come at one moment
    times = []
    for _ in range(trials):
        before = timed.seconds
        start = time.perf_counter()
        trial = study.ask(lease=60)
        asked = time.perf_counter() - start
        time.sleep(chance.uniform(0.5, 1.5) * evaluation)
        start = time.perf_counter()
        study.tell(trial, trial.params["x"])
        told = time.perf_counter() - start
        times.append({"ask": asked, "tell": told, "model": timed.seconds - before})
    return times


def crowd(url: str, processes: int, trials: int, evaluation: float) -> list[dict[str, float]]:
    """The times of all trials of `processes` that share a study at `url`."""
    Study(SPACE, "crowd", url, method="random", seed=0)
    context = multiprocessing.get_context("forkserver")
    barrier = context.Barrier(processes)
    with context.Pool(processes, prepare, (barrier,)) as pool:
        shares: Sequence[Any] = pool.starmap(
            work, [(url, trials, evaluation, seed) for seed in range(processes)], chunksize=1
        )
    return [each for share in shares for each in share]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--trials", type=int, default=50, help="of each process")
    parser.add_argument("--evaluation", type=float, default=1.0, help="mean seconds of one")


def run(options: Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'crowd.db'}"
        start = time.perf_counter()
        times = crowd(url, options.processes, options.trials, options.evaluation)
        wall = time.perf_counter() - start
        trials = load_study("crowd", url).trials
    overheads = [1e3 * (each["ask"] + each["tell"] - each["model"]) for each in times]
    middle, worst = median(overheads), quantiles(overheads, n=20)[-1]
    finished = sum(trial.state == "finished" for trial in trials)
    points = len({SPACE.key(trial.params) for trial in trials})
    expected = options.processes * options.trials
    rows = [
        ["finished trials", str(finished), str(expected), verdict(finished == expected)],
        ["different points", str(points), str(expected), verdict(points == expected)],
        ["overhead, median ms", f"{middle:.1f}", f"<= {BAR:.0f}", verdict(middle <= BAR)],
        ["overhead, 95 % ms", f"{worst:.1f}", "", ""],
        ["wall time, s", f"{wall:.1f}", "", ""],
    ]
    print(table(["sharing", "measured", "bar", ""], rows))
    save(
        "sharing",
        provenance()
        | vars(options)
        | {
            "finished": finished,
            "points": points,
            "overhead_ms": {"median": middle, "p95": worst},
            "ask_ms": 1e3 * median(each["ask"] for each in times),
            "tell_ms": 1e3 * median(each["tell"] for each in times),
            "model_ms": 1e3 * median(each["model"] for each in times),
            "wall_seconds": wall,
            "met": finished == points == expected and middle <= BAR,
        },
    )
