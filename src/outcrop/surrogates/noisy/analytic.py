"""The Gaussian process of observations at uncertain points, by its exact mean and covariance.

The covariance of two observations is the RBF kernel averaged over their input noise [Alvi 2019,
section 3.2]. They are not jointly Gaussian, but these are their first two moments.
"""

from __future__ import annotations

__all__ = ["Analytic", "AnalyticGP"]

from dataclasses import dataclass
from math import log

from outcrop.inference import Inference
from outcrop.kernels import ExpectedRBF, Kernel
from outcrop.params import free
from outcrop.priors import LogNormal, Prior
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.noisy.input_noise import InputNoise, NoisyInputs
from outcrop.surrogates.noisy.uncertain import UncertainGP
from outcrop.surrogates.situation import Situation

SPREAD = LogNormal(log(0.03), 1.0)  # around a few per cent of a parameter's range


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
