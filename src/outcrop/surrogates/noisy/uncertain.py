"""Gaussian processes whose kernel accounts for the input noise of observations.

The base of `AnalyticGP` and `RandFuncGP`: both are the plain process with another covariance
between observations, and between an observation and an exact point.
"""

from __future__ import annotations

__all__ = ["UncertainGP", "UncertainObservations", "UncertainPosterior"]

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Self, cast

import numpy as np

from outcrop.data import Observations, Pairs, Triangle
from outcrop.errors import ModelError
from outcrop.kernels import ExpectedRBF, Kernel, TaylorRBF
from outcrop.kernels.uncertain import UncertainPairs
from outcrop.params import shaped
from outcrop.surrogates.gp import GP, VAR_FLOOR, GPPosterior
from outcrop.surrogates.noisy.input_noise import InputNoise
from outcrop.surrogates.noisy.rescaled_draws import RescaledDraw
from outcrop.typing import Draw, Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class UncertainObservations(Observations):
    """Observations with input noise; computations on points alone are shared with `visible`."""

    visible: Observations = field(kw_only=True)
    cov: Matrix | None = field(kw_only=True)  # of the points; None if a kernel learns it
    at: Matrix | None = field(kw_only=True)  # of points to predict at, None if exact
    ends: int = field(default=1, kw_only=True)  # 2 if a kernel's own noise moves those too

    @classmethod
    def of(
        cls, visible: Observations, cov: Matrix | None, expected: bool = False
    ) -> UncertainObservations:
        at = cov.mean(0, keepdims=True) if expected and cov is not None else None
        inner = visible.X, visible.y, visible.noise, visible.input_cov
        return cls(*inner, visible=visible, cov=cov, at=at, ends=2 if expected else 1)

    @cached_property
    def pairs(self) -> UncertainPairs:
        return UncertainPairs.of(self.visible.pairs, self.cov, self.cov, ends=2, same=True)

    @cached_property
    def triangle(self) -> Triangle | UncertainPairs | None:  # type: ignore[override]
        is_shared = self.cov is None or (self.cov.ndim == 2 and len(self.cov) == 1)
        if self.visible.triangle is None or not is_shared:
            return None
        return UncertainPairs.of(self.visible.triangle, self.cov, self.cov, ends=2, same=True)

    def against(self, X: Points) -> UncertainPairs:
        return UncertainPairs.of(self.visible.against(X), self.at, self.cov, ends=self.ends)

    def among(self, X: Points) -> UncertainPairs:
        """Points to predict at, paired with themselves."""
        return UncertainPairs.of(Pairs(X, X), self.at, self.at, ends=2 * (self.ends - 1))

    def alike(self, others: Sequence[Observations]) -> UncertainObservations | None:
        if super().alike(others) is None:
            return None
        same = cast(Sequence[UncertainObservations], others)
        equal = all(_equal(other.cov, self.cov) and other.ends == self.ends for other in same)
        return self if equal else None

    def append(self, X: Points, y: Vector, noise: Vector | None = None) -> UncertainObservations:
        """These observations and more, with the mean input noise of these."""
        visible = self.visible.append(X, y, noise)
        cov = self.cov
        if cov is not None and len(cov) > 1:
            more = np.repeat(cov.mean(0, keepdims=True), len(visible) - len(self), axis=0)
            cov = np.concatenate([cov, more])
        return UncertainObservations.of(visible, cov, self.ends == 2)


@dataclass(frozen=True, eq=False)
class UncertainGP:
    """A Gaussian process of observations at uncertain points.

    It predicts the objective at exact points; if `expected`, its average over points with the input
    noise of the observations.
    """

    kernel: Kernel
    noise: float = 0.0  # variance
    mean: float = 0.0
    inputs: InputNoise = field(default_factory=InputNoise)
    expected: bool = False
    averaged_kernel: ClassVar[type[ExpectedRBF] | type[TaylorRBF]]  # in place of every RBF

    def __post_init__(self) -> None:
        kernel = self.kernel.expected(self.averaged_kernel)
        if kernel is None:
            raise ModelError(
                f"{type(self).__name__}(kernel={self.kernel!r}): its formula holds for an RBF "
                "kernel of the numbers, scaled, added up or times a kernel of categories; use "
                "RBF(lengthscales), or NIGP or UTGP, which take other kernels"
            )
        object.__setattr__(self, "kernel", kernel)
        self._plain()

    def condition(self, data: Observations) -> UncertainPosterior:
        return UncertainPosterior.of(self._plain(), self._with_input_noise(data))

    def log_likelihood(self, data: Observations) -> float:
        return self._plain().log_likelihood(self._with_input_noise(data))

    def log_likelihood_with_gradient(self, data: Observations) -> tuple[float, UncertainGP]:
        value, gradient = self._plain().log_likelihood_with_gradient(self._with_input_noise(data))
        return value, shaped(self, **vars(gradient))

    def _plain(self) -> GP:
        return GP(self.kernel, self.noise, self.mean)

    def _with_input_noise(self, data: Observations) -> UncertainObservations:
        return UncertainObservations.of(data, self.inputs.covariances(data), self.expected)


@dataclass(frozen=True, eq=False)
class UncertainPosterior(GPPosterior):
    """The posterior of such a process, for the objective or for its average."""

    data: UncertainObservations

    @property
    def is_average(self) -> bool:
        return self.data.ends == 2

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        mean, covariance = super().predict_joint(X)
        return mean, covariance - self.model.kernel.gram(X) + self._prior(X)

    def condition(self, X: Points, y: Vector, noise: Vector | None = None) -> Self:
        """The same process once `y` is also believed to be observed, at points as uncertain."""
        return self.of(self.model, self.data.append(X, y, noise))

    def incumbent(self) -> float:
        """The lowest posterior mean at the data, unless these are exact."""
        first = self.data.X[:1]
        own = self.model.kernel.on(self.data.against(first))[0][0, 0]
        cov = self.data.cov
        if (cov is None or not cov.any()) and own == self.model.kernel.diag(first)[0]:
            return super().incumbent()
        return float(self.predict(self.data.X)[0].min())

    def draw(self, rng: Rng, features: int = 512) -> Draw:
        """One draw as a function, from the process at exact points with as much noise."""
        kernel, cov = self.model.kernel, self.data.cov
        own = UncertainPairs.of(self.data.visible.pairs, cov, cov, ends=2)
        lost = np.maximum(kernel.diag(self.data.X) - kernel.on(own)[0].diagonal(), 0.0)
        noise = lost if self.data.noise is None else lost + self.data.noise
        centre = self.model.condition(Observations(self.data.X, self.data.y, noise))
        return RescaledDraw(self, centre, centre.draw(rng, features))

    def _prior(self, X: Points) -> Matrix:
        return self.model.kernel.on(self.data.among(X))[0]

    def _variance(self, X: Points, V: Matrix) -> Vector:
        prior = self.model.kernel.diag(X)
        if self.is_average:  # the prior variance of an average is the same everywhere
            prior = np.full(len(X), self._prior(X[:1])[0, 0])
        return np.maximum(prior - np.einsum("ij,ij->j", V, V), VAR_FLOOR * prior)


def _equal(one: Matrix | None, other: Matrix | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))
