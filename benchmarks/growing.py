"""Time of a suggestion with a long history of random points, in seconds of processor time.

The first suggestion after `add` and the median of later ones, each followed by a tell; `dpotrf` of
a 500 × 500 matrix is timed beside every row. Optuna's TPE, and its `GPSampler` where PyTorch is
installed, are given the same points; a peer is left out at sizes after one that took a minute, and
has two later suggestions only where one takes seconds. Results are saved after every row.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import json
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf

import outcrop as oc
from benchmarks.reporting import RESULTS, provenance, save, table, verdict
from outcrop.problems import Problem, get
from outcrop.typing import Params

SIZES = (100, 500, 1000, 2000, 5000)
PRESETS = ("warped", "spartan", "treed", "treed-warped", "latent", "cocabo", "hierarchical")
NOISY, RUNNING, FAILING = "noisy, a tenth twice", "8 running", "a third fails"  # settings
LIMITS = {  # seconds of the first and of later suggestions, by problem and size
    ("hartmann-6", 100): (0.5, 0.1),
    ("hartmann-6", 500): (1.5, 0.4),
    ("hartmann-6", 1000): (2.0, 0.6),
    ("hartmann-6", 2000): (2.5, 0.8),
    ("hartmann-6", 5000): (4.0, 1.2),
    ("levy-30", 100): (None, 0.3),
    ("levy-30", 500): (None, 1.0),
    ("levy-30", 1000): (None, 1.5),
    ("tree-large-shared", 100): (1.0, 0.15),
    ("tree-large-shared", 500): (2.0, 0.5),
    ("tree-large-shared", 1000): (3.0, 1.0),
}
# Of later suggestions of other methods, spaces and settings: times those of "gp", and seconds.
RATIO, LONGEST = 6.0, 3.0
SLOW = 5.0  # seconds of a peer's first suggestion after which it has two later ones only
LONG = 60.0  # seconds of a suggestion after which a peer gets no longer history

Ask = Callable[[], Params]
Tell = Callable[[float], object]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--asks", type=int, default=10, help="later suggestions of each")
    parser.add_argument("--largest", type=int, default=5000, help="leave out longer histories")
    parser.add_argument("--only", default="", help="one method, such as gp; rows of others stay")


def run(options: Namespace) -> None:
    rows = kept(options.only)
    for case in cases():
        if options.only not in ("", case.method):
            continue
        for n in case.sizes:
            if n > options.largest or is_too_slow(rows, case.method):
                continue
            first, later, asks = seconds(case, n, options.asks)
            rows.append(row(rows, case, n, first, later) | {"asks": asks})
            print(shown([rows[-1]]).splitlines()[-1], flush=True)
            save("growing", provenance("optuna", "torch") | {"rows": rows})
    print(shown(rows))


def kept(only: str) -> list[dict[str, Any]]:
    """Earlier rows of the methods that are not measured again."""
    saved = RESULTS / "growing.json"
    if not only or not saved.exists():
        return []
    return [r for r in json.loads(saved.read_text("utf-8"))["rows"] if r["method"] != only]


@dataclass(frozen=True)
class Case:
    """A method on a problem with histories of several sizes."""

    method: str
    problem: Problem
    sizes: tuple[int, ...] = SIZES[:3]
    setting: str = ""


def cases() -> list[Case]:
    box, wide, tree = get("hartmann-6"), levy(30), get("tree-large-shared")
    peers = ["TPE"] + ["GPSampler"] * (find_spec("torch") is not None)
    return [
        Case("gp", box, SIZES),
        Case("gp", wide),
        *(Case("gp", get(name)) for name in ("griewank-2", "func-3C", "ackley-5C")),
        *(Case("gp", box, setting=setting) for setting in (NOISY, RUNNING, FAILING)),
        *(Case(preset, box) for preset in PRESETS),
        *(Case(preset, get("func-3C")) for preset in ("latent", "cocabo", "hierarchical")),
        Case("tree", tree),
        *(Case(peer, box, SIZES) for peer in peers),
    ]


def levy(d: int) -> Problem:
    """Levy's function in `d` dimensions."""

    def value(params: Params) -> float:
        w = 1 + (np.array([params[f"x{i}"] for i in range(d)]) - 1) / 4
        inner = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)
        last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
        return float(np.sin(np.pi * w[0]) ** 2 + inner.sum() + last)

    space = oc.Space({f"x{i}": oc.Float(-10, 10) for i in range(d)})
    return Problem(f"levy-{d}", space, value, 0.0)


