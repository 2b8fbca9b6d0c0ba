"""Mean and variance of an average over input noise, for each kind of posterior.

`around` holds the `S` points around each of `m` points `X`; there are `n` observations.
"""

from __future__ import annotations

__all__ = ["Average", "JointAverage", "ProcessAverage", "RescaledAverage", "CorrelatedAverage"]

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from outcrop.data import Observations, Pairs
from outcrop.kernels import ExpectedRBF, Kernel
from outcrop.kernels.uncertain import UncertainPairs
from outcrop.linalg import solve_lower, solve_upper
from outcrop.surrogates.base import DrawsFunctions, Posterior, PredictionPull, drawing
from outcrop.surrogates.gp import VAR_FLOOR, GPPosterior
from outcrop.surrogates.noisy.uncertain import UncertainObservations
from outcrop.surrogates.robust.noise_points import NoisePoints
from outcrop.typing import Matrix, Points, Vector

logger = logging.getLogger(__name__)

AT_ONCE = 128  # points whose joint covariance is computed at a time; only its blocks are used
STEP = 1e-5  # of central differences in the unit cube


class JointPosterior(Posterior, DrawsFunctions, Protocol):
    """A posterior with joint predictions."""


@dataclass(frozen=True, eq=False)
class Average(ABC):
    """A way to predict an average."""

    posterior: Posterior
    around: NoisePoints

    @abstractmethod
    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        """Mean and variance of the average, and the pullback of gradients in them to `X`."""

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        """Mean `(m,)` and covariance `(m, m)` of the average."""
        joint = drawing(self.posterior, "predict jointly")
        mean, covariance = joint.predict_joint(self.around.points(X))
        half = self.around.average(covariance)
        return self.around.average(mean), self.around.average(half.T)

    @property
    def is_exact(self) -> bool:
        """Whether the average is in closed form, not a sum over points."""
        return False

    def _steps(self, X: Points) -> list[tuple[int, Vector]]:
        """The steps of central differences, each with the column that it is in."""
        return [(column, STEP * np.eye(X.shape[1])[column]) for column in self.around.numbers]


