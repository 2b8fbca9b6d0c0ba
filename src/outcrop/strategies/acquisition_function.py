"""An acquisition under a belief, as a function of points."""

from __future__ import annotations

__all__ = ["AcquisitionFunction"]

from dataclasses import dataclass

from outcrop.acquisition import Acquisition
from outcrop.acquisition.base import Belief
from outcrop.typing import Points, Vector


@dataclass(frozen=True, eq=False)
class AcquisitionFunction:
    """An acquisition that is ready, with the belief it is evaluated under: a `Function`."""

    acquisition: Acquisition
    belief: Belief

    def __call__(self, X: Points) -> Vector:
        return self.acquisition(self.belief, X)

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        return self.acquisition.with_gradient(self.belief, X)
