"""Thompson sampling: act on one function drawn from the belief."""

from __future__ import annotations

__all__ = ["Thompson"]

from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from outcrop.acquisition.base import Acquisition, Posterior
from outcrop.errors import ModelError
from outcrop.typing import Points, Rng, Vector


class Path(Protocol):
    """A function drawn from a belief."""

    def __call__(self, X: Points) -> Vector: ...

    def gradient(self, X: Points) -> Points: ...


@runtime_checkable
class DrawsPaths(Protocol):
    """A belief from which functions can be drawn."""

    def draw(self, rng: Rng, features: int = 512) -> Path: ...


@dataclass(frozen=True, eq=False)
class Thompson(Acquisition):
    """Minus one draw of the objective [Thompson 1933], made of random features.

    The draw is made by `prepare`; the posterior given at evaluation is not looked at.
    """

    features: int = 512
    path: Path | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.features < 1:
            raise ModelError(
                f"Thompson(features={self.features!r}): expected at least 1, such as 512"
            )

    def prepare(
        self,
        posterior: Posterior,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Thompson:
        if self.path is not None:
            return self
        if not isinstance(posterior, DrawsPaths):
            raise ModelError(
                f"{type(posterior).__name__} offers no sample paths; use a GP for Thompson sampling"
            )
        return replace(self, path=posterior.draw(rng, self.features))

    def __call__(self, posterior: Posterior, X: Points) -> Vector:
        return -self._drawn(X)

    def with_gradient(self, posterior: Posterior, X: Points) -> tuple[Vector, Points]:
        return -self._drawn(X), -self._drawn.gradient(X)

    @property
    def _drawn(self) -> Path:
        if self.path is None:
            raise ModelError(
                "Thompson(path=None) has drawn no function yet; evaluate what its `prepare` returns"
            )
        return self.path