@dataclass(frozen=True, eq=False)
class ProcessAverage(Average):
    """The average of a Gaussian process: a process whose kernel is averaged over its inputs.

    The kernel is averaged in closed form where it declares one, and over `around` elsewhere.
    """

    posterior: GPPosterior
    _levels: dict[bytes, float] = field(default_factory=dict)

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        posterior = self.posterior
        cross, pull = self._cross(X)
        V = solve_lower(posterior.chol, cross.T)
        prior = self._prior(X)
        var = np.maximum(prior - np.einsum("ij,ij->j", V, V), VAR_FLOOR * prior)

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            cross_bar = np.multiply.outer(mean_bar, posterior.alpha)
            cross_bar -= solve_upper(posterior.chol, V * (2 * var_bar)).T
            return pull(cross_bar) + self._pull_prior(X, var_bar)

        return posterior.model.mean + cross @ posterior.alpha, var, pull_back

    def predict_joint(self, X: Points) -> tuple[Vector, Matrix]:
        posterior = self.posterior
        cross, _ = self._cross(X)
        V = solve_lower(posterior.chol, cross.T)
        if self.is_exact:
            prior = self._kernel.on(UncertainPairs.of(Pairs(X, X), self._cov, self._cov))[0]
        else:
            half = self.around.average(self._kernel.gram(self.around.points(X)))
            prior = self.around.average(half.T)
        return posterior.model.mean + cross @ posterior.alpha, prior - V.T @ V

    def _cross(self, X: Points) -> tuple[Matrix, Callable[[Matrix], Points]]:
        """Covariances with the observations `(m, n)`, and the pullback of a gradient to `X`."""
        if self.is_exact:
            exact, pull = self._kernel.on(self._uncertain(X))
            return exact, lambda bar: pull.inputs(bar)[0]
        each, pull = self._kernel.on(self.posterior.data.against(self.around.points(X)))

        def pull_back(bar: Matrix) -> Points:
            return self.around.gather(pull.inputs(self.around.scatter(bar))[0])

        return self.around.average(each), pull_back

    @property
    def is_exact(self) -> bool:
        return self._expected is not None

    @cached_property
    def _expected(self) -> Kernel | None:
        """The kernel with its expectation in closed form; None if there is none here."""
        data = self.posterior.data
        if self.around.active is not None:
            return None  # inactive entries have no noise, so that points differ in their covariance
        if isinstance(data, UncertainObservations):
            if data.cov is None:
                return None  # the kernel learns the noise of the observations
        elif type(data) is not Observations:
            return None
        expected = self.posterior.model.kernel.expected(ExpectedRBF)
        if expected is None:
            kernel = self.posterior.model.kernel
            logger.debug("no closed form, averaged over %d points: %r", len(self.around), kernel)
        return expected

    @property
    def _kernel(self) -> Kernel:
        return self.posterior.model.kernel if self._expected is None else self._expected

    def _uncertain(self, X: Points) -> UncertainPairs:
        data, cov = self.posterior.data, self._cov
        if isinstance(data, UncertainObservations):
            return UncertainPairs.of(data.visible.against(X), cov, data.cov)
        return UncertainPairs.of(data.against(X), cov, None)

    @cached_property
    def _cov(self) -> Matrix:
        """The covariance in the form of `kernels.uncertain`: variances if it is diagonal."""
        covariance = self.around.covariance
        variances = covariance.diagonal()
        return variances[None] if (covariance == np.diag(variances)).all() else covariance[None]

    def _prior(self, X: Points) -> Vector:
        """The prior variance of the average; one number per category of a stationary kernel."""
        if not self._kernel.is_stationary:
            parts = [self._blocks(X[part]) for part in _parts(X, self.around)]
            return np.concatenate([np.empty(0), *parts])
        codes = X.copy()
        codes[:, self.around.numbers] = 0.0
        first, group = np.zeros(1, dtype=int), np.zeros(len(X), dtype=int)
        if len(self.around.numbers) < X.shape[1]:
            _, first, group = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        levels = np.array([self._level(x) for x in codes[first if len(X) else []]])
        return levels[group.reshape(-1)]

    def _level(self, x: Vector) -> float:
        """The prior variance at one point; cached, because there are few categories."""
        key = x.tobytes()
        if key not in self._levels:
            if self.is_exact:
                pairs = UncertainPairs.of(Pairs(x[None], x[None]), self._cov, self._cov)
                self._levels[key] = float(self._kernel.on(pairs)[0][0, 0])
            else:
                self._levels[key] = float(self._blocks(x[None])[0])
        return self._levels[key]

    def _blocks(self, X: Points) -> Vector:
        return _within(self._kernel.gram(self.around.points(X)), self.around)

    def _pull_prior(self, X: Points, var_bar: Vector) -> Points:
        X_bar = np.zeros_like(X)
        if self._kernel.is_stationary:
            return X_bar
        for part in _parts(X, self.around):
            P = self.around.points(X[part])
            bar = np.zeros((len(P), len(P)))
            size = len(self.around)
            own = np.multiply.outer(self.around.weights, self.around.weights)
            for i, each in enumerate(var_bar[part]):
                bar[i * size : (i + 1) * size, i * size : (i + 1) * size] = each * own
            one, two = self._kernel.on(Pairs(P, P))[1].inputs(bar)
            X_bar[part] = self.around.gather(one + two)
        return X_bar


