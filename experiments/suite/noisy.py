"""Noisy versions of problems: Gaussian noise on values, judged by true values.

Its standard deviation is a tenth of the spread of the function, the distance between the 5 % and
the 25 % quantile of its values at random points: many functions have a few very high values, and
noise on their scale would hide all that a search could find. The noise of a trial follows from seed
and number of the trial, so it is the same for all methods. Spreads of tuning tasks, which take
long, are in `data/spreads.json`.
"""

from __future__ import annotations

__all__ = ["NOISY", "NoisyCalls", "base_of", "noise_std", "spread"]

import json
from functools import cache
from pathlib import Path

import numpy as np

from outcrop.problems import Problem
from outcrop.typing import Params

PREFIX = "noisy-"
BBOB = (1, 6, 8, 15, 20, 21)  # in 2 and 5 dimensions
BASES = [
    *(f"bbob-f{function:02}-d{d}" for d in (2, 5) for function in BBOB),
    *("branin", "func-2C", "hartmann-6", "michalewicz-5", "six-hump-camel"),
    *("boosting-diabetes", "network-wine", "svr-diabetes"),
]
NOISY = [PREFIX + base for base in BASES]
SHARE = 0.1  # of the spread
QUANTILES = (0.05, 0.25)
POINTS = 256  # that a spread is of
STREAM = 771  # keeps the noise apart from the other random numbers of a seed
SPREADS = Path(__file__).parent / "data" / "spreads.json"


class NoisyCalls:
    """A problem whose n-th call returns its value plus the n-th noise; true values are kept."""

    def __init__(self, problem: Problem, std: float, seed: int) -> None:
        self.problem, self.std = problem, std
        self.rng = np.random.default_rng([seed, STREAM])
        self.true: list[float] = []

    def __call__(self, params: Params) -> float:
        self.true.append(self.problem(params))
        return self.true[-1] + self.std * float(self.rng.standard_normal())


def base_of(name: str) -> str:
    """The name of the problem without noise."""
    return name.removeprefix(PREFIX)


def noise_std(name: str, problem: Problem) -> float:
    """The standard deviation for an instance of the base problem `name`."""
    stored = _stored().get(name)
    return SHARE * (spread(problem, POINTS) if stored is None else stored)


def spread(problem: Problem, points: int) -> float:
    """The distance between two low quantiles of the values at uniformly random points."""
    rng = np.random.default_rng(0)
    values = [problem(params) for params in problem.space.sample(rng, points)]
    low, high = np.quantile(values, QUANTILES)
    return float(high - low)


@cache
def _stored() -> dict[str, float]:
    found: dict[str, float] = json.loads(SPREADS.read_text("utf-8"))["spreads"]
    return found
