"""Time of one warm suggestion of every method with a model, beside `method="gp"`.

As in the benchmark `suggestion`: the methods take turns, a row is a median over suggestions.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

from argparse import ArgumentParser, Namespace
from functools import partial
from typing import Any

from benchmarks.methods import Outcrop
from benchmarks.reporting import provenance, save, table, verdict
from benchmarks.suggestion import median_seconds
from outcrop.problems import get

PROBLEM = "hartmann-6"
SIZES = (50, 100)
BARS = {"warped": 4.0, "spartan": 5.0}  # times the seconds of "gp"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repetitions", type=int, default=15, help="timed suggestions of each")


def run(options: Namespace) -> None:
    rows: list[dict[str, Any]] = []
    makers = {name: partial(Outcrop, method=name) for name in ("gp", *BARS)}
    for n in SIZES:
        seconds = median_seconds(get(PROBLEM), n, makers, options.repetitions)
        for name, taken in seconds.items():
            ratio = taken / seconds["gp"]
            met = ratio <= BARS[name] if name in BARS else None
            rows.append({"n": n, "method": name, "seconds": taken, "ratio": ratio, "met": met})
    print(
        table(
            ["n", "method", "seconds", "× gp", "bar", ""],
            [
                [
                    str(r["n"]),
                    r["method"],
                    f"{r['seconds']:.3f}",
                    f"{r['ratio']:.2f}",
                    f"≤ {BARS[r['method']]:.0f} ×" if r["method"] in BARS else "",
                    "" if r["met"] is None else verdict(r["met"]),
                ]
                for r in rows
            ],
        )
    )
    save(
        "surrogates",
        provenance() | {"problem": PROBLEM, "repetitions": options.repetitions, "rows": rows},
    )