@dataclass(frozen=True, eq=False)
class JointAverage(Average):
    """The average under any posterior with joint predictions.

    The variance is differentiated by central differences.
    """

    posterior: JointPosterior

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        each, _, pull = self.posterior.predict_with_pullback(self.around.points(X))

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            X_bar = self.around.gather(pull(self.around.scatter(mean_bar), np.zeros_like(each)))
            for column, step in self._steps(X) if var_bar.any() else ():
                change = self._variance(X + step) - self._variance(X - step)
                X_bar[:, column] += var_bar * change / (2 * STEP)
            return X_bar

        return self.around.average(each), self._variance(X), pull_back

    def _variance(self, X: Points) -> Vector:
        parts = [np.empty(0)]
        for part in _parts(X, self.around):
            covariance = self.posterior.predict_joint(self.around.points(X[part]))[1]
            own = _within(covariance, self.around)
            floor = VAR_FLOOR * self.around.average(covariance.diagonal())
            parts.append(np.maximum(own, np.maximum(floor, np.finfo(float).tiny)))
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class RescaledAverage(Average):
    """The average under a posterior with variances of its own and the correlations of `centre`.

    Only correlations are differentiated by central differences.
    """

    centre: GPPosterior

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        weights, size = self.around.weights, len(self.around)
        means, variances, pull = self.posterior.predict_with_pullback(self.around.points(X))
        stds = np.sqrt(variances).reshape(-1, size)
        shares = weights * stds
        R = self._correlations(X)
        carried = np.einsum("ist,it->is", R, shares)
        var = np.maximum((shares * carried).sum(1), VAR_FLOOR * self.around.average(variances))

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            variances_bar = (var_bar[:, None] * weights * carried / stds).reshape(-1)
            X_bar = self.around.gather(pull(self.around.scatter(mean_bar), variances_bar))
            for column, step in self._steps(X) if var_bar.any() else ():
                change = self._correlations(X + step) - self._correlations(X - step)
                slope = np.einsum("is,ist,it->i", shares, change, shares) / (2 * STEP)
                X_bar[:, column] += var_bar * slope
            return X_bar

        return self.around.average(means), var, pull_back

    def _correlations(self, X: Points) -> Matrix:
        """Of the points around each row under `centre`, `(m, S, S)`."""
        kernel, size = self.centre.model.kernel, len(self.around)
        P = self.around.points(X)
        cross = kernel.on(self.centre.data.against(P))[0]
        V = solve_lower(self.centre.chol, cross.T).T.reshape(len(X), size, -1)
        prior = self._priors(X)
        floor = VAR_FLOOR * np.einsum("iss->is", prior)
        covariance = prior - V @ np.swapaxes(V, 1, 2)
        stds = np.sqrt(np.maximum(np.einsum("iss->is", covariance), floor))
        return covariance / (stds[:, :, None] * stds[:, None, :])

    def _priors(self, X: Points) -> Matrix:
        """The prior covariances `(m, S, S)`, or `(1, S, S)` if all are the same."""
        is_alike = self.around.active is None and len(self.around.numbers) == X.shape[1]
        if is_alike and self.centre.model.kernel.is_stationary:
            X = X[:1]
        gram, size = self.centre.model.kernel.gram, len(self.around)
        parts = [gram(self.around.points(X[part])) for part in _parts(X, self.around)]
        return np.concatenate([np.empty((0, size, size)), *(_blocks_of(K, size) for K in parts)])


@dataclass(frozen=True, eq=False)
class CorrelatedAverage(Average):
    """The average under a posterior without covariances: all points are taken as fully correlated.

    This is the largest possible variance of the average.
    """

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        means, variances, pull = self.posterior.predict_with_pullback(self.around.points(X))
        stds = np.sqrt(variances)
        std = self.around.average(stds)

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            var_bars = self.around.scatter(var_bar * std) / stds
            return self.around.gather(pull(self.around.scatter(mean_bar), var_bars))

        return self.around.average(means), std**2, pull_back


def _parts(X: Points, around: NoisePoints) -> list[slice]:
    """Rows of `X` whose points are processed together."""
    rows = max(AT_ONCE // len(around), 1)
    return [slice(start, start + rows) for start in range(0, len(X), rows)]


def _within(covariance: Matrix, around: NoisePoints) -> Vector:
    """wᵀ C w of the points around each row, from the covariance `(m·S, m·S)` of all of them."""
    own = _blocks_of(covariance, len(around))
    return np.einsum("s,ist,t->i", around.weights, own, around.weights)


def _blocks_of(covariance: Matrix, size: int) -> Matrix:
    """The `(m, size, size)` blocks on the diagonal."""
    m = len(covariance) // size
    return np.einsum("isit->ist", covariance.reshape(m, size, m, size))
