"""Policies that condition the belief on assumed values of running trials.

In a mixture each component has its own assumed values, and its incumbent includes them.
"""

from __future__ import annotations

__all__ = ["Believer", "Liar"]

from dataclasses import dataclass
from typing import Literal

import numpy as np

from outcrop.acquisition import Acquisition
from outcrop.errors import MethodError
from outcrop.space import Space
from outcrop.strategies.base import View
from outcrop.strategies.pending.base import Accounted, in_order
from outcrop.surrogates import Mixture
from outcrop.typing import Rng, Vector

LIES = ("min", "mean", "max")


@dataclass(frozen=True)
class Believer:
    """Kriging believer: act as if each running trial had returned its predicted mean.

    The mean stays the same, and the variance shrinks around running trials [Ginsbourger et al.
    2010].
    """

    def account(
        self, view: View, space: Space, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> Accounted:
        if not len(view.pending):
            return posterior, acquisition
        running = in_order(view.pending)
        means, _ = posterior.predict_each(running)
        return posterior.condition(running, means), acquisition


@dataclass(frozen=True)
class Liar:
    """Constant liar: act as if every running trial had returned the same value [ibid.].

        oc.Method(pending=oc.pending.Liar("max"))

    The value is the lowest, the mean or the highest of a component's predictions at the observed
    points. The higher it is, the farther the next trial is from running ones.
    """

    value: Literal["min", "mean", "max"] = "min"

    def __post_init__(self) -> None:
        if self.value not in LIES:
            raise MethodError(f'Liar({self.value!r}): expected "min", "mean" or "max"')

    def account(
        self, view: View, space: Space, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> Accounted:
        if not len(view.pending):
            return posterior, acquisition
        lies = np.repeat(self._lies(view, posterior)[:, None], len(view.pending), axis=1)
        return posterior.condition(in_order(view.pending), lies), acquisition

    def _lies(self, view: View, posterior: Mixture) -> Vector:
        """The assumed value for each component, `(k,)`."""
        if self.value == "min":
            return np.array([part.incumbent() for part in posterior.components])
        means, _ = posterior.predict_each(view.X)
        return means.mean(1) if self.value == "mean" else means.max(1)
