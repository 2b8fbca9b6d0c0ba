"""Thompson sampling: minimise one function drawn from the belief."""

from __future__ import annotations

__all__ = ["Thompson"]

from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from outcrop.acquisition.base import Acquisition, Belief
from outcrop.errors import ModelError
from outcrop.typing import Draw, Points, Rng, Vector


@runtime_checkable
class DrawableBelief(Protocol):
    """A belief from which functions can be drawn."""

    def draw(self, rng: Rng, features: int = 512) -> Draw: ...


@dataclass(frozen=True, eq=False)
class Thompson(Acquisition):
    """Minus one draw of the objective [Thompson 1933], made of random features.

    The draw is made by `prepare`; the posterior given at evaluation is not used.
    """

    features: int = 512
    draw: Draw | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.features < 1:
            raise ModelError(
                f"Thompson(features={self.features!r}): expected at least 1, such as 512"
            )

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Thompson:
        if self.draw is not None:
            return self
        if not isinstance(posterior, DrawableBelief):
            raise ModelError(
                f"{type(posterior).__name__} cannot draw functions; use a GP for Thompson sampling"
            )
        return replace(self, draw=posterior.draw(rng, self.features))

    def __call__(self, posterior: Belief, X: Points) -> Vector:
        return -self._drawn(X)

    def with_gradient(self, posterior: Belief, X: Points) -> tuple[Vector, Points]:
        return -self._drawn(X), -self._drawn.gradient(X)

    @property
    def _drawn(self) -> Draw:
        if self.draw is None:
            raise ModelError(
                "Thompson(draw=None) has no function yet; evaluate what its `prepare` returns"
            )
        return self.draw
