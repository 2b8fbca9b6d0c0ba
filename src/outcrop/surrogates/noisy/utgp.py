"""Gaussian processes under the unscented transform of the input noise of observations.

The data set is moved to the transform's points, every such sigma data set has a posterior, and the
belief is their mixture with the transform's weights [Alvi 2019, section 3.5]. If all observations
are moved alike and the kernel is stationary, a moved posterior is the central one at points moved
the other way: one factorisation serves all.

`variance="moment"` is the variance of the mixture, within its members and between them; `"thesis"`
adds the transform's own variance of the mean, which counts the latter twice.

If N observations in d dimensions move one at a time, there are 2Nd + 1 sigma data sets, and each
but the central one differs from it in one row and column of K + Σ. None of them is factorised. With
B = (K + Σ)⁻¹, b its column of the observation i that moved, and a the covariances of the moved
point with all others (aᵢ = 0), leaving i out and putting it back elsewhere is a correction of rank
two:

    t = B a − b (bᵀa)/Bᵢᵢ,  s = k(x'ᵢ, x'ᵢ) + σᵢ² − aᵀt,  e = yᵢ − aᵀ(B y − b (By)ᵢ/Bᵢᵢ)
    μ' − μ = − (kᵀb) (By)ᵢ/Bᵢᵢ + c e/s,    V' − V = (kᵀb)²/Bᵢᵢ − c²/s,    c = k(x, x'ᵢ) − kᵀt

The rows of all sets (`J` = 2Nd) are matrices `(J, n)`, and all this is a few matrix products.
"""

from __future__ import annotations

__all__ = ["UTGP", "FullUTGPPosterior", "Transformed", "UTGPPosterior"]

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from outcrop.data import Observations, Pairs
from outcrop.errors import ModelError
from outcrop.inference import Inference
from outcrop.kernels import Kernel
from outcrop.linalg import inverse_lower, solve_lower, solve_upper
from outcrop.short_repr import short_repr
from outcrop.surrogates.base import Posterior, PredictionPull, Surrogate
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.noisy.input_noise import InputNoise, NoisyInputs, roots
from outcrop.surrogates.noisy.rescaled_draws import RescaledPosterior
from outcrop.surrogates.noisy.unscented import CombinedPull, Rule, Unscented
from outcrop.typing import Matrix, Points, Rng, Vector

SPREAD = sqrt(3.0)  # standard deviations: makes the three points on a line Gauss and Hermite's
LEAST = 1e-12  # of the prior variance: rounding level of s
CHUNK = 2_000_000  # covariances with moved points in memory at a time


@dataclass(frozen=True, eq=False)
class UTGPPosterior(RescaledPosterior):
    """The posterior if the whole data set may have been moved."""

    inner: Posterior
    points: Points  # where observations are
    root: Points  # (q, d), directions whose outer products add up to the noise
    transform: Unscented = field(default_factory=Unscented)
    variance: Rule = "moment"

    __repr__ = short_repr

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


class Sets(NamedTuple):
    """Arrays of all moved data sets that predictions need."""

    X: Points  # (J, d), the points of the moved observations
    rows: Matrix  # (J, n), 1 at that observation
    T: Matrix  # (J, n)
    gain: Vector  # (J,), e/s
    left: Vector  # (J,), (By)ᵢ/Bᵢᵢ
    own: Vector  # (J,), 1/Bᵢᵢ
    inverse_s: Vector  # (J,)


