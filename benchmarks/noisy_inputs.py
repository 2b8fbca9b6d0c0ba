"""Time of the full unscented Gaussian process beside one factorisation per sigma data set.

Both fit and predict at `POINTS` points with hyperparameters given: once by rank-two corrections of
all 2Nd + 1 data sets at once, once by conditioning a Gaussian process on each of them. They take
turns, and each has the median of its seconds; predictions must agree. The larger sizes are timed by
corrections only: they are the cost curve.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.reporting import provenance, save, table, verdict
from outcrop.data import Observations
from outcrop.kernels import Matern52, Scaled
from outcrop.surrogates import GP, InputNoise
from outcrop.surrogates.noisy import Transformed, Unscented
from outcrop.typing import Points, Vector

POINTS = 50
STD = 0.05
BAR = 0.2  # of the naive seconds, at 100 observations in 4 dimensions
AGREEMENT = 1e-6
COMPARED = ((25, 4), (50, 4), (100, 4), (100, 1), (100, 2), (100, 8))
GROWING = ((200, 4), (400, 4), (200, 8))

Prediction = tuple[Vector, Vector]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repetitions", type=int, default=3, help="of each way and size")


def run(options: Namespace) -> None:
    rows = [compared(n, d, options.repetitions) for n, d in COMPARED]
    for n, d in GROWING:
        model, data, new = problem(n, d)
        taken, _ = timed(partial(corrected, model, data, new), options.repetitions)
        rows.append({"n": n, "d": d, "sets": 2 * n * d + 1, "seconds": taken})
    lines = [[str(row["n"]), str(row["d"]), str(row["sets"]), *shown(row)] for row in rows]
    print(table(["N", "d", "sets", "seconds", "naive", "ratio", "apart", ""], lines))
    save("noisy_inputs", provenance() | {"repetitions": options.repetitions, "rows": rows})


def problem(n: int, d: int) -> tuple[GP, Observations, Points]:
    rng = np.random.default_rng([n, d])
    X = rng.random((n, d))
    y = np.sin(4 * X).sum(1)
    model = GP(Scaled(1.5, Matern52(np.full(d, 0.5 * np.sqrt(d)))), noise=1e-3)
    return model, Observations(X, (y - y.mean()) / y.std()), rng.random((POINTS, d))


def compared(n: int, d: int, repetitions: int) -> dict[str, Any]:
    model, data, new = problem(n, d)
    taken, found = timed(lambda: corrected(model, data, new), repetitions)
    naive, expected = timed(lambda: one_by_one(model, data, new), repetitions)
    apart = max(float(np.abs(a - b).max()) for a, b in zip(found, expected, strict=True))
    met = apart <= AGREEMENT and (taken <= BAR * naive or (n, d) != (100, 4))
    row = {"n": n, "d": d, "sets": 2 * n * d + 1, "seconds": taken, "naive": naive}
    return {**row, "ratio": taken / naive, "apart": apart, "met": met}


def shown(row: dict[str, Any]) -> list[str]:
    if "naive" not in row:
        return [f"{row['seconds']:.3f}", "", "", "", ""]
    numbers = f"{row['seconds']:.3f}", f"{row['naive']:.3f}", f"{row['ratio']:.3f}"
    return [*numbers, f"{row['apart']:.0e}", verdict(row["met"])]


def timed(function: Callable[[], Prediction], repetitions: int) -> tuple[float, Prediction]:
    """The median of the processor's seconds, and what came out."""
    seconds = []
    for _ in range(repetitions):
        start = time.process_time()
        found = function()
        seconds.append(time.process_time() - start)
    return median(seconds), found


def corrected(model: GP, data: Observations, new: Points) -> Prediction:
    noise = InputNoise(STD)
    surrogate = Transformed(None, noise, None, "full")  # type: ignore[arg-type]
    cov = noise.covariances(data)
    assert cov is not None
    return surrogate.posterior(model.condition(data), data, cov).predict(new)


def one_by_one(model: GP, data: Observations, new: Points) -> Prediction:
    q = data.X.size
    transform = Unscented(np.sqrt(3.0 / q))
    parts = [model.condition(data).predict(new)]
    for index in np.ndindex(*data.X.shape):
        for sign in (1, -1):
            X = data.X.copy()
            X[index] += sign * transform.spread(q) * STD
            parts.append(model.condition(Observations(X, data.y)).predict(new))
    means, variances = (np.stack(part) for part in zip(*parts, strict=True))
    weights = transform.weights(q)
    mean = weights @ means
    var = weights @ (variances + (means - mean) ** 2)
    return mean, np.maximum(var, variances[0])
