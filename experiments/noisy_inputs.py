"""Models of chapter 3 of the thesis, trained on values of functions at perturbed points.

Points are on [−1, 1]^d. A run is known by its number, which draws the function (if it is a random
one), 100 points to train on, 50 to test, and by how far each point is missed. Fewer points to train
on are the first of these, and for another noise all are missed in the same directions.
"""

from __future__ import annotations

__all__ = ["MODELS", "TASKS", "TESTED", "scores"]

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Any

import numpy as np

from experiments.searches import problem_of
from outcrop.data import Observations
from outcrop.inference import MAP
from outcrop.kernels import RBF, Kernel, RationalQuadratic, Scaled
from outcrop.params import free
from outcrop.priors import Uniform
from outcrop.surrogates import GP, Inferred, Surrogate
from outcrop.surrogates.noisy import (
    Alternating,
    AnalyticGP,
    InputNoise,
    NIGPModel,
    RandFuncGP,
    Transformed,
    Unscented,
)
from outcrop.typing import Matrix, Points, Rng, Vector

PROBLEMS = {
    "ackley-2d": "ack-2",
    "ackley-4d": "ack-4",
    "ackley-8d": "ack-8",
    "branin-2d": "bra-2",
    "decaying-sin": "decaying-sin",
    "michalewicz-2d": "mic-2",
    "michalewicz-4d": "mic-4",
    "michalewicz-8d": "mic-8",
}
DRAWS = {"draw-from-gp-2d": 2, "draw-from-gp-3d": 3, "draw-from-gp-4d": 4}
TASKS = tuple(sorted([*PROBLEMS, *DRAWS]))
MODELS = ("RBF", "Analytic", "NIGP", "RandFunc", "UTGP", "RatQuad", "UTGP α = 1", "UTGP full")
TRAINED, TESTED = 100, 50
NOISE = 1e-3  # of the values, standard deviation

DRAWN_SCALE, DRAWN_NODES, DRAWN_JITTER = 0.4, 300, 1e-5
DRAWING, FITTING = 31, 32  # keep streams of random numbers apart

INFERENCE = MAP(starts=10)


@dataclass(frozen=True)
class Between(Uniform):
    """Bounds of a maximisation, which begins at values spread evenly over orders of magnitude."""

    def sample(self, rng: Rng, size: int) -> Vector:
        return np.exp(rng.uniform(log(self.low), log(self.high), size))


VARIANCE = Between(1e-6, 1e3)
LENGTHSCALE = Between(0.02, 10.0)
VALUE_NOISE = Between(1e-8, 1.0)
SHAPE = Between(1e-2, 1e3)  # α of the rational quadratic kernel


def scores(task: str, spread: float, size: int, run: int) -> dict[str, tuple[float, float, float]]:
    """Log density and squared error, summed over the test points, and seconds, of each model."""
    function = function_of(task, run)
    dimension = DRAWS.get(task) or problem_of(PROBLEMS[task]).dimension
    rng = np.random.default_rng([run, dimension])
    X = rng.uniform(-1, 1, (TRAINED + TESTED, dimension))
    misses = rng.standard_normal((TRAINED, dimension))
    y = function(X[:TRAINED] + spread * misses) + NOISE * rng.standard_normal(TRAINED)
    known = Observations(X[:size], y[:size] - y[:size].mean())
    at, truth = X[TRAINED:], function(X[TRAINED:]) - y[:size].mean()
    found = {}
    for name, (belief, seconds) in fitted(known, spread, run).items():
        begun = time.process_time()
        mean, var = belief.predict(at)
        var = var + belief.model.noise
        density = -0.5 * (np.log(2 * np.pi * var) + (truth - mean) ** 2 / var).sum()
        error = ((truth - mean) ** 2).sum()
        seconds += time.process_time() - begun
        found[name] = round(float(density), 4), round(float(error), 6), round(seconds, 4)
    return found


def fitted(data: Observations, spread: float, run: int) -> dict[str, tuple[Any, float]]:
    """The belief of every model, and the processor time it took.

    The unscented ones have the hyperparameters of the plain process, whose likelihood is theirs.
    """
    d, inputs = data.dimension, InputNoise(spread)
    scales, noise = free(LENGTHSCALE, size=d), free(VALUE_NOISE)
    kernel = Scaled(free(VARIANCE), RBF(scales))
    quadratic: Kernel = Scaled(free(VARIANCE), RationalQuadratic(scales, free(SHAPE)))
    plain = Inferred(GP(kernel, noise), INFERENCE)
    surrogates: dict[str, Surrogate] = {
        "RBF": plain,
        "Analytic": Inferred(AnalyticGP(kernel, noise, inputs=inputs), INFERENCE),
        "NIGP": Alternating(NIGPModel(kernel, noise, inputs=inputs), INFERENCE),
        "RandFunc": Inferred(RandFuncGP(kernel, noise, inputs=inputs), INFERENCE),
        "RatQuad": Inferred(GP(quadratic, noise), INFERENCE),
    }
    found: dict[str, tuple[Any, float]] = {}
    for name, surrogate in surrogates.items():
        begun = time.process_time()
        (belief,) = surrogate.fit(data, np.random.default_rng([run, FITTING])).components
        found[name] = belief, time.process_time() - begun
    transforms = {
        "UTGP": Transformed(plain, inputs, Unscented(1e-3), variance="thesis"),
        "UTGP α = 1": Transformed(plain, inputs),
        "UTGP full": Transformed(plain, inputs, kind="full"),
    }
    belief, seconds = found["RBF"]
    cov = inputs.covariances(data)
    assert cov is not None
    for name, transform in transforms.items():
        found[name] = transform.posterior(belief, data, cov), seconds
    return {name: found[name] for name in MODELS}


def function_of(task: str, run: int) -> Callable[[Points], Vector]:
    if task in DRAWS:
        return draw(DRAWS[task], run)
    problem = problem_of(PROBLEMS[task])
    low, high = problem.bounds.T
    assert problem.formula is not None
    formula = problem.formula
    return lambda X: np.asarray(formula(low + (high - low) * (X + 1) / 2))


@lru_cache(maxsize=4)
def draw(dimension: int, run: int) -> Callable[[Points], Vector]:
    """A draw of an RBF process on a grid, continued by the mean of a process fitted to it."""
    axis = np.linspace(-1, 1, int(DRAWN_NODES ** (1 / dimension) + 1e-9))
    nodes = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), -1).reshape(-1, dimension)
    K: Matrix = RBF(np.array([DRAWN_SCALE])).gram(nodes)
    rng = np.random.default_rng([run, dimension, DRAWING])
    values = np.linalg.cholesky(K + DRAWN_JITTER * np.eye(len(K))) @ rng.normal(size=len(K))
    kernel = Scaled(free(VARIANCE), RBF(free(LENGTHSCALE, size=dimension)))
    model = GP(kernel, noise=DRAWN_JITTER)
    (belief,) = Inferred(model, INFERENCE).fit(Observations(nodes, values), rng).components
    return lambda X: belief.predict(X)[0]
