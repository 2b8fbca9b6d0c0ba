"""Functions drawn from a Gaussian process, as something that can be called and differentiated.

A draw is a prior draw made of random features, corrected so that it passes through the data
[Wilson et al. 2020]:

    f(x) = φ(x)ᵀ w / √count + k(x, X) v,    v = (K + Σ)⁻¹ (y − φ(X)ᵀ w / √count − ε)
"""

from __future__ import annotations

__all__ = ["SamplePath"]

from dataclasses import dataclass

import numpy as np

from outcrop.kernels.base import FeatureMap, Kernel
from outcrop.typing import Points, Vector


@dataclass(frozen=True, eq=False)
class SamplePath:
    """One function; `path(X)` is `(m,)`."""

    mean: float
    features: FeatureMap
    weights: Vector  # (count,), 1/√count included
    kernel: Kernel
    X: Points  # where the correction is anchored
    correction: Vector

    def __call__(self, X: Points) -> Vector:
        prior = self.features.values(X) @ self.weights
        return self.mean + prior + self.kernel(X, self.X) @ self.correction

    def gradient(self, X: Points) -> Points:
        """∇f at each row of `X`, `(m, d)`."""
        _, pull = self.kernel.with_pullback(X, self.X)
        ones = np.ones((len(X), 1))
        update, _ = pull.inputs(ones * self.correction)
        return self.features.pull(X, ones * self.weights) + update
