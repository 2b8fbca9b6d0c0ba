"""Constraints among parameters: accuracy on a border, no violation, and the time they take.

Three measurements: Branin's function on the unit square where x1 + x2 is at most 0.6, whose best
point is then on that line (reference: a grid, improved by SciPy's SLSQP); asks in random spaces by
every method, each checked by Python alone; and the processor time of an ask in units of one without
constraints, at the same observations and in turn, without the time of Python functions.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from scipy.optimize import minimize

import outcrop as oc
from benchmarks.constrained_spaces import random_constrained
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.errors import SpaceExhausted
from outcrop.strategies import Hierarchical, Perturbed
from outcrop.typing import Params

TRIALS, ACCURACY = 40, 1e-3
SLOWER = 2.0
ASKS = 100  # in every random space
BY_MODEL = 5  # of these, from one of the methods with a model
QUICK = 0.5  # seconds for one of them
OBSERVATIONS, TIMED = 30, 9

METHODS: dict[str, Any] = {
    "gp": "gp",
    "tree": "tree",
    "cocabo": "cocabo",
    "warped": "warped",
    "one-hot": oc.Method(surrogate=oc.baselines.OneHot()),
    "hierarchical": Hierarchical(trials=3),
    "pooled": Hierarchical(trials=3, pooled=True),
    "perturbed": Perturbed("gp"),
    "spartan": "spartan",
    "treed": "treed",
    "δ-cover": oc.Method(maximiser=oc.baselines.DeltaCover(spread=200, halvings=2)),
    "penalised": oc.Method(pending=oc.pending.PLAyBOOK("HL")),
    "latent": "latent",
    "sampled": oc.Method(pending=oc.pending.ThompsonSampling()),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=10, help="of Branin")
    parser.add_argument("--spaces", type=int, default=100, help="random ones, 100 asks in each")


def run(options: Namespace) -> None:
    optimum = reference()
    regrets = [branin_regret(seed, optimum["value"]) for seed in range(options.runs)]
    found = sum(regret <= ACCURACY for regret in regrets)
    print(f"Branin: largest regret {max(regrets):.1e}, {found} of {len(regrets)} within {ACCURACY}")
    asks: Counter[str] = Counter()
    violations: list[str] = []
    for seed in range(options.spaces):
        name = [*METHODS][seed % len(METHODS)]
        checked_asks(seed, name, asks, violations)
        if seed % 10 == 9:
            print(f"{seed + 1} spaces, {asks.total()} asks, {len(violations)} wrong", flush=True)
    rows = [time_ratio(name, *pair) for name, pair in TIMED_SPACES.items()]
    shown = [
        [r["space"], f"{r['free']:.3f}", f"{r['limited']:.3f}", f"{r['ratio']:.2f}"] for r in rows
    ]
    print(table(["space", "s without", "s with", "ratio"], shown))
    bars = {
        "accuracy": found == len(regrets),
        "violations": not violations,
        "time": max(row["ratio"] for row in rows) <= SLOWER,
    }
    print(", ".join(f"{name}: {verdict(met)}" for name, met in bars.items()))
    branin_found = {"optimum": optimum, "regrets": regrets}
    counted = {"asks": asks.total(), "by method": dict(asks), "violations": violations}
    save(
        "constraints",
        provenance() | {"branin": branin_found, "random": counted, "times": rows, "met": bars},
    )


# Branin


def branin(params: Params) -> Any:
    x, y = 15 * params["x1"] - 5, 15 * params["x2"]
    trough = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return trough**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def reference() -> dict[str, Any]:
    """The best point by a grid of 2.25 million, improved by SLSQP."""
    x1, x2 = np.meshgrid(np.linspace(0, 0.6, 1501), np.linspace(0, 0.6, 1501))
    values = np.where(x1 + x2 <= 0.6 + 1e-12, branin({"x1": x1, "x2": x2}), np.inf)
    best = np.unravel_index(values.argmin(), values.shape)
    found = minimize(
        lambda x: float(branin({"x1": x[0], "x2": x[1]})),
        [x1[best], x2[best]],
        bounds=[(0, 1), (0, 1)],
        constraints=[{"type": "ineq", "fun": lambda x: 0.6 - x[0] - x[1]}],
        options={"ftol": 1e-14},
    )
    return {
        "value": float(found.fun),
        "by the grid": float(values.min()),
        "x1": float(found.x[0]),
        "x2": float(found.x[1]),
        "x1 + x2": float(found.x.sum()),
    }


def branin_regret(seed: int, optimum: float, trials: int = TRIALS) -> float:
    square = {"x1": oc.Float(0, 1), "x2": oc.Float(0, 1)}
    space = oc.Space(square, constraints=["x1 + x2 <= 0.6"])
    optimizer = oc.Optimizer(space, seed=seed)
    for _ in range(trials):
        trial = optimizer.ask()
        optimizer.tell(trial, float(branin(trial.params)))
    assert optimizer.best_value is not None
    return float(optimizer.best_value) - optimum


# Random spaces


def checked_asks(seed: int, name: str, asks: Counter[str], violations: list[str]) -> None:
    """Asks in one random space; those that violate a constraint are listed."""
    constrained = random_constrained(seed)
    left, attempt = {name: BY_MODEL, "random": ASKS - BY_MODEL}, 0
    for method, count in left.items():
        while count > 0:
            made = series(constrained.space, METHODS.get(method, method), [seed, attempt], count)
            for params in made:
                if not constrained.is_satisfied(params):
                    violations.append(f"space {seed}, {method}: {dict(params)}")
            asks[method] += len(made)
            count, attempt = count - len(made), attempt + 1


def series(space: oc.Space, method: Any, seeds: list[int], count: int) -> list[Params]:
    """Up to `count` asks of one search, with failures and running trials among them."""
    rng = np.random.default_rng(seeds)
    seed = int(rng.integers(2**31))
    optimizer = oc.Optimizer(space, method=method, seed=seed, noise=False, ask_seconds=QUICK)
    made: list[Params] = []
    if method != "random":  # no asks are spent on a design
        known = {space.key(params): params for params in space.sample(rng, 14)}
        optimizer.add([*known.values()], rng.random(len(known)).tolist())
    try:
        while len(made) < count:
            trial = optimizer.ask()
            made.append(trial.params)
            if len(made) % 5 == 3:
                optimizer.fail(trial, "by chance")
            elif len(made) % 5 != 4:  # the fourth goes on running
                optimizer.tell(trial, float(rng.random()))
    except SpaceExhausted:
        assert space.size is not None  # a continuum is never exhausted
        made = made or [*space.sample(rng, count)]
    return made


# Times


class Timed:
    """A predicate that measures the time it takes."""

    def __init__(self, function: Callable[[Params], bool]) -> None:
        self.function = function
        self.seconds = 0.0

    def __call__(self, params: Params) -> bool:
        begun = time.process_time()
        holds = self.function(params)
        self.seconds += time.process_time() - begun
        return holds


SIX = {f"x{i}": oc.Float(0, 1) for i in range(6)}
TREE = {
    "x": oc.Float(0, 1),
    "m": oc.Choice({"a": {"u": oc.Float(0, 1)}, "b": {"n": oc.Int(1, 90), "v": oc.Float(0, 1)}}),
}
TIMED_SPACES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "two numbers, a sum": ({"x": oc.Float(0, 1), "y": oc.Float(0, 1)}, ["x + y <= 0.6"]),
    "six numbers, two sums": (SIX, ["x0 + x1 + x2 <= 1", "x3 + x4 + x5 >= 1.2"]),
    "six numbers, 1e-4 of the cube": (SIX, ["x0 + x1 + x2 + x3 <= 0.22"]),
    "a tree": (TREE, ["x + m.a.u <= 0.8", "m.b.n * m.b.v <= 20"]),
    "six numbers, a function": (SIX, [lambda p: sum(p.values()) <= 2.5]),
}


def time_ratio(name: str, declared: dict[str, Any], limits: list[Any]) -> dict[str, Any]:
    """The median time of an ask with and without constraints, in turn."""
    own = [Timed(limit) if callable(limit) else limit for limit in limits]
    spaces = {"limited": oc.Space(declared, constraints=own), "free": oc.Space(declared)}
    past = spaces["limited"].sample(np.random.default_rng(0), OBSERVATIONS)
    values = [float(np.sin(7 * i)) for i in range(OBSERVATIONS)]
    searches = {
        key: oc.Optimizer(space, seed=0, noise=False, ask_seconds=None)
        for key, space in spaces.items()
    }
    seconds: dict[str, list[float]] = {key: [] for key in spaces}
    for search in searches.values():
        search.add(past, values)
        search.release(search.ask())  # the first finds admissible points, and warms the chains
    for _ in range(TIMED):
        for key, search in searches.items():
            outside = sum(each.seconds for each in own if isinstance(each, Timed))
            begun = time.process_time()
            trial = search.ask()
            took = time.process_time() - begun
            took -= sum(each.seconds for each in own if isinstance(each, Timed)) - outside
            seconds[key].append(took)
            search.tell(trial, float(np.cos(len(seconds[key]))))
    middle = {key: median(some) for key, some in seconds.items()}
    return {"space": name, **middle, "ratio": middle["limited"] / middle["free"]}
