"""Confidence bounds, fixed or widening with time."""

from __future__ import annotations

__all__ = ["LCB", "UCB", "SrinivasUCB"]

from dataclasses import dataclass, replace
from math import inf, log, pi, sqrt

import numpy as np

from outcrop.acquisition.base import Belief, Pointwise
from outcrop.acquisition.formulas import Derived
from outcrop.errors import ModelError
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True)
class UCB(Pointwise):
    """−mean + kappa · std: the upper confidence bound of −f, so minus the lower one of f.

    `LCB` is another name for it, after the bound of the objective.
    """

    kappa: float = 2.0

    def __post_init__(self) -> None:
        if not 0 <= self.kappa < inf:
            raise ModelError(
                f"UCB(kappa={self.kappa!r}): expected at least 0; 0 exploits, 2 is customary"
            )

    def pointwise(self, mean: Matrix, std: Matrix) -> Derived:
        return _bound(mean, std, self.kappa)


LCB = UCB


@dataclass(frozen=True)
class SrinivasUCB(Pointwise):
    """A bound that holds at every step and candidate at once with probability 1 − `delta`.

        −mean + √β std,    β = 2 log(D t² π² / (6 δ))

    for D candidates at step t, the schedule for finite sets [Srinivas et al. 2010, theorem 1]. The
    one for continuous spaces (theorem 2) needs constants of the objective that are unknown.
    """

    delta: float = 0.1
    beta: float | None = None  # fixed by `prepare`

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise ModelError(
                f"SrinivasUCB(delta={self.delta!r}): expected a probability between 0 and 1, "
                "such as 0.1"
            )
        if self.beta is not None and not 0 <= self.beta < inf:
            raise ModelError(
                f"SrinivasUCB(beta={self.beta!r}): expected at least 0, or None to have it set "
                "by `prepare`"
            )

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> SrinivasUCB:
        if self.beta is not None:
            return self
        t, size = max(step, 1), max(len(candidates), 1)
        return replace(self, beta=2 * log(size * t**2 * pi**2 / (6 * self.delta)))

    def pointwise(self, mean: Matrix, std: Matrix) -> Derived:
        if self.beta is None:
            raise ModelError(
                "SrinivasUCB(beta=None) depends on the step; evaluate what its `prepare` returns, "
                "or use UCB(kappa=2.0)"
            )
        return _bound(mean, std, sqrt(self.beta))


def _bound(mean: Matrix, std: Matrix, kappa: float) -> Derived:
    return kappa * std - mean, np.full_like(mean, -1.0), np.full_like(std, kappa)
