"""Protocols of models, surrogates and posteriors.

Points lie in the unit cube, values are in the model's own (standardised) units, and the objective
is minimised. `X` is `(m, d)`; means and variances are `(m,)`.
"""

from __future__ import annotations

__all__ = [
    "HasNoise",
    "HasScales",
    "Model",
    "MovesLatents",
    "Posterior",
    "PredictionPull",
    "Samples",
    "DrawsFunctions",
    "Surrogate",
    "drawing",
    "noise_at",
    "sampling",
]

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.typing import Draw, Matrix, Points, PredictionPull, Rng, Vector

if TYPE_CHECKING:
    from outcrop.surrogates.mixture import Mixture


@runtime_checkable
class Posterior(Protocol):
    """The belief about the objective given data."""

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
        """The lowest value at the data, observed or predicted: improvements are below it."""
        ...


@runtime_checkable
class HasScales(Protocol):
    """A posterior with a lengthscale for each coordinate, `(d,)`."""

    def scales(self) -> Vector: ...


@runtime_checkable
class HasNoise(Protocol):
    """A posterior with the noise variance of an observation at each row of `X`."""

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
    """A model with hyperparameters as fields; inference fills the free ones."""

    def condition(self, data: Observations) -> Posterior: ...

    def log_likelihood(self, data: Observations) -> float: ...

    def log_likelihood_with_gradient(self, data: Observations) -> tuple[float, Any]: ...


@runtime_checkable
class MovesLatents(Protocol):
    """A model with a move of its latents that leaves their posterior given `data` invariant."""

    def resampled_latents(self, data: Observations, rng: Rng) -> Vector: ...


@runtime_checkable
class Surrogate(Protocol):
    """Fits a belief to observations, starting from the `state` of an earlier belief."""

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture: ...


def noise_at(posterior: object, X: Points) -> Vector:
    """The noise variance of an observation at each row of `X`; 0 where it is unknown."""
    return posterior.noise_at(X) if isinstance(posterior, HasNoise) else np.zeros(len(X))


def sampling(posterior: object) -> Samples:
    """`posterior`, which must offer joint draws."""
    if not isinstance(posterior, Samples):
        raise ModelError(f"{type(posterior).__name__} cannot draw joint values")
    return posterior


def drawing(posterior: object, what: str = "draw functions") -> DrawsFunctions:
    """`posterior`, which must offer joint predictions and drawn functions."""
    if not isinstance(posterior, DrawsFunctions):
        raise ModelError(
            f"{type(posterior).__name__} cannot {what}; use a GP with Slice() or MAP() as inference"
        )
    return posterior
