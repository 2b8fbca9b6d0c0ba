"""Growth of the resident size over many asks at a fixed number of observations.

Each suggestion is released again, so nothing is learnt and nothing should be kept.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from benchmarks.methods import Outcrop
from benchmarks.reporting import provenance, save, table, verdict
from benchmarks.suggestion import with_past
from outcrop.problems import get

PROBLEM = "hartmann-6"
OBSERVATIONS = 100
WARM_UP = 50  # asks until allocators and caches have found their size
BAR = 10.0  # kB per ask


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repetitions", type=int, default=2000, help="asks")


def run(options: Namespace) -> None:
    problem = get(PROBLEM)
    method = Outcrop(problem, seed=0)
    with_past(method, problem, OBSERVATIONS)
    ask_and_release(method, WARM_UP)
    before = resident_bytes()
    ask_and_release(method, options.repetitions)
    after = resident_bytes()
    growth = (after - before) / 1e3 / options.repetitions
    print(
        table(
            ["memory", "measured", "bar", ""],
            [
                ["resident before, MB", f"{before / 1e6:.1f}", "", ""],
                [f"resident after {options.repetitions} asks, MB", f"{after / 1e6:.1f}", "", ""],
                ["growth, kB per ask", f"{growth:.2f}", f"< {BAR:.0f}", verdict(growth < BAR)],
            ],
        )
    )
    save(
        "memory",
        provenance()
        | {
            "repetitions": options.repetitions,
            "observations": OBSERVATIONS,
            "resident_bytes": [before, after],
            "kilobytes_per_ask": growth,
            "bar": BAR,
            "met": growth < BAR,
        },
    )


def ask_and_release(method: Outcrop, times: int) -> None:
    for _ in range(times):
        method.ask()
        method.optimizer.release(method.trial)


def resident_bytes() -> int:
    """Current resident size of this process, from Linux's `/proc`."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
