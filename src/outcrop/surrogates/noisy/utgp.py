"""Gaussian processes under the unscented transform of the input noise of observations.

The data set is moved to the transform's points, every such sigma data set has a posterior, and the
belief is their mixture with the transform's weights [Alvi 2019, section 3.5]. If all observations
are moved alike and the kernel is stationary, a moved posterior is the central one at points moved
the other way: one factorisation serves all. `utgp_full` moves one observation at a time.

`variance="moment"` is the variance of the mixture, within its members and between them; `"thesis"`
adds the transform's own variance of the mean, which counts the latter twice.
"""

from __future__ import annotations

__all__ = ["UTGP", "Transformed", "UTGPPosterior"]

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Inference
from outcrop.kernels import Kernel
from outcrop.surrogates.base import Posterior, PredictionPull, Surrogate
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.noisy.input_noise import InputNoise, NoisyInputs, roots
from outcrop.surrogates.noisy.rescaled_draws import RescaledPosterior
from outcrop.surrogates.noisy.unscented import CombinedPull, Rule, Unscented
from outcrop.surrogates.noisy.utgp_full import FullUTGPPosterior
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class UTGPPosterior(RescaledPosterior):
    """The posterior if the whole data set may have been moved."""

    inner: Posterior
    points: Points  # where observations are
    root: Points  # (q, d), directions whose outer products add up to the noise
    transform: Unscented = field(default_factory=Unscented)
    variance: Rule = "moment"

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        means, variances = self.inner.predict(self._moved(X))
        return self._combined(means, variances)[:2]

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        means, variances, pull_inner = self.inner.predict_with_pullback(self._moved(X))
        mean, var, pull = self._combined(means, variances)

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            central_mean, central_var, means_bar, variances_bar = pull(mean_bar, var_bar)
            own_means = np.vstack([central_mean - means_bar.sum(0), means_bar])
            own_variances = np.vstack([central_var - variances_bar.sum(0), variances_bar])
            X_bar = pull_inner(own_means.reshape(-1), own_variances.reshape(-1))
            return X_bar.reshape(len(own_means), *X.shape).sum(0)

        return mean, var, pull_back

    def condition(self, X: Points, y: Vector) -> UTGPPosterior:
        """The same process once `y` is also believed to be observed, and moved with the others."""
        points = np.vstack([self.points, X])
        return replace(self, inner=self.inner.condition(X, y), points=points)

    def observed(self) -> Points:
        return self.points

    def _moved(self, X: Points) -> Points:
        """`X`, and for every move of the data a copy of it, moved the other way."""
        shifts = self.transform.shifts(self.root)
        return np.vstack([X, (X[None] - shifts[:, None, :]).reshape(-1, X.shape[1])])

    def _combined(self, means: Vector, variances: Vector) -> tuple[Vector, Vector, CombinedPull]:
        q = len(self.root)
        means, variances = means.reshape(2 * q + 1, -1), variances.reshape(2 * q + 1, -1)
        centre = means[0], variances[0]
        apart = means[1:] - means[0], variances[1:] - variances[0]
        return self.transform.combined(q, *centre, *apart, self.variance)


@dataclass(frozen=True, eq=False)
class Transformed:
    """The belief of `surrogate` under the unscented transform of the input noise of its data.

    Hyperparameters are those of the central data set. For a stationary kernel all data sets that
    are moved as a whole have the same likelihood.
    """

    surrogate: Surrogate
    inputs: InputNoise
    transform: Unscented | None = None  # None is a spread of √q, or of √3 if not all move together
    kind: Literal["simple", "full"] = "simple"
    variance: Rule = "moment"

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        belief = self.surrogate.fit(observations, rng, previous)
        cov = self.inputs.covariances(observations)
        if cov is None or not cov.any():
            return belief
        parts = tuple(self.posterior(part, observations, cov) for part in belief.components)
        return replace(belief, components=parts)

    def posterior(self, part: Posterior, data: Observations, cov: Matrix) -> Posterior:
        """One posterior, transformed; data that move as a whole have their mean covariance."""
        if self.kind == "simple":
            if isinstance(part, GPPosterior) and not part.model.kernel.is_stationary:
                raise ModelError(
                    f"UTGP(kernel={part.model.kernel!r}): expected a stationary kernel such as "
                    'Matern52; UTGP(kind="full") takes any'
                )
            (root,) = roots(cov.mean(0, keepdims=True))
            transform = self.transform or Unscented()
            return UTGPPosterior(part, data.X, root, transform, self.variance)
        if not isinstance(part, GPPosterior):
            raise ModelError(
                f'UTGP(kind="full") needs Gaussian processes, got {type(part).__name__}; use '
                "Slice() or MAP() as inference"
            )
        return FullUTGPPosterior(part, cov, self.transform, self.variance)


@dataclass(frozen=True)
class UTGP(NoisyInputs):
    """A Gaussian process under the unscented transform of the input noise of its data.

        oc.Method(surrogate=oc.surrogates.UTGP(input_std=0.05))
        oc.Method(surrogate=oc.surrogates.UTGP(input_std=0.05, kind="full"))
        oc.Method(surrogate=oc.surrogates.UTGP(input_std=0.05, alpha=1e-3, variance="thesis"))

    `alpha` None is 1 if all observations move together (`kind="simple"`); if they move one at a
    time, it is the value at which they move by √3 standard deviations.
    """

    kind: Literal["simple", "full"] = "simple"
    variance: Rule = "moment"
    alpha: float | None = None
    beta: float = 2.0
    kappa: float = 0.0
    label = "unscented GP"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in ("simple", "full"):
            raise ModelError(f'UTGP(kind={self.kind!r}): expected "simple" or "full"')
        if self.variance not in ("thesis", "moment"):
            raise ModelError(f'UTGP(variance={self.variance!r}): expected "thesis" or "moment"')
        Unscented(1.0 if self.alpha is None else self.alpha, self.beta, self.kappa)
        if self.kind == "full" and self.alpha is None and (self.beta, self.kappa) != (2.0, 0.0):
            raise ModelError(
                f'UTGP(kind="full", beta={self.beta!r}, kappa={self.kappa!r}): give alpha too'
            )

    def fitted(
        self, kernel: Kernel, noise: float, inputs: InputNoise, inference: Inference
    ) -> Surrogate:
        transform = None
        if self.alpha is not None:
            transform = Unscented(self.alpha, self.beta, self.kappa)
        elif self.kind == "simple":
            transform = Unscented(1.0, self.beta, self.kappa)
        inner = Inferred(GP(kernel, noise), inference)
        return Transformed(inner, inputs, transform, self.kind, self.variance)
