"""The Gaussian process of a second-order expansion around uncertain points.

An observation is f + ½ tr(S ∇∇ᵀf) plus noise [Girard & Murray-Smith 2003; Alvi 2019, section 3.3].
The expansion holds where the noise is small beside the lengthscales. Elsewhere its kernel has terms
in (σ/ℓ)⁴ that grow without bound and can raise the likelihood; so lengthscales below `BOUND` times
the noise are refused by a `NumericalError`.
"""

from __future__ import annotations

__all__ = ["BOUND", "RandFunc", "RandFuncGP"]

from dataclasses import dataclass

import numpy as np

from outcrop.data import Observations
from outcrop.errors import NumericalError
from outcrop.inference import Inference
from outcrop.kernels import Kernel, TaylorRBF
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.noisy.input_noise import InputNoise, NoisyInputs
from outcrop.surrogates.noisy.uncertain import UncertainGP, UncertainObservations
from outcrop.surrogates.situation import Situation

BOUND = 1.0  # lengthscale in standard deviations of the noise: the kernel's k(x, x) is least there


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
