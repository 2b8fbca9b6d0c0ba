"""Kernels of the scaled distance of two points.

    r² = Σᵢ (xᵢ − x'ᵢ)² / ℓᵢ²

Each is a function of r² with a finite slope there: ∂k/∂r² exists at r = 0 where ∂k/∂r · ∂r/∂x does
not. A single lengthscale is used for all dimensions. All have unit variance; `Scaled` changes it.
"""

from __future__ import annotations

__all__ = ["RBF", "Matern12", "Matern32", "Matern52", "RationalQuadratic", "Stationary"]

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ModelError, ShapeError
from outcrop.kernels.base import FeatureMap, Kernel, Pull, lifted
from outcrop.params import Free, changed, shaped
from outcrop.typing import Matrix, Points, Rng, Vector

Slope: TypeAlias = Callable[[], Matrix]


def positive_number(owner: str, name: str, value: Any) -> Any:
    """`value` as a float above 0; a free slot stays as it is."""
    if isinstance(value, Free):
        return value
    if not 0 < value < np.inf:
        raise ModelError(f"{owner}({name}={value!r}): expected a finite number above 0")
    return float(value)


def share(owner: str, name: str, value: Any) -> Any:
    """`value` as a float from 0 to 1; a free slot stays as it is."""
    if isinstance(value, Free):
        return value
    if not 0 <= value <= 1:
        raise ModelError(f"{owner}({name}={value!r}): expected a number from 0 to 1")
    return float(value)


def positive_vector(owner: str, name: str, value: Any) -> Any:
    """`value` as a vector of positive numbers; a free slot stays as it is."""
    if isinstance(value, Free):
        return value
    vector = np.atleast_1d(np.asarray(value, dtype=float))
    if vector.ndim != 1 or not len(vector) or not (np.isfinite(vector) & (vector > 0)).all():
        raise ModelError(
            f"{owner}({name}={value!r}): expected finite numbers above 0, one per dimension"
        )
    return vector


def summed_like(bar: Vector, vector: Vector) -> Vector:
    """A gradient per dimension as that of `vector`, which may be a single number for all."""
    return bar.sum(keepdims=True) if len(vector) == 1 else bar


@dataclass(frozen=True, eq=False)
class Stationary(Kernel):
    """A kernel of the scaled distance; a subclass states the function of r²."""

    lengthscales: Vector  # (d,) or (1,), in units of the unit cube
    stationary = True

    def __post_init__(self) -> None:
        value = positive_vector(type(self).__name__, "lengthscales", self.lengthscales)
        object.__setattr__(self, "lengthscales", value)

    @abstractmethod
    def profile(self, r2: Matrix) -> tuple[Matrix, Slope]:
        """k at each squared distance, and a function for ∂k/∂r²; `r2` may be overwritten."""

    @abstractmethod
    def frequencies(self, rng: Rng, count: int, dimension: int) -> Matrix:
        """Draws from the spectral density at unit lengthscale, `(dimension, count)`."""

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        weights = self._weights(pairs.X1.shape[1])
        K, slope = self.profile(pairs.squared_distances(weights))

        def parameters(K_bar: Matrix) -> Kernel:
            bar = summed_like(pairs.pull_weights(K_bar * slope(), weights), self.lengthscales)
            return shaped(self, lengthscales=-2.0 * bar * self.lengthscales**-3.0)

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            return pairs.pull_inputs(K_bar * slope(), weights)

        return K, Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        return np.ones(len(X))

    def scales(self, dimension: int) -> Vector:
        return self._weights(dimension) ** -0.5

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        """√2 cos(ωᵀx + b) with ω from the spectral density [Rahimi & Recht 2007]."""
        scale = np.sqrt(self._weights(dimension))[:, None]
        omega = self.frequencies(rng, count, dimension) * scale
        phase = rng.uniform(0, 2 * np.pi, count)

        def values(X: Points) -> Matrix:
            return np.sqrt(2.0) * np.cos(X @ omega + phase)

        def pull(X: Points, values_bar: Matrix) -> Points:
            return (-np.sqrt(2.0) * np.sin(X @ omega + phase) * values_bar) @ omega.T

        return FeatureMap(values, pull)

    def _weights(self, dimension: int) -> Vector:
        weights = self.lengthscales**-2.0
        size = weights.shape[-1]
        if size == dimension:
            return weights
        if size == 1:
            return np.repeat(weights, dimension, axis=-1)
        raise ShapeError(
            f"{type(self).__name__} has {size} lengthscales for points of {dimension} "
            "dimensions; give one per dimension, or a single one for all"
        )


