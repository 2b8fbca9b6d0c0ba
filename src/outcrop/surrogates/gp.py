"""Gaussian-process regression. Read this first: every other surrogate is a variation of it.

Notation: `chol` is L with L Lᵀ = K + Σ, K the kernel at the data and Σ the noise; `white` is
L⁻¹ (y − mean), so that (y − mean)ᵀ (K + Σ)⁻¹ (y − mean) = white @ white; `alpha` is L⁻ᵀ white.
"""

from __future__ import annotations

__all__ = ["GP", "GPPosterior", "ProcessDraw"]

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, Self

import numpy as np
from scipy.linalg.blas import dsyr

from outcrop.data import Observations
from outcrop.errors import ModelError, NumericalError
from outcrop.kernels.base import FeatureMap, Kernel, Pull
from outcrop.linalg import (
    LOG_2PI,
    append_rows,
    cholesky,
    inverse_lower,
    packed_indices,
    packed_log_density,
    solve_lower,
    solve_upper,
)
from outcrop.params import require_at_least_0, shaped
from outcrop.short_repr import short_repr
from outcrop.surrogates.base import PredictionPull
from outcrop.typing import Draw, Matrix, Points, Rng, Vector

EXACT_NOISE = 1e-7  # of the prior variance: observations with less noise count as exact
VAR_FLOOR = 1e-12  # of the prior variance: the rounding level of a Cholesky; keeps log std finite


@dataclass(frozen=True, eq=False)
class GP:
    """A Gaussian process with a constant mean, observed through Gaussian noise.

    >>> from outcrop.kernels import Matern52
    >>> data = Observations([[0.2], [0.8]], [1.0, -1.0])
    >>> mean, var = GP(Matern52([0.3]), noise=1e-6).condition(data).predict(np.array([[0.2]]))
    >>> mean.round(3), var.round(3)
    (array([1.]), array([0.]))
    """

    kernel: Kernel
    noise: float = 0.0  # variance, added to each observation's own
    mean: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ModelError(
                f"GP(kernel={self.kernel!r}): expected a kernel such as Matern52([0.5])"
            )
        require_at_least_0(self, "noise")

    def condition(self, data: Observations) -> GPPosterior:
        return GPPosterior.of(self, data)

    def log_likelihood(self, data: Observations) -> float:
        """log p(y | X); −inf where the covariance cannot be factorised."""
        if data.triangle is not None:
            packed, _ = self.kernel.on(data.triangle)
            packed[packed_indices(len(data))[2]] += self._own_noise(data)
            value = packed_log_density(packed, data.y - self.mean)
            if value is not None:
                return value
        K, _ = self.kernel.on(data.pairs)
        try:
            chol, _ = cholesky(self.noisy(K, data))
        except NumericalError:
            return -inf
        return gaussian_log_density(chol, solve_lower(chol, data.y - self.mean))

    def log_likelihood_with_gradient(self, data: Observations) -> tuple[float, GP]:
        """log p(y | X), and its gradient shaped like the model [ibid., eq. 5.9]."""
        value, K_bar, mean_bar, pull = self.log_likelihood_with_bars(data)
        noise_bar = float(np.trace(K_bar))
        return value, shaped(self, kernel=pull.parameters(K_bar), noise=noise_bar, mean=mean_bar)

    def log_likelihood_with_bars(self, data: Observations) -> tuple[float, Matrix, float, Pull]:
        """log p(y | X), its gradients in K and in the mean, and the pullback of K.

        The gradient in K is folded into one triangle, since K is symmetric.
        """
        K, pull = self.kernel.on(data.pairs)
        try:
            chol, _ = cholesky(self.noisy(K.copy(), data))  # the pullback needs K as it was
        except NumericalError:
            return -inf, np.zeros_like(K), 0.0, pull
        white = solve_lower(chol, data.y - self.mean)
        alpha = solve_upper(chol, white)
        # ½ (α αᵀ − (K + Σ)⁻¹)
        K_bar = dsyr(-1.0, alpha, a=inverse_lower(chol), lower=1, overwrite_a=1).T
        K_bar *= -1.0
        K_bar.reshape(-1)[:: len(data) + 1] *= 0.5
        return gaussian_log_density(chol, white), K_bar, float(alpha.sum()), pull

    def noisy(self, K: Matrix, data: Observations) -> Matrix:
        """`K` with the noise of `data` on its diagonal, in place."""
        K.reshape(-1)[:: len(K) + 1] += self._own_noise(data)
        return K

    def _own_noise(self, data: Observations) -> float | Vector:
        return self.noise if data.noise is None else self.noise + data.noise


