"""BoTorch as a peer: its Gaussian process, the logarithm of expected improvement, its optimisers.

Numbers are on the unit cube, by their logarithm where the space says so; integers and steps are
levels between 0 and 1; categories are codes 0, 1, … with the kernel that BoTorch has for them.
"""

from __future__ import annotations

__all__ = ["BoTorch"]

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from outcrop.typing import Matrix, Params, Vector

RESTARTS, RAW_SAMPLES = 10, 512  # as in BoTorch's tutorials
EXACT = 1e-6  # variance of exact values, in standardised units: the least that GPyTorch takes


class BoTorch:
    """`SingleTaskGP` with `LogExpectedImprovement`, or its noisy form where there is noise.

    Spaces with integers or categories are searched by `optimize_acqf_mixed_alternating`, and
    categories have `MixedSingleTaskGP`. Conditional spaces are refused.
    """

    def __init__(self, space: Space, seed: int, trials: int, noisy: bool = False) -> None:
        if any(isinstance(column.parameter, Choice) for column in space.columns):
            raise ValueError("BoTorch has no conditional spaces; leave it out where there are")
        self.space, self.seed, self.noisy = space, seed, noisy
        self.X: list[Vector] = []
        self.y: list[float] = []
        parameters = [column.parameter for column in space.columns]
        grids = {i: _grid(p) for i, p in enumerate(parameters) if _grid(p) is not None}
        self.categories = {
            i: [float(code) for code in range(p.levels)]
            for i, p in enumerate(parameters)
            if isinstance(p, Categorical)
        }
        self.discrete = {
            i: [float(u) for u in grid]
            for i, grid in grids.items()
            if grid is not None and i not in self.categories
        }
        highs = [len(self.categories[i]) - 1 if i in self.categories else 1 for i in range(self.d)]
        self.bounds = np.array([[0.0] * self.d, highs], dtype=float)

    @property
    def d(self) -> int:
        return len(self.space.columns)

    def add(self, params: Params, value: float) -> None:
        self.tell(params, value)

    def tell(self, params: Params, value: float) -> None:
        columns = self.space.columns
        self.X.append(np.array([_encoded(c.parameter, params[c.name]) for c in columns]))
        self.y.append(value)

    def ask(self) -> Params:
        import torch

        with _seeded(self.seed * 1000 + len(self.y)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = torch.tensor(np.array(self.X), dtype=torch.double)
            y = -np.array(self.y)  # BoTorch maximises
            scaled = (y - y.mean()) / max(float(y.std()), 1e-12)
            best = self._maximiser(self._acquisition(X, torch.tensor(scaled)[:, None]))
        chosen = {
            column.name: _decoded(column.parameter, float(u))
            for column, u in zip(self.space.columns, best, strict=True)
        }
        fixed = {n: p.value for n, p in self.space.parameters.items() if isinstance(p, Fixed)}
        return self.space.validate({**chosen, **fixed})

    def _acquisition(self, X: Any, Y: Any) -> Any:
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.acquisition.logei import qLogNoisyExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import MixedSingleTaskGP, SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        noise = {} if self.noisy else {"train_Yvar": torch.full_like(Y, EXACT)}
        if self.categories:
            model = MixedSingleTaskGP(X, Y, cat_dims=[*self.categories], **noise)
        else:
            model = SingleTaskGP(X, Y, **noise)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        if self.noisy:
            return qLogNoisyExpectedImprovement(model, X)
        return LogExpectedImprovement(model, best_f=Y.max())

    def _maximiser(self, acquisition: Any) -> Vector:
        import torch
        from botorch.optim import optimize_acqf
        from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating

        effort = {"num_restarts": RESTARTS, "raw_samples": RAW_SAMPLES, "q": 1}
        bounds = torch.tensor(self.bounds, dtype=torch.double)
        if self.discrete or self.categories:
            found, _ = optimize_acqf_mixed_alternating(
                acquisition,
                bounds,
                discrete_dims=self.discrete or None,
                cat_dims=self.categories or None,
                **effort,
            )
        else:
            found, _ = optimize_acqf(acquisition, bounds, **effort)
        row: Matrix = found.detach().numpy()
        return np.clip(row[0], *self.bounds)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    import torch
    from botorch.utils.sampling import manual_seed

    torch.set_num_threads(1)
    with manual_seed(seed):
        yield


def _grid(parameter: Any) -> Vector | None:
    """The places of the levels on [0, 1]; None for what varies continuously."""
    match parameter:
        case Float(step=None):
            return None
        case Float() | Int():
            levels = [parameter.at(i) for i in range(parameter.levels or 0)]
            return np.array([_place(parameter, level) for level in levels])
        case Ordinal():
            return np.linspace(0, 1, parameter.levels)
    return np.arange(parameter.levels, dtype=float)


def _place(parameter: Float | Int, value: float) -> float:
    low, high = float(parameter.low), float(parameter.high)
    if parameter.log:
        low, high, value = np.log(low), np.log(high), np.log(value)
    return float((value - low) / (high - low))


def _encoded(parameter: Any, value: Any) -> float:
    grid = _grid(parameter)
    return _place(parameter, value) if grid is None else float(grid[parameter.index(value)])


def _decoded(parameter: Any, u: float) -> Any:
    grid = _grid(parameter)
    if grid is not None:
        nearest = int(np.abs(grid - u).argmin())
        if isinstance(parameter, Float | Int):
            return parameter.at(nearest)
        levels = parameter.values if isinstance(parameter, Ordinal) else parameter.choices
        return list(levels)[nearest]
    low, high = float(parameter.low), float(parameter.high)
    value = low * (high / low) ** u if parameter.log else low + u * (high - low)
    return min(max(float(value), low), high)
