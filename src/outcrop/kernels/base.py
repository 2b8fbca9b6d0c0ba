"""Kernels: frozen values that give covariances and the pullback of gradients in them.

Shapes: `X1` is `(n, d)`, `X2` is `(m, d)`; covariances are `(n, m)`. A name ending in `_bar` is the
gradient of some scalar with respect to the thing it is named after, and has its shape.

A kernel's numbers may carry a leading axis `(k, …)`: k kernels of one structure evaluated at once,
with covariances `(k, n, m)` and input gradients summed over k. `params.stacked` makes them.
"""

from __future__ import annotations

__all__ = ["FeatureMap", "Kernel", "Pull", "PullParameters", "latest_on", "lifted"]

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self, TypeAlias, overload

import numpy as np

from outcrop.data import Pairs, Triangle
from outcrop.errors import ModelError, ShapeError
from outcrop.typing import Matrix, Points, Rng, Vector

if TYPE_CHECKING:
    from outcrop.kernels.stationary import RBF


@overload
def lifted(number: float, axes: int) -> float: ...
@overload
def lifted(number: Vector, axes: int) -> Matrix: ...
def lifted(number: float | Vector, axes: int) -> float | Matrix:
    """A number, or one number for each stacked kernel, shaped to multiply `axes` trailing axes."""
    return number if isinstance(number, float) else number[(..., *(None,) * axes)]


PullParameters: TypeAlias = Callable[[Matrix], "Kernel"]


class Pull(NamedTuple):
    """The pullback of a gradient in the covariances, in two halves for callers that need only one.

    `pull(K_bar)` is `(kernel_bar, X1_bar, X2_bar)`, where `kernel_bar` is shaped like the kernel.
    """

    parameters: PullParameters
    inputs: Callable[[Matrix], tuple[Points, Points]]

    def __call__(self, K_bar: Matrix) -> tuple[Kernel, Points, Points]:
        return (self.parameters(K_bar), *self.inputs(K_bar))


def latest_on(kernel: Kernel, pairs: Pairs, place: Hashable) -> tuple[Matrix, Pull]:
    """`kernel.on(pairs)` for a kernel that is part of another, not to be overwritten.

    Likelihoods of one model are computed many times, each with one number changed. Parts without
    that number are the same objects as before (`params.Layout.bind`) and are not evaluated again.
    `place` tells the parts of a kernel apart.
    """
    if type(pairs) is not Triangle:
        return kernel.on(pairs)
    before, found = pairs.latest.get(place, (None, None))
    if before is not kernel:
        found = kernel.on(pairs)
        pairs.latest[place] = kernel, found
    return found


class FeatureMap(NamedTuple):
    """Random functions φ with E[φ(x) φ(x')] = k(x, x'), and the pullback to their input.

    `values(X)` is `(n, count)`; `pull(X, values_bar)` is `(n, d)`.
    """

    values: Callable[[Points], Matrix]
    pull: Callable[[Points, Matrix], Points]


class Kernel(ABC):
    """A covariance function.

    A new kernel writes `on` (covariances of all pairs, with their pullback) and `diag`; also
    `features` if functions are drawn from it. A kernel around others writes `children` and
    `with_children`, or derives from a class of `wrappers`.
    """

    # Whether covariances of points with the same category codes stay the same if their numbers are
    # shifted alike, provided that this holds for the children.
    stationary: ClassVar[bool] = False
    # Whether category codes are all that matters; read from kernels without children only.
    categories_only: ClassVar[bool] = False
    # Whether the expectation of the kernel over uncertain points is the same kernel around the
    # expectations of its children.
    passes_expectation: ClassVar[bool] = False

    @abstractmethod
    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        """Covariances of all pairs, and the pullback of gradients in them."""

    @abstractmethod
    def diag(self, X: Points) -> Vector:
        """k(x, x) for each row of `X`."""

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        """The gradient in `X` from that in `diag(X)`: 0 for most kernels."""
        return np.zeros_like(X)

    def scales(self, dimension: int) -> Vector:
        """The length over which each coordinate changes the covariance, `(dimension,)`; 1 if it
        never does."""
        return np.ones(dimension)

    def children(self) -> tuple[Kernel, ...]:
        """The kernels that this one contains."""
        return ()

    def with_children(self, children: tuple[Kernel, ...]) -> Self:
        """The same kernel around other children; itself if they are its own."""
        return self

    def for_children(self, X: Points) -> Points:
        """The points that the children see where this kernel sees `X`."""
        return X

    def walk(self) -> Iterator[Kernel]:
        """This kernel and all below it, parents first."""
        yield self
        for child in self.children():
            yield from child.walk()

    def grounded(self, X: Points) -> Self:
        """The kernel without regions that hold no observation of the rows of `X`."""
        inner = self.for_children(X)
        return self.with_children(tuple(child.grounded(inner) for child in self.children()))

    @property
    def is_stationary(self) -> bool:
        """Whether a common shift of the numbers leaves covariances within a category the same."""
        return self.stationary and all(child.is_stationary for child in self.children())

    @property
    def sees_numbers(self) -> bool:
        """Whether the covariances depend on anything but category codes."""
        children = self.children()
        if not children:
            return not self.categories_only
        return any(child.sees_numbers for child in children)

    def expected(self, leaf: type[RBF]) -> Kernel | None:
        """The kernel with a `leaf` in place of every RBF, to be averaged over uncertain points.

        With `ExpectedRBF` as the leaf, covariances are expectations in closed form. None if there
        is no closed form: callers then average over points, or raise.
        """
        if not self.sees_numbers:
            return self
        if not self.passes_expectation:
            return None
        children = tuple(child.expected(leaf) for child in self.children())
        known = tuple(child for child in children if child is not None)
        return self.with_children(known) if len(known) == len(children) else None

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
        """Covariances, and the pullback of a gradient in them to the fields and both inputs."""
        if X1.ndim != 2 or X2.ndim != 2 or X1.shape[1] != X2.shape[1]:
            raise ShapeError(f"expected X1 (n, d) and X2 (m, d), got {X1.shape} and {X2.shape}")
        return self.on(Pairs(X1, X2))

    def __add__(self, other: Kernel) -> Kernel:
        from outcrop.kernels.compose import Sum

        return Sum((self, other))

    def __mul__(self, other: Kernel) -> Kernel:
        from outcrop.kernels.compose import Product

        return Product((self, other))
