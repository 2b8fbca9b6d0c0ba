"""Time of a suggestion of `"auto"`, beside `"gp"` and BoTorch, in seconds of processor time.

Random points are added first. The first suggestion and the median of later ones, each followed by
a tell; BoTorch, if it is installed, is `SingleTaskGP` with `LogExpectedImprovement`.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from typing import Any

from benchmarks.growing import Case, factorisation, seconds
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.problems import get, levy

SMALL = [
    (problem, n) for problem in (get("branin"), get("hartmann-6"), levy(10)) for n in (50, 100)
]
LARGE = [(get("hartmann-6"), n) for n in (500, 1000)]
MOST = 3.0  # times the seconds of "gp", with many observations


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--asks", type=int, default=10, help="later suggestions of each")


def run(options: Namespace) -> None:
    peers = ["BoTorch"] * (find_spec("botorch") is not None)
    rows: list[dict[str, Any]] = []
    for methods, cases in ((["gp", "auto", *peers], SMALL), (["gp", "auto"], LARGE)):
        for problem, n in cases:
            taken = {m: seconds(Case(m, problem), n, options.asks)[:2] for m in methods}
            later = {method: each[1] for method, each in taken.items()}
            met = later["auto"] <= later.get("BoTorch", MOST * later["gp"])
            rows.append({"problem": problem.name, "n": n, "seconds": taken, "met": met})
            print(shown(rows).splitlines()[-1], flush=True)
    print(shown(rows))
    unit = {"dpotrf_500": factorisation(), "asks": options.asks}
    save("ensemble", provenance("botorch", "torch") | unit | {"rows": rows})


def shown(rows: list[dict[str, Any]]) -> str:
    """First and later seconds of every method; `auto` must not be above BoTorch, or 3 times gp."""
    methods = ["gp", "auto", "BoTorch"]
    return table(
        ["problem", "n", *(f"{m}, first / later" for m in methods), "limit"],
        [
            [
                r["problem"],
                str(r["n"]),
                *(_pair(r["seconds"].get(method)) for method in methods),
                verdict(r["met"]),
            ]
            for r in rows
        ],
    )


def _pair(taken: tuple[float, float] | None) -> str:
    return "" if taken is None else f"{taken[0]:.2f} / {taken[1]:.3f}"
