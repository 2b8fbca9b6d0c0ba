"""Gaussian processes that keep irrelevant parameters apart from all their values."""

from __future__ import annotations

__all__ = ["Arc", "ArcEmbedding"]

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from outcrop.baselines.dense_branches import DenseBranches
from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels import Conditional, Matern52, Offset, Overlap, Product, Scaled, Subspace
from outcrop.kernels.base import FeatureMap, Kernel, Pull
from outcrop.kernels.compose import sum_inputs
from outcrop.kernels.stationary import positive_vector
from outcrop.kernels.within import holding
from outcrop.params import Free, free, member, shaped, stacked
from outcrop.priors import Gamma, Uniform
from outcrop.surrogates.situation import Situation
from outcrop.typing import Conditions, Mask, Matrix, Points, Rng, Vector

RADII = Gamma(3.0, 2.0)
ANGLES = Uniform(0.1, 0.9)
UNIT = (1.0,)


@dataclass(frozen=True, eq=False)
class ArcEmbedding(Kernel):
    """`kernel` behind an embedding that keeps irrelevant parameters apart from all values.

        gᵢ(x) = ωᵢ (sin πρᵢxᵢ, cos πρᵢxᵢ) where parameter i is relevant, (0, 0) elsewhere

    Two values of a parameter lie on an arc of radius ωᵢ around the point of those who lack it
    [Swersky et al. 2014]. `columns` are those of the parameters; `conditions` has for each of them
    what must hold for it to be relevant, () if it always is.

        ArcEmbedding((1, 2), ((), ((0, 1),)), [1.0, 0.7], [0.5, 0.5], Matern52([1.0]))
    """

    columns: tuple[int, ...]
    conditions: tuple[Conditions, ...]
    radii: Vector  # ω, (d,)
    angles: Vector  # ρ, (d,), each in (0, 1)
    kernel: Kernel  # of 2 d dimensions

    def __post_init__(self) -> None:
        for name in ("radii", "angles"):
            value = positive_vector("ArcEmbedding", name, getattr(self, name))
            object.__setattr__(self, name, value)
            if not isinstance(value, Free) and len(value) != len(self.columns):
                raise ModelError(
                    f"ArcEmbedding({name}={value}): expected one for each of "
                    f"{len(self.columns)} columns"
                )
        if len(self.conditions) != len(self.columns):
            raise ModelError(
                f"ArcEmbedding(conditions={self.conditions!r}): expected one entry for each of "
                f"{len(self.columns)} columns, () where a column is always relevant"
            )

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        if self._members:
            Ks, pulls = zip(*(one.on(pairs) for one in self._members), strict=True)

            def of_each(K_bar: Matrix) -> tuple[Points, Points]:
                return sum_inputs([p.inputs(bar) for p, bar in zip(pulls, K_bar, strict=True)])

            def stacked_bars(K_bar: Matrix) -> Kernel:
                return stacked([p.parameters(bar) for p, bar in zip(pulls, K_bar, strict=True)])

            return np.stack(Ks), Pull(stacked_bars, of_each)
        W1 = self._embedded(pairs.X1)
        W2 = W1 if pairs.X1 is pairs.X2 else self._embedded(pairs.X2)
        K, pull = self.kernel.on(pairs.moved(W1, W2))

        def parameters(K_bar: Matrix) -> Kernel:
            every = Pairs(W1, W2)  # gradients of the embedding are wanted on both sides
            bars = self.kernel.on(every)[1].inputs(K_bar)
            radii_bar, angles_bar = np.zeros((2, len(self.radii)))
            for X, W, W_bar in zip((pairs.X1, pairs.X2), (W1, W2), bars, strict=True):
                radii_bar += _halves((W_bar * W).sum(0)) / self.radii
                angles_bar += np.pi * (X[:, self.columns] * self._turned(W, W_bar)).sum(0)
            return shaped(
                self,
                columns=self.columns,
                conditions=self.conditions,
                radii=radii_bar,
                angles=angles_bar,
                kernel=pull.parameters(K_bar),
            )

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            W1_bar, W2_bar = pull.inputs(K_bar)
            return self._pulled(pairs.X1, W1, W1_bar), self._pulled(pairs.X2, W2, W2_bar)

        return K, Pull(parameters, inputs)

    def diag(self, X: Points) -> Vector:
        if self._members:
            return np.stack([one.diag(X) for one in self._members])
        return self.kernel.diag(self._embedded(X))

    def scales(self, dimension: int) -> Vector:
        """How far a parameter moves until its image has moved by 1, along its arc."""
        whole = np.ones((*self.radii.shape[:-1], dimension))
        whole[..., self.columns] = 1 / (np.pi * self.radii * self.angles)
        return whole

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        values, pull = self.kernel.features(rng, count, 2 * len(self.columns))

        def pull_back(X: Points, values_bar: Matrix) -> Points:
            W = self._embedded(X)
            return self._pulled(X, W, pull(W, values_bar))

        return FeatureMap(lambda X: values(self._embedded(X)), pull_back)

    def _embedded(self, X: Points) -> Points:
        """Sines, then cosines, `(n, 2 d)`."""
        relevant: Mask = holding(self.conditions, X)
        turn = np.pi * self.angles * X[:, self.columns]
        radii = np.where(relevant, self.radii, 0.0)
        return np.hstack([radii * np.sin(turn), radii * np.cos(turn)])

    def _turned(self, W: Points, W_bar: Points) -> Points:
        """How a gradient in the images travels back to the turns πρx, `(n, d)`."""
        d = len(self.radii)
        return W_bar[:, :d] * W[:, d:] - W_bar[:, d:] * W[:, :d]

    def _pulled(self, X: Points, W: Points, W_bar: Points) -> Points:
        X_bar = np.zeros_like(X)
        X_bar[:, self.columns] = np.pi * self.angles * self._turned(W, W_bar)
        return X_bar

    @cached_property
    def _members(self) -> list[ArcEmbedding]:
        """The kernels of a stack, one by one: each moves the points to other places."""
        return [member(self, i) for i in range(len(self.radii))] if self.radii.ndim > 1 else []


def _halves(total: Vector) -> Vector:
    """The sum over sine and cosine of each column."""
    return total[: len(total) // 2] + total[len(total) // 2 :]


@dataclass(frozen=True)
class Arc(DenseBranches):
    """One process that keeps irrelevant parameters apart: see `ArcEmbedding`.

        oc.Method(surrogate=oc.baselines.Arc())

    Choices and categories are compared by an overlap kernel.
    """

    label = "arc GP"

    def kernel(self, situation: Situation) -> Kernel:
        space, priors = situation.space, situation.priors
        numbers = [column for column in space.columns if not column.is_code]
        codes = [column for column in space.columns if column.is_code]
        parts: list[Kernel] = []
        if numbers:
            parts.append(
                ArcEmbedding(
                    tuple(column.index for column in numbers),
                    tuple(column.conditions for column in numbers),
                    free(RADII, size=len(numbers)),
                    free(ANGLES, size=len(numbers)),
                    Matern52(UNIT),  # type: ignore[arg-type]
                )
            )
        overlap: Kernel = Subspace(
            tuple(column.index for column in codes),
            Overlap(free(priors.category_scales, size=len(codes))),
        )
        conditions = tuple((c.index, c.conditions, True) for c in codes if c.conditions)
        parts.append(Conditional(conditions, overlap) if conditions else overlap)
        return Offset(priors.level, Scaled(free(priors.amplitude), Product(tuple(parts))))
