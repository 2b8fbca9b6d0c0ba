"""Many processes on one study: what an SQLite file and a PostgreSQL server cost, and whether they
lose any.

Each process asks, waits as an evaluation would, and tells. The overhead of a trial is the time of
its ask and its tell, turns of others included, without the time in which a suggestion was made. The
rate counts asks and tells of processes that do not wait in between. The processor time is that of
the process that asks, which does not depend on what else the machine does.
"""

from __future__ import annotations

__all__ = ["add_arguments", "crowd", "measured", "run"]

import multiprocessing
import random
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any, TypeAlias

from benchmarks.places import ENGINES, place
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.space import Float, Space
from outcrop.strategies.base import Belief, Strategy, Suggestion, View
from outcrop.study import Study, load_study
from outcrop.study.study_strategies import Strategies
from outcrop.typing import Rng

SPACE = Space({"x": Float(0, 1), "y": Float(0, 1)})
BAR = 20.0  # ms per ask and tell
CROWDS = (1, 4, 16)  # processes of which the rate is measured


@dataclass
class Timed:
    """A strategy that adds up the seconds it takes."""

    around: Strategy
    seconds: float = field(default=0.0)

    def propose(self, view: View, rng: Rng) -> Suggestion:
        start = time.perf_counter()
        suggestion = self.around.propose(view, rng)
        self.seconds += time.perf_counter() - start
        return suggestion

    def belief(self, view: View, rng: Rng) -> Belief:
        return self.around.belief(view, rng)


_all_ready: Any = None  # a barrier: importing is not what is measured


Share: TypeAlias = tuple[list[dict[str, float]], float, float]


def prepare(barrier: Any) -> None:
    """Make a process of the crowd ready."""
    global _all_ready
    _all_ready = barrier


def work(url: str, name: str, trials: int, evaluation: float, seed: int) -> Share:
    """One process's share: seconds of each ask, tell and suggestion; when it began and ended."""
    study = load_study(name, url)
    timed = Timed(study._strategies.for_space(study.space))
    study._strategies = Strategies(timed)
    chance = random.Random(seed)
    _all_ready.wait()
    time.sleep(chance.uniform(0.0, 1.0) * evaluation)  # a crowd does not come at one moment
    times, began = [], time.monotonic()
    for _ in range(trials):
        before, used = timed.seconds, time.process_time()
        start = time.perf_counter()
        trial = study.ask(lease=60)
        asked = time.perf_counter() - start
        time.sleep(chance.uniform(0.5, 1.5) * evaluation)
        start = time.perf_counter()
        study.tell(trial, trial.params["x"])
        told = time.perf_counter() - start
        times.append(
            {
                "ask": asked,
                "tell": told,
                "model": timed.seconds - before,
                "processor": time.process_time() - used,
            }
        )
    return times, began, time.monotonic()


def crowd(url: str, name: str, processes: int, trials: int, evaluation: float) -> list[Share]:
    """The shares of `processes` in a new study at `url`."""
    Study(SPACE, name, url, method="random", seed=0)
    context = multiprocessing.get_context("forkserver")
    barrier = context.Barrier(processes)
    with context.Pool(processes, prepare, (barrier,)) as pool:
        return pool.starmap(
            work, [(url, name, trials, evaluation, seed) for seed in range(processes)], chunksize=1
        )


def measured(url: str, options: Namespace) -> dict[str, Any]:
    """The overhead of trials whose evaluation takes time, and the rates of trials without one."""
    shares = crowd(url, "crowd", options.processes, options.trials, options.evaluation)
    times = [each for share, _, _ in shares for each in share]
    trials = load_study("crowd", url).trials
    overheads = [1e3 * (each["ask"] + each["tell"] - each["model"]) for each in times]
    return {
        "finished": sum(trial.state == "finished" for trial in trials),
        "points": len({SPACE.key(trial.params) for trial in trials}),
        "overhead_ms": {"median": median(overheads), "p95": quantiles(overheads, n=20)[-1]},
        "ask_ms": 1e3 * median(each["ask"] for each in times),
        "tell_ms": 1e3 * median(each["tell"] for each in times),
        "model_ms": 1e3 * median(each["model"] for each in times),
        "processor_ms": 1e3 * median(each["processor"] for each in times),
        "asks_and_tells_per_second": {
            str(count): _rate(crowd(url, f"of {count}", count, options.fast // count, 0.0))
            for count in CROWDS
        },
    }


def _rate(shares: Sequence[Share]) -> float:
    """Asks and tells in a second, from the first process that begins to the last one that ends."""
    seconds = max(end for _, _, end in shares) - min(began for _, began, _ in shares)
    return 2 * sum(len(times) for times, _, _ in shares) / seconds


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--trials", type=int, default=50, help="of each process")
    parser.add_argument("--evaluation", type=float, default=1.0, help="mean seconds of one")
    parser.add_argument("--fast", type=int, default=800, help="trials of all, to measure rates")


def run(options: Namespace) -> None:
    expected = options.processes * options.trials
    results, rows = {}, []
    for engine in ENGINES:
        with place(engine) as (url, _):
            result = results[engine] = measured(url, options)
        finished, points = result["finished"], result["points"]
        middle, worst = result["overhead_ms"]["median"], result["overhead_ms"]["p95"]
        result["met"] = finished == points == expected and middle <= BAR
        rows += [
            [f"**{engine}**: finished trials", str(finished), str(expected)],
            ["different points", str(points), str(expected)],
            ["overhead, median ms", f"{middle:.1f}", f"<= {BAR:.0f}: {verdict(middle <= BAR)}"],
            ["overhead, 95 % ms", f"{worst:.1f}", ""],
            ["processor time of an ask and a tell, ms", f"{result['processor_ms']:.1f}", ""],
        ]
        rows += [
            [f"asks and tells per second, {count} processes", f"{rate:.0f}", ""]
            for count, rate in result["asks_and_tells_per_second"].items()
        ]
    print(table(["sharing", "measured", "bar"], rows))
    save("sharing", provenance("psycopg", "sqlalchemy") | vars(options) | results)
