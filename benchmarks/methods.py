"""Outcrop and its peers behind one interface, on a box of floats, minimising, without noise.

A point `x` is `(d,)` in the problem's own units. Each peer is set up as its documentation shows for
a deterministic objective, with one thread, and pays in `ask` for everything it does.
"""

from __future__ import annotations

__all__ = ["METHODS", "BoTorch", "Method", "OptunaGP", "Outcrop"]

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from outcrop.problems import Problem
from outcrop.typing import Vector

RESTARTS, RAW_SAMPLES = 8, 512  # of BoTorch's search for the best acquisition value
EXACT_NOISE = 1e-6  # a part of the values' variance; BoTorch's own floor for a fixed noise


class Method(Protocol):
    """An optimiser that has been given a problem's box and a seed."""

    def add(self, x: Vector, value: float) -> None:
        """Take a value that was obtained elsewhere."""

    def ask(self) -> Vector:
        """The next point to evaluate; its value comes by `tell` before the next call."""

    def tell(self, value: float) -> None:
        """The value at the point asked last."""


class Outcrop:
    """This library."""

    def __init__(self, problem: Problem, seed: int, method: str = "gp") -> None:
        import outcrop as oc

        self.names = list(problem.space.parameters)
        self.optimizer = oc.Optimizer(problem.space, method=method, seed=seed, noise=False)
        self.trial: Any = None

    def add(self, x: Vector, value: float) -> None:
        self.optimizer.add(dict(zip(self.names, map(float, x), strict=True)), value)

    def ask(self) -> Vector:
        self.trial = self.optimizer.ask()
        return np.array([self.trial.params[name] for name in self.names])

    def tell(self, value: float) -> None:
        self.optimizer.tell(self.trial, value)


class OptunaGP:
    """Optuna's `GPSampler`, told that the objective is deterministic."""

    def __init__(self, problem: Problem, seed: int) -> None:
        import optuna
        import torch

        torch.set_num_threads(1)
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        self.box = {
            f"x{i}": optuna.distributions.FloatDistribution(low, high)
            for i, (low, high) in enumerate(problem.bounds.tolist(), start=1)
        }
        sampler = optuna.samplers.GPSampler(
            seed=seed, deterministic_objective=True, n_startup_trials=0
        )
        self.study = optuna.create_study(sampler=sampler)
        self.trial: Any = None

    def add(self, x: Vector, value: float) -> None:
        from optuna.trial import create_trial

        params = dict(zip(self.box, map(float, x), strict=True))
        self.study.add_trial(create_trial(params=params, distributions=self.box, value=value))

    def ask(self) -> Vector:
        self.trial = self.study.ask(self.box)
        return np.array([self.trial.params[name] for name in self.box])

    def tell(self, value: float) -> None:
        self.study.tell(self.trial, value)


class BoTorch:
    """`SingleTaskGP` with its default priors and `LogExpectedImprovement`, refitted every time.

    The noise is learnt, as in BoTorch's tutorials; `exact` fixes it at `EXACT_NOISE`, which is how
    BoTorch is told that an objective is deterministic.
    """

    def __init__(self, problem: Problem, seed: int, exact: bool = False) -> None:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.problem, self.exact = problem, exact
        self.U: list[Vector] = []  # on the unit cube
        self.y: list[float] = []
        self.asked: Any = None

    def add(self, x: Vector, value: float) -> None:
        self.U.append(self.problem.to_unit(x))
        self.y.append(value)

    def ask(self) -> Vector:
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Normalize, Standardize
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        X = torch.tensor(np.array(self.U), dtype=torch.double)
        Y = -torch.tensor(self.y, dtype=torch.double)[:, None]  # it maximises
        cube = torch.stack([torch.zeros_like(X[0]), torch.ones_like(X[0])])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each retried fit warns
            model = SingleTaskGP(
                X,
                Y,
                train_Yvar=(EXACT_NOISE * Y.var()).expand_as(Y) if self.exact else None,
                input_transform=Normalize(X.shape[1], bounds=cube),
                outcome_transform=Standardize(1),
            )
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            candidate, _ = optimize_acqf(
                LogExpectedImprovement(model, best_f=Y.max()),
                bounds=cube,
                q=1,
                num_restarts=RESTARTS,
                raw_samples=RAW_SAMPLES,
            )
        self.asked = self.problem.from_unit(candidate[0].numpy())
        return np.asarray(self.asked)

    def tell(self, value: float) -> None:
        self.add(self.asked, value)


METHODS: dict[str, Callable[[Problem, int], Method]] = {
    "outcrop": Outcrop,
    "optuna-gp": OptunaGP,
    "botorch": BoTorch,
    "botorch-exact": partial(BoTorch, exact=True),
}