@dataclass(frozen=True, eq=False)
class RBF(Stationary):
    """k = exp(−r²/2): samples are infinitely smooth [Rasmussen & Williams 2006, eq. 4.9]."""

    def profile(self, r2: Matrix) -> tuple[Matrix, Slope]:
        K = np.exp(np.multiply(r2, -0.5, out=r2), out=r2)
        return K, lambda: -0.5 * K

    def frequencies(self, rng: Rng, count: int, dimension: int) -> Matrix:
        return rng.standard_normal((dimension, count))

    def expected(self, leaf: type[RBF]) -> Kernel | None:
        if isinstance(self, leaf):
            return self
        return leaf(self.lengthscales) if type(self) is RBF else None


@dataclass(frozen=True, eq=False)
class Matern12(Stationary):
    """k = exp(−r): samples are continuous and nowhere smooth [ibid., eq. 4.18]."""

    def profile(self, r2: Matrix) -> tuple[Matrix, Slope]:
        r = np.sqrt(r2, out=r2)
        K = np.exp(-r)
        # The slope is infinite at r = 0, where every caller multiplies it by a difference of 0.
        return K, lambda: np.divide(-0.5 * K, r, out=np.zeros_like(K), where=r > 0)

    def frequencies(self, rng: Rng, count: int, dimension: int) -> Matrix:
        return student_frequencies(rng, count, dimension, degrees=1)


@dataclass(frozen=True, eq=False)
class Matern32(Stationary):
    """k = (1 + s) exp(−s), s = √3 r: samples are once differentiable [ibid., eq. 4.17]."""

    def profile(self, r2: Matrix) -> tuple[Matrix, Slope]:
        s = np.sqrt(np.multiply(r2, 3.0, out=r2), out=r2)
        decay = np.exp(-s)
        return (1 + s) * decay, lambda: -1.5 * decay

    def frequencies(self, rng: Rng, count: int, dimension: int) -> Matrix:
        return student_frequencies(rng, count, dimension, degrees=3)


@dataclass(frozen=True, eq=False)
class Matern52(Stationary):
    """k = (1 + s + s²/3) exp(−s), s = √5 r: samples are twice differentiable [ibid., eq. 4.17]."""

    def profile(self, r2: Matrix) -> tuple[Matrix, Slope]:
        s2 = np.multiply(r2, 5.0, out=r2)
        s = np.sqrt(s2)
        decay = np.exp(-s)
        s += 1.0
        K = np.multiply(s2, 1 / 3, out=s2)
        K += s
        K *= decay
        return K, lambda: s * decay * (-5 / 6)

    def frequencies(self, rng: Rng, count: int, dimension: int) -> Matrix:
        return student_frequencies(rng, count, dimension, degrees=5)


@dataclass(frozen=True, eq=False)
class RationalQuadratic(Stationary):
    """k = (1 + r²/(2α))^−α: a mixture of RBF kernels over lengthscales [ibid., eq. 4.19]."""

    alpha: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = positive_number("RationalQuadratic", "alpha", self.alpha)
        object.__setattr__(self, "alpha", alpha)

    def profile(self, r2: Matrix) -> tuple[Matrix, Slope]:
        alpha = lifted(self.alpha, 2)
        base = 1 + r2 / (2 * alpha)
        K = base**-alpha
        return K, lambda: -0.5 * K / base

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        K, pull = super().on(pairs)

        def parameters(K_bar: Matrix) -> Kernel:
            r2 = pairs.squared_distances(self._weights(pairs.X1.shape[1]))
            base = 1 + r2 / (2 * self.alpha)
            alpha_bar = float((K_bar * K * ((base - 1) / base - np.log(base))).sum())
            return changed(pull.parameters(K_bar), alpha=alpha_bar)

        return K, Pull(parameters, pull.inputs)

    def frequencies(self, rng: Rng, count: int, dimension: int) -> Matrix:
        precision = rng.gamma(self.alpha, 1 / self.alpha, count)
        return rng.standard_normal((dimension, count)) * np.sqrt(precision)


def student_frequencies(rng: Rng, count: int, dimension: int, degrees: int) -> Matrix:
    """A Matérn kernel's spectral density: multivariate Student t with 2ν degrees of freedom."""
    chi2 = rng.chisquare(degrees, count)
    return rng.standard_normal((dimension, count)) * np.sqrt(degrees / chi2)
