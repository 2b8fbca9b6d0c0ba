"""A Gaussian process with a noise variance of its own for every observation.

    ln σᵢ² = ln level + vᵢ,    vᵢ ~ N(0, 1)

It explains observations that do not fit the kernel as noisy, where the process of `latent` moves
them off the space: it is the additive counterpart of `latent` [Bodin et al. 2020, eq. 6].
"""

from __future__ import annotations

__all__ = ["Heteroscedastic", "HeteroscedasticGP"]

from dataclasses import dataclass
from math import exp, log

import numpy as np

from outcrop.data import Observations
from outcrop.kernels import Kernel
from outcrop.params import Per, free, require_at_least_0, shaped
from outcrop.priors import LogNormal, Normal, Prior
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.kind import Kind
from outcrop.surrogates.situation import LATENT_INFERENCE, Situation
from outcrop.typing import Points, Vector

LEAST = 1e-8  # noise variance in any case: without any, close points make K singular
ONE_EACH = free(Normal(), size=Per.OBSERVATION)
LEVEL = LogNormal(log(1e-3), 2.0)
EXPECTED_FACTOR = exp(0.5)  # E[exp vᵢ]


@dataclass(frozen=True, eq=False)
class HeteroscedasticGP:
    """A Gaussian process whose observations differ in noise; predictions are without it.

    HeteroscedasticGP(Matern52([0.3]), level=free(LogNormal(-7.0, 2.0)))
    """

    kernel: Kernel
    level: float  # variance around which those of the observations lie
    logs: Vector = ONE_EACH  # vᵢ, standard normal a priori
    mean: float = 0.0

    def __post_init__(self) -> None:
        require_at_least_0(self, "level")
        self._plain()

    def condition(self, data: Observations) -> HeteroscedasticPosterior:
        noise = self.level * EXPECTED_FACTOR
        return HeteroscedasticPosterior.of(self._plain(), self._noisy(data), expected_noise=noise)

    def log_likelihood(self, data: Observations) -> float:
        return self._plain().log_likelihood(self._noisy(data))

    def log_likelihood_with_gradient(self, data: Observations) -> tuple[float, HeteroscedasticGP]:
        plain, noisy = self._plain(), self._noisy(data)
        value, K_bar, mean_bar, pull = plain.log_likelihood_with_bars(noisy)
        shares = K_bar.diagonal() * np.exp(self.logs)
        gradient = shaped(
            self,
            kernel=pull.parameters(K_bar),
            level=float(shares.sum()),
            logs=self.level * shares,
            mean=mean_bar,
        )
        return value, gradient

    def _plain(self) -> GP:
        return GP(self.kernel, LEAST, self.mean)

    def _noisy(self, data: Observations) -> Observations:
        return data.noisier(self.level * np.exp(self.logs))


@dataclass(frozen=True, eq=False, repr=False)
class HeteroscedasticPosterior(GPPosterior):
    """The process given observations that differ in noise."""

    expected_noise: float  # variance of a new observation, averaged over its unknown vᵢ

    def noise_at(self, X: Points) -> Vector:
        return super().noise_at(X) + self.expected_noise


@dataclass(frozen=True)
class Heteroscedastic(Kind):
    """A Gaussian process that learns the noise of every single observation.

        oc.Method(surrogate=oc.surrogates.Heteroscedastic())

    It does so whatever is known of the noise; `level` is the prior of the variance around which
    those of the observations lie, in units of the data's. With more than 300 observations the plain
    process takes over.
    """

    level: Prior = LEVEL
    label = "heteroscedastic GP"

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not situation.allows_latents:
            return None
        model = HeteroscedasticGP(situation.kernel(), free(self.level))
        return situation.over_noise(
            lambda _, inference: Inferred(model, inference), LATENT_INFERENCE
        )
