"""Noisy-input Gaussian processes: input noise counts as output noise, in proportion to the slope.

To first order an observation at x + ε differs from one at x by ∇fᵀε, so that its variance is larger
by ∇μᵀ S ∇μ with the slope of the posterior mean [McHutchon & Rasmussen 2011; Alvi 2019, section
3.4]. The mean depends on these variances in turn; `fixed_point` finds consistent ones. There may be
several solutions, or in unlikely models none that is found in time: `residual` is the relative
error of the variances, and `has_converged` whether it is at most a millionth.
"""

from __future__ import annotations

__all__ = ["NIGP", "Alternating", "NIGPModel", "NIGPPosterior"]

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np

from outcrop.data import Observations
from outcrop.inference import Inference, Slice
from outcrop.kernels import Kernel
from outcrop.linalg import cholesky, inverse_lower, solve_lower, solve_upper
from outcrop.surrogates.base import Posterior, Surrogate
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.inferred import Inferred, MarginalPosterior
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.noisy.fixed_point import TOLERANCE, FixedPoint, fixed_point
from outcrop.surrogates.noisy.input_noise import InputNoise, NoisyInputs, quadratic_forms
from outcrop.typing import Matrix, Points, Rng, Vector

logger = logging.getLogger(__name__)

SCALE = 1e-6  # of the prior variance: variances below it count as none
ROUNDS = 3  # of alternation without an earlier state


@dataclass(frozen=True, eq=False)
class NIGPModel:
    """A Gaussian process with additional output noise: the input noise times the slope.

        NIGPModel(Scaled(1.3, Matern52([0.3, 0.6])), noise=1e-4, inputs=InputNoise(0.05))

    It takes any kernel whose posterior mean is differentiable.
    """

    kernel: Kernel
    noise: float = 0.0  # variance
    mean: float = 0.0
    inputs: InputNoise = field(default_factory=InputNoise)

    def __post_init__(self) -> None:
        GP(self.kernel, self.noise, self.mean)

    def condition(self, data: Observations) -> NIGPPosterior:
        found = self.slopes(data)
        if not found.has_converged:
            message = "input-noise variances have a relative error of %.1e after %d steps"
            logger.info(message, found.residual, found.steps)
        plain = GP(self.kernel, self.noise, self.mean)
        noisy = data.noisier(found.value)
        return NIGPPosterior.of(plain, noisy, slopes=found, inputs=self.inputs)

    def log_likelihood(self, data: Observations) -> float:
        """log p(y | X) at consistent variances; it has no gradient."""
        return self.condition(data).log_likelihood

    def slopes(self, data: Observations) -> FixedPoint:
        """The variance that input noise adds to each observation."""
        cov = self.inputs.covariances(data)
        if cov is None or not cov.any() or len(data) == 0:
            return FixedPoint(np.zeros(len(data)), 0.0, 0)
        K, _ = self.kernel.on(data.pairs)
        noise = self.noise + (0.0 if data.noise is None else data.noise)
        D = self._derivatives(data)
        weighted = np.broadcast_to(cov, (len(data), *cov.shape[1:]))

        def function(v: Vector) -> tuple[Vector, Callable[[], Matrix]]:
            noisy = K.copy()
            noisy.reshape(-1)[:: len(K) + 1] += noise + v
            chol, _ = cholesky(noisy)
            alpha = solve_upper(chol, solve_lower(chol, data.y - self.mean))
            G = (D @ alpha).T

            def slope() -> Matrix:
                inverse = inverse_lower(chol)
                inverse = inverse + np.tril(inverse, -1).T
                SG = weighted * G if cov.ndim == 2 else np.einsum("nij,nj->ni", weighted, G)
                return -2 * (np.einsum("ip,pij->ij", SG, D) @ inverse) * alpha

            return quadratic_forms(cov, G), slope

        prior = self.kernel.diag(data.X)
        return fixed_point(function, prior, noise + SCALE * prior)

    def _derivatives(self, data: Observations) -> Matrix:
        """∂k(xᵢ, xⱼ)/∂xᵢ, `(d, n, n)`."""
        n = len(data)
        _, pull = self.kernel.on(data.against(data.X))
        D = np.empty((data.dimension, n, n))
        for j in range(n):
            bar = np.zeros((n, n))
            bar[:, j] = 1.0
            D[:, :, j] = pull.inputs(bar)[0].T
        return D


@dataclass(frozen=True, eq=False, repr=False)
class NIGPPosterior(GPPosterior):
    """The posterior at the variances found; `condition` keeps these."""

    slopes: FixedPoint
    inputs: InputNoise
    fitted: GPPosterior | None = None  # its slopes give the noise of believed observations

    @property
    def residual(self) -> float:
        """The relative error of the variances."""
        return self.slopes.residual

    @property
    def has_converged(self) -> bool:
        return self.residual <= TOLERANCE

    def condition(self, X: Points, y: Vector, noise: Vector | None = None) -> Self:
        """The same process once `y` is also believed to be observed, with the slope's noise."""
        fitted = self.fitted or self
        cov = self.inputs.covariances(fitted.data)
        if cov is not None:
            slopes = quadratic_forms(cov.mean(0, keepdims=True), fitted.mean_gradient(X))
            noise = slopes if noise is None else noise + slopes
        return replace(super().condition(X, y, noise), fitted=fitted)


@dataclass(frozen=True, eq=False)
class Alternating:
    """Infers hyperparameters and the variances from slopes in turn, each given the other.

    Each component of the belief has variances of its own; inference uses their mean.
    """

    model: NIGPModel
    inference: Inference

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        gp = GP(self.model.kernel, self.model.noise, self.model.mean)
        variances = np.zeros(len(observations))
        if previous and previous.get("thetas"):
            still = Slice(chains=len(previous["thetas"]), burn_in=0, sweeps=0)
            before = Inferred(gp, still).fit(observations, rng, previous)
            variances = self._agreed(before, observations)[1]
        for _ in range(1 if previous else ROUNDS):
            noisy = observations.noisier(variances)
            belief = Inferred(gp, self.inference).fit(noisy, rng, previous)
            previous = belief.state
            belief, variances = self._agreed(belief, observations)
        return belief

    def _agreed(self, belief: Mixture, data: Observations) -> tuple[Mixture, Vector]:
        """The components with consistent variances, and the mean of these variances."""
        parts: list[Posterior] = []
        means = np.zeros(len(data))
        for part, weight in zip(belief.components, belief.weights, strict=True):
            centre = part.centre if isinstance(part, MarginalPosterior) else part
            model = cast(GPPosterior, centre).model
            own = NIGPModel(model.kernel, model.noise, model.mean, self.model.inputs)
            agreed = own.condition(data)
            means += weight * agreed.slopes.value
            # Around a mode, components a small step apart must not differ in their variances.
            parts.append(agreed if part is centre else part)
        return replace(belief, components=tuple(parts)), means


@dataclass(frozen=True)
class NIGP(NoisyInputs):
    """A Gaussian process that counts input noise as output noise, in proportion to the slope.

    oc.Method(surrogate=oc.surrogates.NIGP(input_std=0.05))
    """

    label = "NIGP"

    def fitted(
        self, kernel: Kernel, noise: float, inputs: InputNoise, inference: Inference
    ) -> Surrogate:
        return Alternating(NIGPModel(kernel, noise, inputs=inputs), inference)
