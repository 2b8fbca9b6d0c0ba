"""Functions drawn from a posterior; they can be evaluated and differentiated anywhere.

A draw from a Gaussian process is a prior draw made of random features, corrected so that it passes
through the data [Wilson et al. 2020]:

    f(x) = φ(x)ᵀ w / √count + k(x, X) v,    v = (K + Σ)⁻¹ (y − φ(X)ᵀ w / √count − ε)
"""

from __future__ import annotations

__all__ = ["Draw", "ProcessDraw"]

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from outcrop.kernels.base import FeatureMap, Kernel
from outcrop.typing import Points, Vector


class Draw(Protocol):
    """One function drawn from a posterior."""

    def __call__(self, X: Points) -> Vector:
        """Its value at each row of `X`, `(m,)`."""
        ...

    def gradient(self, X: Points) -> Points:
        """Its gradient at each row of `X`, `(m, d)`."""
        ...


@dataclass(frozen=True, eq=False)
class ProcessDraw:
    """A draw from a Gaussian process."""

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
