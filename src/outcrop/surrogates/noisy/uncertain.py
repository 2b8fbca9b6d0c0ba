"""Gaussian processes whose kernel accounts for the input noise of observations.

They are the plain process with another covariance between observations, and between an observation
and an exact point. `AnalyticGP` averages the RBF kernel over the input noise of two observations
[Alvi 2019, section 3.2]: they are not jointly Gaussian, but these are their first two moments. In
`RandFuncGP` an observation is f + ½ tr(S ∇∇ᵀf) plus noise [Girard & Murray-Smith 2003; Alvi 2019,
section 3.3], an expansion that holds where the noise is small beside the lengthscales. Elsewhere
its kernel has terms in (σ/ℓ)⁴ that grow without bound and can raise the likelihood; so lengthscales
below `BOUND` times the noise are refused by a `NumericalError`.
"""

from __future__ import annotations

__all__ = [
    "BOUND",
    "Analytic",
    "AnalyticGP",
    "RandFunc",
    "RandFuncGP",
    "UncertainGP",
    "UncertainObservations",
    "UncertainPosterior",
]

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log
from typing import ClassVar, Self, cast

import numpy as np

from outcrop.data import Observations, Pairs, Triangle
from outcrop.errors import ModelError, NumericalError
from outcrop.inference import Inference
from outcrop.kernels import ExpectedRBF, Kernel, TaylorRBF
from outcrop.kernels.uncertain import UncertainPairs
from outcrop.params import free, shaped
from outcrop.priors import LogNormal, Prior
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.gp import GP, VAR_FLOOR, GPPosterior
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.noisy.input_noise import InputNoise, NoisyInputs
from outcrop.surrogates.noisy.rescaled_draws import RescaledDraw
from outcrop.surrogates.situation import Situation
from outcrop.typing import Draw, Matrix, Points, Rng, Vector

SPREAD = LogNormal(log(0.03), 1.0)  # around a few per cent of a parameter's range
BOUND = 1.0  # lengthscale in standard deviations of the noise: the kernel's k(x, x) is least there


@dataclass(frozen=True, eq=False, repr=False)
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


@dataclass(frozen=True, eq=False, repr=False)
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


@dataclass(frozen=True, eq=False)
class AnalyticGP(UncertainGP):
    """A Gaussian process with the expected RBF kernel.

    AnalyticGP(Scaled(1.3, RBF([0.3, 0.6])), noise=1e-4, inputs=InputNoise(0.05))
    AnalyticGP(ExpectedRBF(lengthscales, spread=free(LogNormal(-3.0), size=2)))    # learnt
    """

    averaged_kernel = ExpectedRBF


@dataclass(frozen=True)
class Analytic(NoisyInputs):
    """A Gaussian process whose RBF kernel is averaged over the input noise of observations.

        oc.Method(surrogate=oc.surrogates.Analytic(input_std=0.05))
        oc.Method(surrogate=oc.surrogates.Analytic())    # learnt, unless stated with observations

    With `expected` the belief is about the objective averaged over the noise, not the objective
    itself.
    """

    spread: Prior = SPREAD  # of a standard deviation that is learnt
    expected: bool = False
    label = "analytic noisy-input GP"

    def kernel(self, situation: Situation) -> Kernel:
        is_known = self.input_std is not None or self.input_cov is not None
        spread = None if is_known else free(self.spread, size=len(situation.numbers))
        return situation.kernel(lambda lengthscales: ExpectedRBF(lengthscales, spread))

    def fitted(
        self, kernel: Kernel, noise: float, inputs: InputNoise, inference: Inference
    ) -> Surrogate:
        model = AnalyticGP(kernel, noise, inputs=inputs, expected=self.expected)
        return Inferred(model, inference)


@dataclass(frozen=True, eq=False)
class RandFuncGP(UncertainGP):
    """A Gaussian process with the kernel of a second-order expansion.

    RandFuncGP(Scaled(1.3, RBF([0.3, 0.6])), noise=1e-4, inputs=InputNoise(0.05))
    """

    averaged_kernel = TaylorRBF

    def _with_input_noise(self, data: Observations) -> UncertainObservations:
        seen = super()._with_input_noise(data)
        if seen.cov is not None:
            variances = seen.cov if seen.cov.ndim == 2 else np.einsum("nii->ni", seen.cov)
            least = BOUND * np.sqrt(variances.max(0))
            scales = self.kernel.scales(data.dimension)
            if (scales < least).any():
                raise NumericalError(
                    f"RandFuncGP: lengthscales {scales} below {BOUND:g} × the input noise {least}, "
                    "where the expansion does not hold; use larger ones, or AnalyticGP"
                )
        return seen


@dataclass(frozen=True)
class RandFunc(NoisyInputs):
    """A Gaussian process that expands the objective to second order around uncertain points.

        oc.Method(surrogate=oc.surrogates.RandFunc(input_std=0.05))

    Kept for comparison: it approximates `Analytic`.
    """

    label = "RandFunc GP"

    def kernel(self, situation: Situation) -> Kernel:
        return situation.kernel(TaylorRBF)

    def fitted(
        self, kernel: Kernel, noise: float, inputs: InputNoise, inference: Inference
    ) -> Surrogate:
        return Inferred(RandFuncGP(kernel, noise, inputs=inputs), inference)
