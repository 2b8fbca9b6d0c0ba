"""What experiments with many workers share: the thesis's settings, and searches in virtual time.

A run is known by its number. Its searches begin with the same `3 d` evaluated points and the same
`k` jobs, one for each worker, and a trial takes equally long in all of them. A step is one
evaluation that has ended; values of a row are in the order in which they became known.
"""

from __future__ import annotations

__all__ = [
    "FLOOR",
    "METHODS",
    "Mode",
    "PRODUCTS",
    "STEPS",
    "draw_band",
    "log_regrets",
    "method_of",
    "simulated",
    "task_of",
    "times",
]

import time
from typing import Any, Literal, TypeAlias

import numpy as np

import outcrop as oc
from experiments.harness import Row
from experiments.refitted import Refitted
from experiments.robot_pushing import robot_pushing
from experiments.searches import problem_of
from experiments.unbent import Unbent
from outcrop.inference import MAP
from outcrop.kernels import Matern52, Scaled
from outcrop.params import free
from outcrop.priors import Gamma, Uniform
from outcrop.problems import Problem
from outcrop.strategies.initial import RandomDesign
from outcrop.surrogates import GP
from outcrop.typing import Matrix, Vector

STEPS = 100
PER_DIMENSION = 3  # points that are evaluated before the workers are there
POINTS = 103  # keeps the stream of these points apart from those of a search
DIGITS = 6  # of virtual times
FLOOR = 1e-9  # regret, as it enters a logarithm

LENGTHSCALES = Uniform(0.05 / 2, 1.0 / 2)  # bounds of the thesis on [−1, 1], on the unit cube
VARIANCE = Gamma(1.0, 0.001)
NOISE = 1e-6
KAPPA = 2.0
EVERY = 4  # observations after which hyperparameters are found anew
INFERENCE = MAP(starts=8)

Mode: TypeAlias = Literal["asynchronous", "synchronous"]

POLICIES: dict[str, Any] = {
    "KB": oc.pending.Believer(),
    "TS": oc.pending.ThompsonSampling(),
    "PLAyBOOK-L": oc.pending.PLAyBOOK("L", positivity="offset"),
    "PLAyBOOK-LL": oc.pending.PLAyBOOK("LL", positivity="offset"),
    "PLAyBOOK-H": oc.pending.PLAyBOOK("H", positivity="offset"),
    "PLAyBOOK-HL": oc.pending.PLAyBOOK("HL", positivity="offset"),
}
METHODS = tuple(POLICIES)
PRODUCTS: dict[str, Any] = {
    f"PLAyBOOK-{kind}, product": oc.pending.PLAyBOOK(kind, positivity="offset", clip="product")
    for kind in ("H", "HL")
}  # the order of the thesis's program


def method_of(name: str, dimension: int) -> oc.Method:
    """A method of the thesis, by its name there."""
    kernel = Scaled(free(VARIANCE), Matern52(free(LENGTHSCALES, size=dimension)))
    return oc.Method(
        surrogate=Refitted(GP(kernel, noise=NOISE), INFERENCE, EVERY),
        acquisition=oc.acquisition.Thompson() if name == "TS" else oc.acquisition.UCB(KAPPA),
        pending=(POLICIES | PRODUCTS)[name],
        initial=RandomDesign(size=PER_DIMENSION * dimension),
    )


def simulated(
    problem_name: str,
    method: oc.Method | Unbent | str,
    n_workers: int,
    run: int,
    mode: Mode = "asynchronous",
) -> Row:
    """A search that makes `STEPS` suggestions after the first jobs, as a row.

    `method` is one of the thesis by its name, or any other. The row holds all values, the number of
    initial ones, the virtual times at which the others became known, seconds of processor time per
    suggestion, and how many suggestions fell back on something simpler after numerical trouble.
    """
    problem = task_of(problem_name, run)
    d = problem.dimension
    rng = np.random.default_rng([run, POINTS])
    points = problem.space.sample(rng, PER_DIMENSION * d + n_workers)
    begun = time.process_time()
    simulation = oc.simulate(
        problem,
        Unbent(method_of(method, d)) if isinstance(method, str) else method,
        n_workers=n_workers,
        n_trials=n_workers + STEPS,
        mode=mode,
        initial=points[: PER_DIMENSION * d],
        enqueue=points[PER_DIMENSION * d :],
        noise=False,
        seed=run,
        progress=False,
    )
    seconds = time.process_time() - begun
    ended = sorted((trial.finished or 0.0, trial.number, trial) for trial in simulation.trials)
    known = [trial for _, _, trial in ended]
    return {
        "values": [trial.value for trial in known],
        "n_initial": PER_DIMENSION * d,
        "times": [round(finished, DIGITS) for finished, _, _ in ended[PER_DIMENSION * d :]],
        "seconds": [round(seconds / STEPS, 5)],
        "fallbacks": sum(trial.why.get("source") == "fallback" for trial in known),
    }


def task_of(problem_name: str, run: int) -> Problem:
    """The problem of a run; that of the robot has another goal in every run."""
    if problem_name == "nrobot-4":
        return robot_pushing(run)
    return problem_of(problem_name)


def log_regrets(row: Row) -> Vector:
    """ln(best value − minimum) from the initial points on and after every further evaluation."""
    best = np.minimum.accumulate(row["values"])[row["n_initial"] - 1 :]
    minimum = problem_of(row["cell"]["problem"]).minimum
    return np.asarray(np.log(np.maximum(best - minimum, FLOOR)))


def times(row: Row) -> Vector:
    """When each of the `log_regrets` became known; the first at 0."""
    return np.append(0.0, row["times"])


def draw_band(axes: Any, index: int, label: str, x: Vector, traces: Matrix) -> None:
    """The mean of `traces`, `(runs, len(x))`, and a standard error either side; NaN is no run."""
    from outcrop.plots.convergence import COLOURS, DASHES, SHAPES

    colour = COLOURS[index % len(COLOURS)]
    every = max(len(x) // 6, 1)
    runs = (~np.isnan(traces)).sum(0)
    mean, error = np.nanmean(traces, 0), np.nanstd(traces, 0) / np.sqrt(runs)
    axes.fill_between(x, mean - error, mean + error, color=colour, alpha=0.13, lw=0)
    axes.plot(
        x,
        mean,
        color=colour,
        ls=DASHES[index % len(DASHES)],
        marker=SHAPES[index % len(SHAPES)],
        markevery=(index % every, every),
        ms=4.5,
        mfc="white",
        label=label,
    )
