"""Acquisitions of the improvement below the incumbent."""

from __future__ import annotations

__all__ = ["EI", "PI", "Improvement", "LogEI", "ScaledEI"]

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from outcrop.acquisition import formulas
from outcrop.acquisition.base import Belief, Pointwise
from outcrop.acquisition.formulas import Derived
from outcrop.errors import ModelError, ShapeError
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class Improvement(Pointwise):
    """A formula in the improvement below `best`."""

    best: float | Vector | None = None  # to improve on; (k,) for one per component

    def __post_init__(self) -> None:
        if self.best is not None and not (np.isfinite(self.best).all() and np.ndim(self.best) < 2):
            raise ModelError(
                f"{type(self).__name__}(best={self.best!r}): expected a finite value, one per "
                "component of the mixture, or None to have it filled by `prepare`"
            )

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Self:
        return replace(self, best=incumbent) if self.best is None else self

    def _best(self, components: int) -> Matrix:
        """The incumbents as a column, `(k, 1)` or `(1, 1)`."""
        if self.best is None:
            name = type(self).__name__
            raise ModelError(
                f"{name}(best=None) needs a value to improve on; pass one, {name}(best=0.3), "
                "or evaluate what its `prepare` returns"
            )
        best = np.asarray(self.best, dtype=float).reshape(-1, 1)
        if len(best) not in (1, components):
            raise ShapeError(
                f"expected one best or one for each of {components} components, got {len(best)}"
            )
        return best


@dataclass(frozen=True, eq=False)
class EI(Improvement):
    """Expected improvement below `best` [Jones et al. 1998].

    It underflows to a flat 0 where improvement is out of reach; prefer `LogEI` for maximisation.
    """

    non_negative = True

    def pointwise(self, mean: Matrix, std: Matrix) -> Derived:
        return formulas.expected_improvement(mean, std, self._best(len(mean)))


@dataclass(frozen=True, eq=False)
class LogEI(Improvement):
    """Logarithm of the expected improvement below `best` [Ament et al. 2023].

    >>> from outcrop.data import Observations
    >>> from outcrop.kernels import Matern52
    >>> from outcrop.surrogates import GP
    >>> belief = GP(Matern52(0.3), noise=1e-6).condition(Observations([[0.2], [0.8]], [1.0, -1.0]))
    >>> LogEI(best=-1.0)(belief, np.array([[0.21], [0.7]])).round(1)  # EI underflows at 0.21
    array([-1114.9,    -2.6])
    """

    logarithmic = True

    def pointwise(self, mean: Matrix, std: Matrix) -> Derived:
        return formulas.log_expected_improvement(mean, std, self._best(len(mean)))


@dataclass(frozen=True, eq=False)
class PI(Improvement):
    """Probability of being below `best` [Kushner 1964]."""

    non_negative = True

    def pointwise(self, mean: Matrix, std: Matrix) -> Derived:
        return formulas.probability_of_improvement(mean, std, self._best(len(mean)))


@dataclass(frozen=True, eq=False)
class ScaledEI(Improvement):
    """Expected improvement over its own standard deviation [Noè & Husmeier 2018].

    Large where improvement is likely rather than merely possible; independent of the scale of the
    objective.
    """

    non_negative = True

    def pointwise(self, mean: Matrix, std: Matrix) -> Derived:
        return formulas.scaled_improvement(mean, std, self._best(len(mean)))
