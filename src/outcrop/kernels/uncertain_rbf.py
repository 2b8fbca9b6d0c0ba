"""The RBF kernel of points with Gaussian noise: its average, and an approximation of it."""

from __future__ import annotations

__all__ = ["ExpectedRBF", "TaylorRBF"]

from dataclasses import dataclass

import numpy as np

from outcrop.data import Pairs, summed
from outcrop.kernels.base import Kernel, Pull
from outcrop.kernels.stationary import RBF, positive_vector, summed_like
from outcrop.kernels.uncertain import UncertainPairs, matrices
from outcrop.kernels.wrappers import sum_inputs
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


@dataclass(frozen=True, eq=False)
class TaylorRBF(RBF):
    """The RBF kernel of g = f + ½ tr(S ∇∇ᵀf) [Girard & Murray-Smith 2003].

        k_g = (1 + ½ tr S ∂∂ᵀ) (1 + ½ tr S' ∂'∂'ᵀ) k = k (1 + ½ (a + a') + ¼ a a' − c + ½ e)

        a = uᵀSu − tr SP,  a' = uᵀS'u − tr S'P,  c = uᵀSPS'u,  e = tr SPS'P,  u = Pδ,  P = diag(ℓ⁻²)

    It approximates `ExpectedRBF` where S is small beside ℓ²; where it is not, the terms in S²/ℓ⁴
    dominate and the kernel is useless. Between exact points this is `RBF`.
    """

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        if not isinstance(pairs, UncertainPairs):
            return super().on(pairs)
        one, two = pairs.shared(pairs.cov1), pairs.shared(pairs.cov2)
        if one is not None and two is not None:
            return self._on_shared(pairs, one, two)
        return self._on_each(pairs)

    def _on_shared(self, pairs: UncertainPairs, one: Vector, two: Vector) -> tuple[Matrix, Pull]:
        """With variances that all points have in common, weighted distances suffice."""
        P = self._weights(pairs.X1.shape[1])
        axes = (..., *(None,) * len(pairs.shape))
        both = one * two
        weights = P, one * P**2, two * P**2, both * P**3
        r2, a1, a2, c = map(pairs.squared_distances, weights)
        a1 -= (one * P).sum(-1)[axes]
        a2 -= (two * P).sum(-1)[axes]
        k = np.exp(-0.5 * r2)
        Q = _factor(a1, a2, c, (both * P**2).sum(-1)[axes])

        def bars(K_bar: Matrix) -> tuple[Matrix, ...]:
            G = K_bar * k
            return -0.5 * G * Q, G * (0.5 + 0.25 * a2), G * (0.5 + 0.25 * a1), -G

        def parameters(K_bar: Matrix) -> Kernel:
            r2_bar, a1_bar, a2_bar, c_bar = bars(K_bar)
            P_bar = pairs.pull_weights(r2_bar, P)
            P_bar = P_bar + 2 * one * P * pairs.pull_weights(a1_bar, weights[1])
            P_bar += 2 * two * P * pairs.pull_weights(a2_bar, weights[2])
            P_bar += 3 * both * P**2 * pairs.pull_weights(c_bar, weights[3])
            P_bar -= one * a1_bar.sum() + two * a2_bar.sum() + both * P * c_bar.sum()
            return self._gradient(P_bar)

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            parts = zip(bars(K_bar), weights, strict=True)
            return sum_inputs([pairs.pull_inputs(bar, w) for bar, w in parts])

        return k * Q, Pull(parameters, inputs)

    def _on_each(self, pairs: UncertainPairs) -> tuple[Matrix, Pull]:
        d = pairs.X1.shape[1]
        P = self._weights(d)[..., None, None, :]
        none = np.zeros((1, d, d))
        S1 = (none if pairs.cov1 is None else matrices(pairs.cov1))[:, None]
        S2 = (none if pairs.cov2 is None else matrices(pairs.cov2))[None, :]
        delta = pairs.X1[:, None, :] - pairs.X2[None, :, :]
        u = P * delta
        u1, u2 = _times(S1, u), _times(S2, u)
        own1, own2 = (np.einsum("...ii->...i", S) for S in (S1, S2))
        both = S1 * S2  # symmetric, so that Σ over both indices is the trace of the product
        a1, a2 = (u * u1).sum(-1) - (own1 * P).sum(-1), (u * u2).sum(-1) - (own2 * P).sum(-1)
        k = np.exp(-0.5 * (delta * u).sum(-1))
        Q = _factor(a1, a2, (u1 * P * u2).sum(-1), (_times(both, P) * P).sum(-1))
        turned = _times(S1, P * u2) + _times(S2, P * u1)

        def parameters(K_bar: Matrix) -> Kernel:
            G = (K_bar * k)[..., None]
            bar = -0.5 * G * Q[..., None] * delta**2
            bar = bar + G * (0.5 + 0.25 * a2[..., None]) * (2 * delta * u1 - own1)
            bar += G * (0.5 + 0.25 * a1[..., None]) * (2 * delta * u2 - own2)
            bar -= G * (u1 * u2 + delta * turned - _times(both, P))
            return self._gradient(bar.sum((0, 1)))

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            G = (K_bar * k)[..., None]
            bar = -G * Q[..., None] * u - G * P * turned
            bar = bar + G * P * ((1 + 0.5 * a2[..., None]) * u1 + (1 + 0.5 * a1[..., None]) * u2)
            return summed(bar.sum(-2)), summed(-bar.sum(-3))

        return k * Q, Pull(parameters, inputs)

    def _gradient(self, P_bar: Vector) -> Kernel:
        P_bar = summed_like(P_bar, self.lengthscales)
        return shaped(self, lengthscales=-2 * P_bar / self.lengthscales**3)


def _apart(bar: Matrix, pairs: UncertainPairs) -> Matrix:
    """A gradient with zeros for the constant covariances of rows with themselves."""
    if pairs.same:
        bar[pairs.diagonal] = 0.0
    return bar


def _factor(a1: Matrix, a2: Matrix, c: Matrix, e: Matrix) -> Matrix:
    return 1 + 0.5 * (a1 + a2) + 0.25 * a1 * a2 - c + 0.5 * e


def _times(S: Matrix, u: Matrix) -> Matrix:
    return (S @ u[..., None])[..., 0]
