"""The RBF kernel averaged over points with Gaussian noise."""

from __future__ import annotations

__all__ = ["ExpectedRBF"]

from dataclasses import dataclass

import numpy as np

from outcrop.data import Pairs, summed
from outcrop.kernels.base import Kernel, Pull
from outcrop.kernels.stationary import RBF, positive_vector, summed_like
from outcrop.kernels.uncertain import UncertainPairs, matrices
from outcrop.params import changed, shaped
from outcrop.typing import Matrix, Points, Vector


@dataclass(frozen=True, eq=False)
class ExpectedRBF(RBF):
    """The RBF kernel averaged over uncertain points x ~ N(m, S), x' ~ N(m', S').

        k = |I + Λ⁻¹ T|^−½ exp(−½ δᵀ (Λ + T)⁻¹ δ),    T = S + S', δ = m − m', Λ = diag(ℓ²)

    The covariance of an observation with itself is 1: it was made at one point. Two observations
    are two draws of the noise even if they share their intended point. Between exact points this is
    `RBF`. `spread` is the standard deviation of the noise per dimension, if it is learnt; known
    covariances come with the pairs.
    """

    spread: Vector | None = None  # (d,) or (1,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spread is not None:
            spread = positive_vector(type(self).__name__, "spread", self.spread)
            object.__setattr__(self, "spread", spread)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        if not isinstance(pairs, UncertainPairs):
            K, pull = super().on(pairs)
            spread_bar = None if self.spread is None else np.zeros_like(self.spread)

            def parameters(K_bar: Matrix) -> Kernel:
                return changed(pull.parameters(K_bar), spread=spread_bar)

            return K, Pull(parameters, pull.inputs)
        ones = np.ones(pairs.X1.shape[1])
        if self.spread is not None and pairs.cov1 is None and pairs.cov2 is None:
            return self._on_shared(pairs, pairs.ends * ones * self.spread**2, pairs.ends)
        one, two = pairs.shared(pairs.cov1), pairs.shared(pairs.cov2)
        if one is not None and two is not None:
            return self._on_shared(pairs, one + two, ends=0)
        return self._on_each(pairs)

    def _on_shared(self, pairs: UncertainPairs, total: Vector, ends: int) -> tuple[Matrix, Pull]:
        """All pairs have the variances `total`: another RBF kernel, of another height.

        They include `ends` times the variances of the kernel itself.
        """
        squares = 1 / self._weights(pairs.X1.shape[1])
        sums = squares + total
        height = np.sqrt(np.prod(squares / sums, axis=-1))
        K = np.exp(-0.5 * pairs.squared_distances(1 / sums))
        K *= height[(..., *(None,) * len(pairs.shape))]
        if pairs.same:
            K[pairs.diagonal] = 1.0

        def parameters(K_bar: Matrix) -> Kernel:
            G = _apart(K_bar * K, pairs)
            whole = 0.5 * float(G.sum())
            sums_bar = pairs.pull_weights(0.5 * G, 1 / sums) / sums**2 - whole / sums
            return self._gradient(sums_bar + whole / squares, sums_bar, ends)

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            return pairs.pull_inputs(-0.5 * _apart(K_bar * K, pairs), 1 / sums)

        return K, Pull(parameters, inputs)

    def _on_each(self, pairs: UncertainPairs) -> tuple[Matrix, Pull]:
        d = pairs.X1.shape[1]
        squares = 1 / self._weights(d)
        M = squares[..., None, None, None, :] * np.eye(d)
        if pairs.cov1 is not None:
            M = M + matrices(pairs.cov1)[:, None]
        if pairs.cov2 is not None:
            M = M + matrices(pairs.cov2)[None, :]
        inverse, logs = np.linalg.inv(M), np.linalg.slogdet(M)[1]
        delta = pairs.X1[:, None, :] - pairs.X2[None, :, :]
        w = (inverse @ delta[..., None])[..., 0]
        level = 0.5 * np.log(squares).sum(-1)[..., None, None]
        K = np.exp(level - 0.5 * logs - 0.5 * (delta * w).sum(-1))
        if pairs.same:
            K[pairs.diagonal] = 1.0

        def parameters(K_bar: Matrix) -> Kernel:
            G = _apart(K_bar * K, pairs)[..., None]
            own = np.broadcast_to(np.einsum("...ii->...i", inverse), w.shape)
            bar = 0.5 * (G * (w**2 - own)).sum((0, 1)) + 0.5 * G.sum() / squares
            return self._gradient(bar, np.zeros_like(bar), 0)

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            slopes = _apart(K_bar * K, pairs)[..., None] * w
            return summed(-slopes.sum(-2)), summed(slopes.sum(-3))

        return K, Pull(parameters, inputs)

    def _gradient(self, squares_bar: Vector, total_bar: Vector, ends: int) -> Kernel:
        """From gradients in the squared lengthscales and in the variances of a pair."""
        lengthscales_bar = 2 * self.lengthscales * summed_like(squares_bar, self.lengthscales)
        spread_bar = None
        if self.spread is not None:
            spread_bar = 2 * ends * self.spread * summed_like(total_bar, self.spread)
        return shaped(self, lengthscales=lengthscales_bar, spread=spread_bar)


def _apart(bar: Matrix, pairs: UncertainPairs) -> Matrix:
    """A gradient with zeros for the constant covariances of rows with themselves."""
    if pairs.same:
        bar[pairs.diagonal] = 0.0
    return bar