@dataclass(frozen=True, eq=False)
class FullUTGPPosterior(RescaledPosterior):
    """The posterior if each observation may have been moved on its own."""

    inner: GPPosterior
    cov: Matrix  # of the observations' points
    transform: Unscented | None = None  # None moves them by √3 standard deviations
    variance: Rule = "moment"

    __repr__ = short_repr

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        rows = max(CHUNK // max(len(self.sets.X), 1), 1)
        parts = [self._predict(X[i : i + rows])[:2] for i in range(0, max(len(X), 1), rows)]
        means, variances = zip(*parts, strict=True)
        return np.concatenate(means), np.concatenate(variances)

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        return self._predict(X)

    def condition(self, X: Points, y: Vector) -> FullUTGPPosterior:
        """The same process once `y` is also believed to be observed, and may have been moved."""
        cov = self.cov
        if len(cov) > 1:
            cov = np.concatenate([cov, np.repeat(cov.mean(0, keepdims=True), len(X), axis=0)])
        return replace(self, inner=self.inner.condition(X, y), cov=cov)

    def observed(self) -> Points:
        return self.inner.data.X

    @cached_property
    def moves(self) -> tuple[Matrix, Points]:
        """Which observation moves, as rows of the unit matrix, and by which root of its noise."""
        n = len(self.inner.data)
        each = roots(self.cov)
        each = each * n if len(each) == 1 else each
        counts = [len(root) for root in each]
        return np.repeat(np.eye(n), counts, axis=0), np.concatenate(each)

    @cached_property
    def unscented(self) -> Unscented:
        if self.transform is not None:
            return self.transform
        return Unscented(SPREAD / sqrt(max(len(self.moves[1]), 1)))

    @cached_property
    def sets(self) -> Sets:
        inner, data, kernel = self.inner, self.inner.data, self.inner.model.kernel
        rows, root = self.moves
        rows = np.concatenate([rows, rows])
        X = rows @ data.X + self.unscented.shifts(root)
        inverse = inverse_lower(inner.chol)
        B = inverse + np.tril(inverse, -1).T
        own = 1 / (rows @ B.diagonal())
        b = rows @ B
        A = kernel.on(Pairs(X, data.X))[0] * (1 - rows)
        met = np.einsum("jn,jn->j", A, b)
        T = self._solved(A) - (met * own)[:, None] * b
        T *= 1 - rows
        prior = kernel.diag(X)
        s = prior + rows @ inner._noise(data) - np.einsum("jn,jn->j", A, T)
        left = (rows @ inner.alpha) * own
        e = rows @ (data.y - inner.model.mean) - A @ inner.alpha + met * left
        inverse_s = 1 / np.maximum(s, LEAST * prior)
        return Sets(X, rows, T, e * inverse_s, left, own, inverse_s)

    def _predict(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        inner, kernel, sets = self.inner, self.inner.model.kernel, self.sets
        mean, var, pull_inner = inner.predict_with_pullback(X)
        near, pull_near = kernel.on(Pairs(X, inner.data.X, second_moves=False))
        far, pull_far = kernel.on(Pairs(X, sets.X, second_moves=False))
        C = far - near @ sets.T.T
        G = self._solved(near) @ sets.rows.T  # kᵀb for every point and set, (m, J)
        means = (C * sets.gain - G * sets.left).T
        variances = (G**2 * sets.own - C**2 * sets.inverse_s).T
        q = len(sets.X) // 2
        mean, var, pull = self.unscented.combined(q, mean, var, means, variances, self.variance)

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            central_mean, central_var, means_bar, variances_bar = pull(mean_bar, var_bar)
            C_bar = means_bar.T * sets.gain - 2 * variances_bar.T * C * sets.inverse_s
            G_bar = 2 * variances_bar.T * G * sets.own - means_bar.T * sets.left
            near_bar = self._solved(G_bar @ sets.rows) - C_bar @ sets.T
            return (
                pull_inner(central_mean, central_var)
                + pull_near.inputs(near_bar)[0]
                + pull_far.inputs(C_bar)[0]
            )

        return mean, var, pull_back

    def _solved(self, M: Matrix) -> Matrix:
        """M B, for a matrix with a column for each observation."""
        return solve_upper(self.inner.chol, solve_lower(self.inner.chol, M.T)).T


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
        alpha = 1.0 if self.alpha is None and self.kind == "simple" else self.alpha
        transform = None if alpha is None else Unscented(alpha, self.beta, self.kappa)
        inner = Inferred(GP(kernel, noise), inference)
        return Transformed(inner, inputs, transform, self.kind, self.variance)
