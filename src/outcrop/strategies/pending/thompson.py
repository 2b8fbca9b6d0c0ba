"""Thompson sampling as a pending policy: random draws keep trials apart."""

from __future__ import annotations

__all__ = ["ThompsonSampling"]

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from outcrop import acquisition as acquisitions
from outcrop.acquisition import Acquisition
from outcrop.acquisition.base import Belief
from outcrop.errors import MethodError, ModelError
from outcrop.space import Space
from outcrop.strategies.base import View
from outcrop.strategies.pending.base import Accounted
from outcrop.surrogates import Mixture
from outcrop.surrogates.base import DrawsFunctions, Samples
from outcrop.typing import Points, Rng, Vector

MOST_DRAWN = 2000  # joint values; drawing them takes time with the cube of their number


@dataclass(frozen=True)
class ThompsonSampling:
    """While trials are running, maximise one draw from the belief [Kandasamy et al. 2018].

        oc.Method(pending=oc.pending.ThompsonSampling())
        oc.Method(acquisition=oc.acquisition.Thompson(), pending=oc.pending.ThompsonSampling())

    Every suggestion has its own draw; only this randomness separates it from running trials. While
    nothing is running, the method's acquisition is used; the second line samples then too. If a
    belief has no drawn functions, values are drawn jointly at the candidates of the search.
    """

    features: int = 512  # random features of a draw

    def __post_init__(self) -> None:
        if type(self.features) is not int or self.features < 1:
            raise MethodError(
                f"ThompsonSampling(features={self.features!r}): expected a whole number of at "
                "least 1"
            )

    def account(
        self, view: View, space: Space, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> Accounted:
        if not len(view.pending) or isinstance(acquisition, acquisitions.Thompson):
            return posterior, acquisition
        return posterior, _ToDraw(self.features)


@dataclass(frozen=True, eq=False)
class _ToDraw(Acquisition):
    """Thompson sampling by a drawn function, or by joint values where there is none."""

    features: int

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Acquisition:
        belief = cast(Mixture, posterior)  # which `account` was given
        part = belief.components[rng.choice(len(belief), p=belief.weights)]
        if isinstance(part, DrawsFunctions):
            try:
                return acquisitions.Thompson(self.features, part.draw(rng, self.features))
            except ModelError:  # a kernel without random features
                pass
        if not isinstance(part, Samples):
            raise MethodError(
                f"ThompsonSampling: {type(part).__name__} can draw neither functions nor joint "
                "values; use pending=Believer()"
            )
        X = (
            candidates
            if len(candidates) <= MOST_DRAWN
            else rng.permutation(candidates)[:MOST_DRAWN]
        )
        values = part.sample(X, rng, 1)[0]
        return _Drawn(dict(zip(_marks(X), (-values).tolist(), strict=True)))

    def __call__(self, posterior: Belief, X: Points) -> Vector:
        raise ModelError("nothing was drawn yet; evaluate what `prepare` returns")

    def with_gradient(self, posterior: Belief, X: Points) -> tuple[Vector, Points]:
        raise ModelError("nothing was drawn yet; evaluate what `prepare` returns")


@dataclass(frozen=True, eq=False)
class _Drawn(Acquisition):
    """Minus the values that were drawn at some points; −∞ at all others."""

    values: Mapping[bytes, float]

    @property
    def label(self) -> str:
        return "Thompson"

    def __call__(self, posterior: Belief, X: Points) -> Vector:
        return np.array([self.values.get(mark, -np.inf) for mark in _marks(X)])

    def with_gradient(self, posterior: Belief, X: Points) -> tuple[Vector, Points]:
        return self(posterior, X), np.zeros_like(X)


def _marks(X: Points) -> list[bytes]:
    """Bytes that identify rows; −0 and 0 are the same."""
    return [row.tobytes() for row in np.asarray(X, dtype=float) + 0.0]
