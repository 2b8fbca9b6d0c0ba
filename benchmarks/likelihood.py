"""Log marginal likelihood of a Matérn-5/2 ARD process, with and without gradient, in `dpotrf`s.

The unit is one call of LAPACK's Cholesky factorisation on the same covariance through SciPy, which
no exact evaluation can do without. What is timed starts at θ, as inference does.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf

from benchmarks.reporting import provenance, save, table, verdict
from outcrop.data import Observations
from outcrop.kernels import Matern52, Scaled
from outcrop.params import Layout, Per, free
from outcrop.priors import LogNormal, Normal
from outcrop.surrogates.gp import GP

DIMENSION = 6
SIZES = (20, 50, 100, 200)
BARS = {50: (12.0, 30.0), 100: (8.0, 20.0), 200: (6.0, 18.0)}  # value; value and gradient
BLOCK = 0.004  # seconds timed at once, far above the clock's resolution


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repetitions", type=int, default=100, help="interleaved rounds")


def run(options: Namespace) -> None:
    rows, cells = [], []
    for n in SIZES:
        unit, value, gradient = fastest(calls(n), options.repetitions)
        for what, seconds, bar in zip(
            ("value", "value and gradient"),
            (value, gradient),
            BARS.get(n, (None, None)),
            strict=True,
        ):
            ratio = seconds / unit
            met = bar and ratio <= bar
            rows.append(
                {"n": n, "what": what, "seconds": seconds, "dpotrf_seconds": unit}
                | {"ratio": ratio, "bar": bar, "met": met}
            )
            cells.append(
                [what, str(n), f"{unit * 1e6:.1f}", f"{seconds * 1e6:.1f}", f"{ratio:.1f}"]
                + ([f"≤ {bar:.0f}", verdict(ratio <= bar)] if bar else ["", ""])
            )
    cells.sort(key=lambda row: row[0])
    print(table(["log likelihood", "n", "dpotrf, µs", "µs", "ratio", "bar", ""], cells))
    save("likelihood", provenance() | {"repetitions": options.repetitions, "rows": rows})


def calls(n: int) -> list[Callable[[], object]]:
    """The factorisation, the value, and the value with its gradient, ready to be called."""
    rng = np.random.default_rng(0)
    data = Observations(rng.random((n, DIMENSION)), rng.normal(size=n))
    model = GP(
        Scaled(free(LogNormal()), Matern52(free(LogNormal(), size=Per.DIMENSION))),
        noise=free(LogNormal(-6.0, 3.0)),
        mean=free(Normal()),
    )
    layout = Layout.of(model, data)
    theta = np.concatenate([[0.1], np.log(np.full(DIMENSION, 0.5)), [-6.0], [0.1]])
    bound = layout.bind(theta)
    covariance = np.asfortranarray(bound.kernel.gram(data.X) + bound.noise * np.eye(n))

    def value() -> float:
        return layout.bind(theta).log_likelihood(data)

    def value_and_gradient() -> object:
        log_likelihood, model_bar = layout.bind(theta).log_likelihood_with_gradient(data)
        return log_likelihood, layout.gradient(theta, model_bar)

    return [lambda: dpotrf(covariance, lower=1), value, value_and_gradient]


def fastest(functions: list[Callable[[], object]], rounds: int) -> list[float]:
    """Seconds of one call of each: the minimum over blocks timed in turn."""
    counts = [max(1, round(BLOCK / _seconds(function, 20))) for function in functions]
    best = [np.inf] * len(functions)
    for _ in range(rounds):
        for i, (function, count) in enumerate(zip(functions, counts, strict=True)):
            best[i] = min(best[i], _seconds(function, count))
    return best


def _seconds(function: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count
