"""What a kernel is: a frozen value that gives covariances, and takes gradients back.

Shapes: `X1` is `(n, d)`, `X2` is `(m, d)`; covariances are `(n, m)`. A name ending in `_bar` is the
gradient of some scalar with respect to the thing it is named after, and has its shape.

A kernel's numbers may carry a leading axis `(k, …)`: k kernels of one structure evaluated at once,
with covariances `(k, n, m)` and input gradients summed over k. `params.stacked` makes such a one.
"""

from __future__ import annotations

__all__ = ["FeatureMap", "Kernel", "Pull", "lifted"]

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ModelError, ShapeError
from outcrop.typing import Matrix, Points, Rng, Vector


def lifted(number: Any, axes: int) -> Any:
    """A number, or one number for each stacked kernel, shaped to multiply `axes` trailing axes."""
    return number if isinstance(number, float) else number[(..., *(None,) * axes)]


class Pull(NamedTuple):
    """How a gradient in the covariances travels back; the halves serve those who need only one.

    `pull(K_bar)` is `(kernel_bar, X1_bar, X2_bar)`, where `kernel_bar` is shaped like the kernel.
    """

    parameters: Callable[[Matrix], Kernel]
    inputs: Callable[[Matrix], tuple[Points, Points]]

    def __call__(self, K_bar: Matrix) -> tuple[Kernel, Points, Points]:
        return (self.parameters(K_bar), *self.inputs(K_bar))


class FeatureMap(NamedTuple):
    """Random functions φ with E[φ(x) φ(x')] = k(x, x'), and the pullback to their input.

    `values(X)` is `(n, count)`; `pull(X, values_bar)` is `(n, d)`.
    """

    values: Callable[[Points], Matrix]
    pull: Callable[[Points, Matrix], Points]


class Kernel(ABC):
    """A covariance function.

    A new one writes `on` (covariances of all pairs, with their pullback) and `diag`; `features` too
    if functions are to be sampled from it.
    """

    @abstractmethod
    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        """Covariances of all pairs, and how gradients in them travel back."""

    @abstractmethod
    def diag(self, X: Points) -> Vector:
        """k(x, x) for each row of `X`."""

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        """How a gradient in `diag(X)` travels back to `X`: not at all, for most kernels."""
        return np.zeros_like(X)

    def scales(self, dimension: int) -> Vector:
        """Over which length each coordinate changes the covariance, `(dimension,)`; 1 if it never
        does."""
        return np.ones(dimension)

    def grounded(self, X: Points) -> Kernel:
        """The kernel without what no observation at the rows of `X` speaks for: mostly itself."""
        return self

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        """`count` random functions whose mean product is the kernel, on `dimension` inputs."""
        raise ModelError(
            f"{type(self).__name__} has no random features; draw values at given points with "
            "`sample` instead of a whole function"
        )

    def __call__(self, X1: Points, X2: Points) -> Matrix:
        return self.with_pullback(X1, X2)[0]

    def gram(self, X: Points) -> Matrix:
        return self.on(Pairs(X, X))[0]

    def with_pullback(self, X1: Points, X2: Points) -> tuple[Matrix, Pull]:
        """Covariances, and how a gradient in them travels back to the fields and to both inputs."""
        if X1.ndim != 2 or X2.ndim != 2 or X1.shape[1] != X2.shape[1]:
            raise ShapeError(f"expected X1 (n, d) and X2 (m, d), got {X1.shape} and {X2.shape}")
        return self.on(Pairs(X1, X2))

    def __add__(self, other: Kernel) -> Kernel:
        from outcrop.kernels.compose import Sum

        return Sum((self, other))

    def __mul__(self, other: Kernel) -> Kernel:
        from outcrop.kernels.compose import Product

        return Product((self, other))