def gaussian_log_density(chol: Matrix, white: Vector) -> float:
    log_root_determinant = float(np.log(chol.diagonal()).sum())
    return -0.5 * float(white @ white) - log_root_determinant - 0.5 * len(white) * LOG_2PI


@dataclass(frozen=True, eq=False)
class GPPosterior:
    """The process given `data`; made by `GP.condition`."""

    model: GP
    data: Observations
    chol: Matrix
    white: Vector
    jitter: float  # added to the diagonal beyond the noise, almost always 0

    __repr__ = short_repr

    @classmethod
    def of(cls, model: GP, data: Observations, **more: Any) -> Self:
        """Rasmussen & Williams 2006, algorithm 2.1, lines 2 and 3; `more` are further fields."""
        K, _ = model.kernel.on(data.pairs)
        chol, jitter = cholesky(model.noisy(K, data))
        white = solve_lower(chol, data.y - model.mean)
        return cls(model, data, chol, white, jitter, **more)

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        """Mean and variance of the latent function at each row of `X`."""
        return self.predict_with_pullback(X)[:2]

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        cross, pull = self.model.kernel.on(self.data.against(X))
        V = solve_lower(self.chol, cross.T)

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            cross_bar = np.multiply.outer(mean_bar, self.alpha)
            cross_bar -= solve_upper(self.chol, V * (2 * var_bar)).T
            return pull.inputs(cross_bar)[0] + self.model.kernel.pull_diag(X, var_bar)

        return self.model.mean + cross @ self.alpha, self._variance(X, V), pull_back

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        """Mean `(m,)` and covariance `(m, m)` of the latent function at the rows of `X`."""
        cross = self.model.kernel.on(self.data.against(X))[0]
        V = solve_lower(self.chol, cross.T)
        return self.model.mean + cross @ self.alpha, self.model.kernel.gram(X) - V.T @ V

    def whitened(self, X: Points) -> tuple[Matrix, Callable[[Matrix], Points]]:
        """L⁻¹ k at the rows of `X`, `(n, m)`, and how a gradient in it travels back to `X`."""
        cross, pull = self.model.kernel.on(self.data.against(X))

        def back(V_bar: Matrix) -> Points:
            return pull.inputs(np.ascontiguousarray(solve_upper(self.chol, V_bar).T))[0]

        return solve_lower(self.chol, cross.T), back

    def mean_gradient(self, X: Points) -> Points:
        """Gradient of the posterior mean at each row of `X`, `(m, d)`."""
        _, pull = self.model.kernel.on(self.data.against(X))
        return pull.inputs(np.broadcast_to(self.alpha, (len(X), len(self.alpha))).copy())[0]

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """`n` exact joint draws at the rows of `X`, `(n, m)`."""
        mean, covariance = self.predict_joint(X)
        chol, _ = cholesky(covariance + VAR_FLOOR * np.diag(self.model.kernel.diag(X)))
        return mean + rng.standard_normal((n, len(X))) @ chol.T

    def draw(self, rng: Rng, features: int = 512) -> Draw:
        """One draw as a function that can be evaluated and differentiated anywhere."""
        kernel, data = self.model.kernel, self.data
        prior = kernel.features(rng, features, data.dimension)
        weights = rng.standard_normal(features) / np.sqrt(features)
        noise = np.sqrt(self._noise(data)) * rng.standard_normal(len(data))
        residual = data.y - self.model.mean - prior.values(data.X) @ weights - noise
        correction = solve_upper(self.chol, solve_lower(self.chol, residual))
        return ProcessDraw(self.model.mean, prior, weights, kernel, data.X, correction)

    def condition(self, X: Points, y: Vector, noise: Vector | None = None) -> Self:
        """The same process once `y` is also believed at `X`; O(n²) a row, `self` is untouched."""
        data = self.data.append(X, y, noise)
        new = Observations(data.X[len(self.data) :], data.y[len(self.data) :], noise)
        corner = self.model.kernel.gram(new.X)
        corner[np.diag_indices(len(new))] += self._noise(new)
        cross = self.model.kernel.on(self.data.against(new.X))[0]
        chol, jitter = append_rows(self.chol, cross, corner)
        below = chol[len(self.data) :]
        tail = solve_lower(
            np.asfortranarray(below[:, len(self.data) :]),
            new.y - self.model.mean - below[:, : len(self.data)] @ self.white,
        )
        white = np.concatenate([self.white, tail])
        jitter = max(self.jitter, jitter)
        return replace(self, data=data, chol=chol, white=white, jitter=jitter)

    def leave_one_out(self) -> tuple[Vector, Vector]:
        """Mean and variance of each *observation* given all others [ibid., eq. 5.12]."""
        inverse = inverse_lower(self.chol).diagonal()
        return self.data.y - self.alpha / inverse, 1 / inverse

    def scales(self) -> Vector:
        """The lengthscale of each coordinate, `(d,)`."""
        return self.model.kernel.scales(self.data.dimension)

    def incumbent(self) -> float:
        """The lowest observation if they are exact, else the lowest posterior mean at the data."""
        if self.is_exact(self.model.kernel.diag(self.data.X[:1])[0]):
            return float(self.data.y.min())
        # The mean at the data is y − (noise) α: no kernel needs to be evaluated for it.
        return float((self.data.y - self._noise(self.data) * self.alpha).min())

    def is_exact(self, prior: float) -> bool:
        """Whether observations are free of noise, for a prior variance of `prior`."""
        has_own = self.data.noise is not None and self.data.noise.any()
        return self.model.noise <= EXACT_NOISE * prior and not has_own

    @property
    def is_average(self) -> bool:
        """Whether predictions are of an average of the objective over uncertain points."""
        return False

    def noise_at(self, X: Points) -> Vector:
        """The noise variance of an observation at each row of `X`."""
        return np.full(len(X), self.model.noise)

    @property
    def log_likelihood(self) -> float:
        return gaussian_log_density(self.chol, self.white)

    @cached_property
    def alpha(self) -> Vector:
        return solve_upper(self.chol, self.white)

    def _noise(self, data: Observations) -> Vector:
        own = data.noise if data.noise is not None else 0.0
        return np.full(len(data), self.model.noise + self.jitter) + own

    def _variance(self, X: Points, V: Matrix) -> Vector:
        prior = self.model.kernel.diag(X)
        return np.maximum(prior - np.einsum("ij,ij->j", V, V), VAR_FLOOR * prior)


@dataclass(frozen=True, eq=False)
class ProcessDraw:
    """A draw from a Gaussian process, as a function that can be evaluated anywhere.

    It is a prior draw made of random features, corrected so that it passes through the data [Wilson
    et al. 2020]:

        f(x) = φ(x)ᵀ w / √count + k(x, X) v,    v = (K + Σ)⁻¹ (y − φ(X)ᵀ w / √count − ε)
    """

    mean: float
    features: FeatureMap
    weights: Vector  # (count,), 1/√count included
    kernel: Kernel
    X: Points  # of the data
    correction: Vector

    def __call__(self, X: Points) -> Vector:
        prior = self.features.values(X) @ self.weights
        return self.mean + prior + self.kernel(X, self.X) @ self.correction

    def gradient(self, X: Points) -> Points:
        _, pull = self.kernel.with_pullback(X, self.X)
        ones = np.ones((len(X), 1))
        update, _ = pull.inputs(ones * self.correction)
        return self.features.pull(X, ones * self.weights) + update
