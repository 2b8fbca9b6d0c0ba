"""The covariance of a function's second-order expansion around uncertain points."""

from __future__ import annotations

__all__ = ["TaylorRBF"]

from dataclasses import dataclass

import numpy as np

from outcrop.data import Pairs, summed
from outcrop.kernels.base import Kernel, Pull
from outcrop.kernels.stationary import RBF, summed_like
from outcrop.kernels.uncertain import UncertainPairs, matrices
from outcrop.kernels.wrappers import sum_inputs
from outcrop.params import shaped
from outcrop.typing import Matrix, Points, Vector


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


def _factor(a1: Matrix, a2: Matrix, c: Matrix, e: Matrix) -> Matrix:
    return 1 + 0.5 * (a1 + a2) + 0.25 * a1 * a2 - c + 0.5 * e


def _times(S: Matrix, u: Matrix) -> Matrix:
    return (S @ u[..., None])[..., 0]
