"""What kernels around other kernels have in common.

A wrapper states what it changes; everything else is that of the kernels inside.
"""

from __future__ import annotations

__all__ = ["Combination", "LearntMap", "PointMap", "Wrapper", "sum_inputs"]

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property, reduce
from operator import is_
from typing import ClassVar, Self

import numpy as np

from outcrop.data import Pairs
from outcrop.kernels.base import FeatureMap, Kernel, Pull, latest_on
from outcrop.kernels.stationary import RBF
from outcrop.params import changed, member, stacked
from outcrop.typing import Matrix, Points, Rng, Vector


class Wrapper(Kernel):
    """A kernel around one `kernel`."""

    kernel: Kernel

    def children(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    def with_children(self, children: tuple[Kernel, ...]) -> Self:
        (kernel,) = children
        return changed(self, kernel=kernel)

    def diag(self, X: Points) -> Vector:
        return self.kernel.diag(X)

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        return self.kernel.pull_diag(X, diag_bar)

    def scales(self, dimension: int) -> Vector:
        return self.kernel.scales(dimension)


class PointMap(Wrapper):
    """A kernel of the images of points under a map."""

    @abstractmethod
    def image(self, X: Points) -> Points:
        """Where the rows of `X` are mapped to."""

    @abstractmethod
    def pull_image(self, X: Points, image_bar: Points) -> Points:
        """The gradient in `X` from that in `image(X)`."""

    def image_pairs(self, pairs: Pairs) -> Pairs:
        """The pairs of the images."""
        W1 = self.image(pairs.X1)
        return pairs.moved(W1, W1 if pairs.X1 is pairs.X2 else self.image(pairs.X2))

    def image_dimension(self, dimension: int) -> int:
        """The number of coordinates of an image."""
        return dimension

    def map_bars(self, pairs: Pairs, images: Pairs, pull: Pull, K_bar: Matrix) -> dict[str, Vector]:
        """The gradients in the numbers of the map, by field."""
        return {}

    def for_children(self, X: Points) -> Points:
        return self.image(X)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        images = self.image_pairs(pairs)
        K, pull = self.kernel.on(images)

        def parameters(K_bar: Matrix) -> Kernel:
            own = self.map_bars(pairs, images, pull, K_bar)
            return changed(self, **own, kernel=pull.parameters(K_bar))

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            bar1, bar2 = pull.inputs(K_bar)
            X1_bar = self.pull_image(pairs.X1, bar1)
            if not pairs.second_moves:
                return X1_bar, np.zeros_like(pairs.X2)
            return X1_bar, self.pull_image(pairs.X2, bar2)

        return K, Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        return self.kernel.diag(self.image(X))

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        return self.pull_image(X, self.kernel.pull_diag(self.image(X), diag_bar))

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        values, pull = self.kernel.features(rng, count, self.image_dimension(dimension))
        return FeatureMap(
            lambda X: values(self.image(X)),
            lambda X, bar: self.pull_image(X, pull(self.image(X), bar)),
        )


class LearntMap(PointMap):
    """A map with numbers of its own.

    Kernels of a stack map the points to different places, so they are evaluated one by one.
    """

    # The fields that the map depends on; the first has a leading axis in a stack.
    map_fields: ClassVar[tuple[str, ...]]

    @cached_property
    def members(self) -> list[Self]:
        """The kernels of a stack; empty if this is a single kernel."""
        number: Vector = getattr(self, self.map_fields[0])
        return [member(self, i) for i in range(len(number))] if number.ndim > 1 else []

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        if not self.members:
            return super().on(pairs)
        Ks, pulls = zip(*(one.on(pairs) for one in self.members), strict=True)

        def parameters(K_bar: Matrix) -> Kernel:
            return stacked([pull.parameters(bar) for pull, bar in zip(pulls, K_bar, strict=True)])

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            return sum_inputs([pull.inputs(bar) for pull, bar in zip(pulls, K_bar, strict=True)])

        return np.stack(Ks), Pull(parameters, inputs)

    def image_pairs(self, pairs: Pairs) -> Pairs:
        """The pairs of the images, kept as in `latest_on` while the map is the same."""
        if pairs.X1 is not pairs.X2:
            return pairs.moved(self.image(pairs.X1), self._image_of_data(pairs.X2))
        own = [getattr(self, name) for name in self.map_fields]
        before, images = pairs.latest.get(type(self), (own, None))
        if images is None or not all(map(is_, before, own)):
            images = super().image_pairs(pairs)
            pairs.latest[type(self)] = own, images
        return images

    def _image_of_data(self, X: Points) -> Points:
        """The image of points that others are paired with again and again; the latest is kept."""
        before, image = self._latest_image
        if before is not X:
            image = self.image(X)
            vars(self)["_latest_image"] = X, image
        return image

    @cached_property
    def _latest_image(self) -> tuple[Points | None, Points]:
        return None, np.empty(0)

    def diag(self, X: Points) -> Vector:
        if self.kernel.is_stationary:  # the same at every point, so that none has to be mapped
            return self.kernel.diag(np.zeros((len(X), self.image_dimension(X.shape[1]))))
        if self.members:
            return np.stack([one.diag(X) for one in self.members])
        return super().diag(X)

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        if self.kernel.is_stationary:
            return np.zeros_like(X)
        if self.members:
            bars = zip(self.members, diag_bar, strict=True)
            return np.sum([one.pull_diag(X, bar) for one, bar in bars], axis=0)
        return super().pull_diag(X, diag_bar)


class Combination(Kernel):
    """A function of the covariances of several `kernels` on the same points.

    `values` are those of the kernels: matrices over pairs (`axes` = 2), or diagonals (`axes` = 1).
    """

    kernels: tuple[Kernel, ...]
    stationary = True
    passes_expectation = True
    multiplies: ClassVar[bool] = False  # whether values of one kernel are multiplied by another's

    def children(self) -> tuple[Kernel, ...]:
        return self.kernels

    def with_children(self, children: tuple[Kernel, ...]) -> Self:
        return changed(self, kernels=children)

    @abstractmethod
    def combined(self, values: Sequence[Matrix], axes: int) -> Matrix:
        """The value from those of the kernels."""

    @abstractmethod
    def pull_combined(self, bar: Matrix, values: Sequence[Matrix], axes: int) -> Sequence[Matrix]:
        """The gradients in the values from that in the combined value."""

    def expected(self, leaf: type[RBF]) -> Kernel | None:
        """The mean of a product is the product of means if one factor at most sees the numbers."""
        if self.multiplies and sum(kernel.sees_numbers for kernel in self.kernels) > 1:
            return None
        return super().expected(leaf)

    def own_bars(self, K_bar: Matrix, Ks: Sequence[Matrix]) -> dict[str, float]:
        """The gradients in the numbers of the combination itself, by field."""
        return {}

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        if len(self.kernels) > 1:
            parts = [latest_on(kernel, pairs, i) for i, kernel in enumerate(self.kernels)]
        else:  # whose covariances may be returned as they are, and then be overwritten
            parts = [kernel.on(pairs) for kernel in self.kernels]
        Ks, pulls = zip(*parts, strict=True)

        def parameters(K_bar: Matrix) -> Kernel:
            bars = zip(pulls, self.pull_combined(K_bar, Ks, 2), strict=True)
            kernels = tuple(pull.parameters(bar) for pull, bar in bars)
            return changed(self, **self.own_bars(K_bar, Ks), kernels=kernels)

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            bars = zip(pulls, self.pull_combined(K_bar, Ks, 2), strict=True)
            return sum_inputs([pull.inputs(bar) for pull, bar in bars])

        return self.combined(Ks, 2), Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        return self.combined([kernel.diag(X) for kernel in self.kernels], 1)

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        bars = self.pull_combined(diag_bar, [kernel.diag(X) for kernel in self.kernels], 1)
        pairs = zip(self.kernels, bars, strict=True)
        return np.sum([kernel.pull_diag(X, bar) for kernel, bar in pairs], axis=0)

    def scales(self, dimension: int) -> Vector:
        return reduce(np.minimum, [kernel.scales(dimension) for kernel in self.kernels])


def sum_inputs(bars: Sequence[tuple[Points, Points]]) -> tuple[Points, Points]:
    """Input gradients of several kernels on the same pairs, added up."""
    ones, twos = zip(*bars, strict=True)
    return np.sum(ones, axis=0), np.sum(twos, axis=0)
