"""Processes that share a study in an SQLite file, one of which is killed every half a second.

Each process asks and tells without end and notes every acknowledged step in a file of its own, on
disk before the next step. SIGKILL ends one of them at random, and a new one takes its place. At the
end the notes are compared with the study. The stall of a kill is the time until any other process
has the next trial: if the one that was killed was asking, the others wait until it is found dead.
"""

from __future__ import annotations

__all__ = ["attack"]

import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.attack.crowd import Crowd, read_notes
from benchmarks.attack.mortals import live
from outcrop.space import Float, Space
from outcrop.study import Study, load_study
from outcrop.study.storage import open_storage

LEASE = 2.0  # seconds; trials of killed processes are handed out again
LONG = 1.0  # seconds: a longer stall is counted


def attack(seconds: float = 120.0, every: float = 0.5, processes: int = 4, seed: int = 0) -> Any:
    """Run the crowd and kill; what was acknowledged, what is lost, how long others waited."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'mortal.db'}"
        with closing(open_storage(url)) as store:  # closed before anything is forked
            Study(Space({"x": Float(0, 1)}), "mortal", store, method="random", seed=seed)
        crowd, kills = Crowd(lambda note: live(url, note, LEASE), folder), []
        try:
            for _ in range(processes):
                crowd.add()
            kills = _killed(crowd, seconds, every, random.Random(seed))
        finally:
            for life in [*crowd.alive]:
                crowd.kill(life)
        notes = read_notes(folder)
        with closing(open_storage(url)) as store:
            compared = _compared(load_study("mortal", store), notes)
    stalled = _stalled(kills, notes)
    stalls = [stall for _, stall in stalled]
    return {
        "processes": processes,
        "seconds": seconds,
        "kills": len(kills),
        **compared,
        "failed_processes": len(crowd.failed),
        "failures": crowd.failed[:3],
        "stall_seconds": {
            "median": median(stalls) if stalls else None,
            "p95": quantiles(stalls, n=20, method="inclusive")[-1] if len(stalls) > 1 else None,
            "longest": max(stalls, default=None),
            "together": _union([(when, when + stall) for (when, _), stall in stalled]),
        },
        "stalls_above_1_s": sum(stall > LONG for stall in stalls),
        "met": not compared["lost"] and compared["identical"] and not crowd.failed,
    }


def _killed(
    crowd: Crowd, seconds: float, every: float, chance: random.Random
) -> list[tuple[float, int]]:
    """Kill until the time is over; when, and which life."""
    kills = []
    start = time.monotonic()
    for count in range(1, round(seconds / every) + 1):
        time.sleep(max(0.0, start + count * every - time.monotonic()))
        life = chance.choice(sorted(crowd.alive))
        kills.append((crowd.kill(life), life))
        crowd.add()
    return kills


def _compared(study: Study, notes: dict[int, list[list[Any]]]) -> dict[str, Any]:
    """The notes beside the study."""
    values = {trial.number: trial.value for trial in study.trials}
    steps = [words[1:] for each in notes.values() for words in each]
    tells = [words[1:] for words in steps if words[0] == "told"]
    asks = Counter(tuple(words[1:]) for words in steps if words[0] == "asked")
    lost = [number for number, value in tells if values.get(number) != value]
    return {
        "acknowledged": len(tells),
        "lost": len(lost),
        "asked_again": sum(attempt > 1 for _, attempt in asks),
        "given_twice": sum(count > 1 for count in asks.values()),
        "identical": study.replay().identical,
    }


def _stalled(
    kills: Sequence[tuple[float, int]], notes: dict[int, list[list[Any]]]
) -> list[tuple[tuple[float, int], float]]:
    """Each kill, and the seconds until another process had its next trial."""
    asked = sorted(
        (words[0], life) for life, each in notes.items() for words in each if words[1] == "asked"
    )
    stalled = []
    for killed, victim in kills:
        later = (when for when, life in asked if when > killed and life != victim)
        if (first := next(later, None)) is not None:
            stalled.append(((killed, victim), first - killed))
    return stalled


def _union(intervals: Sequence[tuple[float, float]]) -> float:
    """The length of the union of intervals.

    >>> _union([(0.0, 3.0), (1.0, 2.0), (5.0, 6.0)])
    4.0
    """
    total, end = 0.0, float("-inf")
    for start, stop in sorted(intervals):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total