def seconds(case: Case, n: int, asks: int) -> tuple[float, float, int]:
    """Of the first suggestion given `n` random points, the median of later ones, their number."""
    rng = np.random.default_rng(0)
    known = case.problem.space.sample(rng, n)
    if case.setting == NOISY:
        known = [*known[: n - n // 10], *known[: n // 10]]
    values = np.array([case.problem(params) for params in known])
    noise = 0.1 * values.std() if case.setting == NOISY else 0.0
    values += noise * rng.standard_normal(n)
    if case.setting == FAILING:
        values[[params["x1"] < 1 / 3 for params in known]] = np.nan
    is_peer = case.method in ("TPE", "GPSampler", "BoTorch")
    ask, tell = (optuna_search if is_peer else own_search)(case, known, values.tolist())
    taken: list[float] = []
    while len(taken) <= asks:
        begun = time.process_time()
        params = ask()
        taken.append(time.process_time() - begun)
        tell(case.problem(params) + noise * float(rng.standard_normal()))
        if is_peer and taken[0] > SLOW:
            asks = min(asks, 2)
    return taken[0], median(taken[1:]), asks


def own_search(case: Case, known: list[Params], values: list[float]) -> tuple[Ask, Tell]:
    space = case.problem.space
    optimizer = oc.Optimizer(space, method=case.method, seed=0, ask_seconds=None)
    optimizer.add(known, values)
    for params in space.sample(np.random.default_rng(1), 8 if case.setting == RUNNING else 0):
        optimizer.enqueue(params)
        optimizer.ask()
    asked: list[oc.Trial] = []

    def ask() -> Params:
        asked.append(optimizer.ask())
        return asked[-1].params

    return ask, lambda value: optimizer.tell(asked[-1], value)


def optuna_search(case: Case, known: list[Params], values: list[float]) -> tuple[Ask, Tell]:
    from experiments.peers import PEERS

    peer = PEERS[case.method](case.problem.space, 0, len(known))
    for params, value in zip(known, values, strict=True):
        peer.add(params, value)
    asked: list[Params] = []

    def ask() -> Params:
        asked.append(peer.ask())
        return asked[-1]

    return ask, lambda value: peer.tell(asked[-1], value)


def factorisation() -> float:
    """Median seconds of `dpotrf` on 500 × 500."""
    A = np.random.default_rng(0).normal(size=(500, 500))
    K = np.asfortranarray(A @ A.T + 500 * np.eye(500))
    taken = []
    for _ in range(11):
        begun = time.process_time()
        dpotrf(K, lower=1)
        taken.append(time.process_time() - begun)
    return median(taken)


def is_too_slow(rows: list[dict[str, Any]], method: str) -> bool:
    return any(r["method"] == method and r["first"] > LONG for r in rows)


def row(
    rows: list[dict[str, Any]], case: Case, n: int, first: float, later: float
) -> dict[str, Any]:
    """A measurement and whether it is within its limits; None where there are none."""
    met: bool | None = None
    problem = case.problem.name
    if (problem, n) in LIMITS and case.method in ("gp", "tree") and not case.setting:
        most_first, most_later = LIMITS[problem, n]
        met = later <= most_later and (most_first is None or first <= most_first)
    elif case.method not in ("TPE", "GPSampler"):
        plain = [r["later"] for r in rows if r["method"] == "gp" and r["n"] == n]
        met = later <= LONGEST and (not plain or later <= RATIO * plain[0])
    return {
        "method": case.method,
        "problem": problem,
        "setting": case.setting,
        "n": n,
        "first": first,
        "later": later,
        "met": met,
        "dpotrf_500": factorisation(),
    }


def shown(rows: list[dict[str, Any]]) -> str:
    return table(
        ["method", "problem", "n", "first", "later", "dpotrf, ms", "limits"],
        [
            [
                r["method"],
                ", ".join(filter(None, [r["problem"], r["setting"]])),
                str(r["n"]),
                f"{r['first']:.2f}",
                f"{r['later']:.3f}",
                f"{1e3 * r['dpotrf_500']:.1f}",
                "" if r["met"] is None else verdict(r["met"]),
            ]
            for r in rows
        ],
    )
