"""What the rest of the library asks of a belief about the objective.

Everything here is on the unit cube and in the model's own (standardised) units, and the objective
is to be minimised. `X` is `(m, d)`; means and variances are `(m,)`.
"""

from __future__ import annotations

__all__ = [
    "HasNoise",
    "HasScales",
    "Model",
    "Posterior",
    "PredictionPull",
    "Samples",
    "DrawsFunctions",
    "Surrogate",
]

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from outcrop.data import Observations
from outcrop.surrogates.draws import Draw
from outcrop.typing import Matrix, Points, PredictionPull, Rng, Vector

if TYPE_CHECKING:
    from outcrop.surrogates.mixture import Mixture


@runtime_checkable
class Posterior(Protocol):
    """What is believed of the objective once data were seen."""

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        """Mean and variance of the objective, without observation noise."""
        ...

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        """The same, and how gradients in them travel back to `X`."""
        ...

    def condition(self, X: Points, y: Vector) -> Posterior:
        """The same belief once `y` is also believed at `X`."""
        ...

    def incumbent(self) -> float:
        """The lowest value believed where there are data: what an improvement improves on."""
        ...


@runtime_checkable
class HasScales(Protocol):
    """A posterior that knows over which length each coordinate changes it, `(d,)`."""

    def scales(self) -> Vector: ...


@runtime_checkable
class HasNoise(Protocol):
    """A posterior that knows the variance of the noise of an observation at each row of `X`."""

    def noise_at(self, X: Points) -> Vector: ...


@runtime_checkable
class Samples(Protocol):
    """A posterior from which joint values can be drawn, `(n, m)`."""

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix: ...


@runtime_checkable
class DrawsFunctions(Samples, Protocol):
    """A posterior from which functions can be drawn."""

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]: ...

    def draw(self, rng: Rng, features: int = 512) -> Draw: ...


class Model(Protocol):
    """A family of beliefs, with hyperparameters as fields; inference fills the free ones."""

    def condition(self, data: Observations) -> Posterior: ...

    def log_likelihood(self, data: Observations) -> float: ...

    def log_likelihood_with_gradient(self, data: Observations) -> tuple[float, Any]: ...


@runtime_checkable
class Surrogate(Protocol):
    """What turns observations into a belief, starting from an earlier belief's `state`."""

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture: ...
