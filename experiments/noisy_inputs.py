"""Models of chapter 3 of the thesis, trained on values of functions at perturbed points.

Points are on [−1, 1]^d. A run is known by its number, which draws the function (if it is a random
one), 100 points to train on, 50 to test, and by how far each point is missed. Fewer points to train
on are the first of these, and for another noise all are missed in the same directions. With exact
values no point is missed, while models are still told that they are.
"""

from __future__ import annotations

__all__ = [
    "FLOOR",
    "FLOORED",
    "FULL_AS_DESCRIBED",
    "MODELS",
    "TASKS",
    "TESTED",
    "data_in_1d",
    "floored_scores",
    "plain_process",
    "scores",
    "unscented",
]

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
FULL_AS_DESCRIBED = "UTGP full, α = 10⁻³"  # Figure 3.3 only
FLOORED = "RBF floor"
FLOOR = 0.05  # of the variance of the values: the least noise variance of `RBF floor`
TRAINED, TESTED = 100, 50
NOISE = 1e-3  # of the values, standard deviation

DRAWN_SCALE, DRAWN_NODES, DRAWN_JITTER = 0.4, 300, 1e-5
DRAWING, FITTING, POINTS = 31, 32, 33  # keep streams of random numbers apart

ONE_DIMENSION, TRAINED_1D, TESTED_1D = "decaying-sin", 30, 30  # Figures 3.3 to 3.5

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


def scores(
    task: str, spread: float, size: int, run: int, *, exact: bool = False
) -> dict[str, tuple[float, float, float]]:
    """Log density and squared error, summed over the test points, and seconds, of each model."""
    known, at, truth = data_of(task, spread, size, run, exact=exact)
    found = {}
    for name, (belief, seconds) in fitted(known, spread, run).items():
        begun = time.process_time()
        density, error = score(belief, at, truth)
        seconds += time.process_time() - begun
        found[name] = density, error, round(seconds, 4)
    return found


def floored_scores(
    task: str, spread: float, size: int, run: int
) -> dict[str, tuple[float, float, float, float]]:
    """As `scores` of `RBF` with and without a floor of its noise, and its noise variance.

    The last is a share of the variance of the values. The data are those of `scores`.
    """
    known, at, truth = data_of(task, spread, size, run)
    variance = float(known.y.var())
    found = {}
    for name, low in (("RBF", VALUE_NOISE.low), (FLOORED, FLOOR * variance)):
        begun = time.process_time()
        model = GP(kernel_of(known.dimension), free(Between(low, VALUE_NOISE.high)))
        rng = np.random.default_rng([run, FITTING])
        belief: Any
        (belief,) = Inferred(model, INFERENCE).fit(known, rng).components
        density, error = score(belief, at, truth)
        seconds = round(time.process_time() - begun, 4)
        found[name] = density, error, seconds, float(f"{belief.model.noise / variance:.4g}")
    return found


def data_of(
    task: str, spread: float, size: int, run: int, *, exact: bool = False
) -> tuple[Observations, Points, Vector]:
    """What models are trained on, test points and values there; values less those trained on."""
    function = function_of(task, run)
    dimension = DRAWS.get(task) or problem_of(PROBLEMS[task]).dimension
    rng = np.random.default_rng([run, dimension])
    X = rng.uniform(-1, 1, (TRAINED + TESTED, dimension))
    misses = (0.0 if exact else spread) * rng.standard_normal((TRAINED, dimension))
    y = function(X[:TRAINED] + misses) + NOISE * rng.standard_normal(TRAINED)
    level = y[:size].mean()
    return Observations(X[:size], y[:size] - level), X[TRAINED:], function(X[TRAINED:]) - level


def score(belief: Any, at: Points, truth: Vector) -> tuple[float, float]:
    """Log density, learnt noise included, and squared error of the mean, summed."""
    mean, var = belief.predict(at)
    var = var + belief.model.noise
    density = -0.5 * (np.log(2 * np.pi * var) + (truth - mean) ** 2 / var).sum()
    return round(float(density), 4), round(float(((truth - mean) ** 2).sum()), 6)


def kernel_of(dimension: int) -> Kernel:
    """The RBF kernel that all models but the rational quadratic one have."""
    return Scaled(free(VARIANCE), RBF(free(LENGTHSCALE, size=dimension)))


def fitted(data: Observations, spread: float, run: int) -> dict[str, tuple[Any, float]]:
    """The belief of every model, and the processor time it took.

    The unscented ones have the hyperparameters of the plain process, whose likelihood is theirs.
    """
    d, inputs = data.dimension, InputNoise(spread)
    kernel, noise = kernel_of(d), free(VALUE_NOISE)
    scales = free(LENGTHSCALE, size=d)
    quadratic: Kernel = Scaled(free(VARIANCE), RationalQuadratic(scales, free(SHAPE)))
    plain = plain_process(d)
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
    belief, seconds = found["RBF"]
    for name, transformed in unscented(belief, data, spread).items():
        found[name] = transformed, seconds
    return {name: found[name] for name in MODELS}


def plain_process(dimension: int) -> Inferred:
    return Inferred(GP(kernel_of(dimension), free(VALUE_NOISE)), INFERENCE)


def unscented(plain: Any, data: Observations, spread: float) -> dict[str, Any]:
    """The belief of the plain process under every unscented transform.

    As the thesis describes both, α is 10⁻³ and the spread between data sets is counted twice.
    """
    inputs = InputNoise(spread)
    own = plain_process(data.dimension)
    transforms = {
        "UTGP": Transformed(own, inputs, Unscented(1e-3), variance="thesis"),
        FULL_AS_DESCRIBED: Transformed(
            own, inputs, Unscented(1e-3), kind="full", variance="thesis"
        ),
        "UTGP α = 1": Transformed(own, inputs),
        "UTGP full": Transformed(own, inputs, kind="full"),
    }
    cov = inputs.covariances(data)
    assert cov is not None
    return {name: each.posterior(plain, data, cov) for name, each in transforms.items()}


def data_in_1d(
    spread: float, run: int, size: int = TRAINED_1D, *, exact: bool = False
) -> tuple[Observations, Points, float]:
    """Values of decaying-sin at missed points, points to test at, and the level taken off values.

    With `exact` values no point is missed.
    """
    function = function_of(ONE_DIMENSION, run)
    rng = np.random.default_rng([run, POINTS])
    X, at = rng.uniform(-1, 1, (size, 1)), rng.uniform(-1, 1, (TESTED_1D, 1))
    misses = (0.0 if exact else spread) * rng.standard_normal(X.shape)
    y = function(X + misses) + NOISE * rng.standard_normal(size)
    level = float(y.mean())
    return Observations(X, y - level), at, level


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
    model = GP(kernel_of(dimension), noise=DRAWN_JITTER)
    (belief,) = Inferred(model, INFERENCE).fit(Observations(nodes, values), rng).components
    return lambda X: belief.predict(X)[0]
