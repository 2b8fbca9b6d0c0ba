"""Observations with latent coordinates besides their points.

Observation i has latents hᵢ, `(q,)`, besides its point xᵢ; predictions are made at h = 0. For a
stationary kernel the latents are further inputs, with a typical lengthscale of the others:

    r² = Σᵢ (xᵢ − x'ᵢ)² / ℓᵢ² + |h − h'|² / ℓ²,    ℓ the geometric mean of the ℓᵢ

A kernel is given pairs with larger squared distances, so that every kernel made of stationary ones
works with latents unchanged, in all its forms.
"""

from __future__ import annotations

__all__ = ["LatentObservations", "LatentPairs"]

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np

from outcrop.data import Observations, Pairs, Triangle
from outcrop.errors import ShapeError
from outcrop.linalg import packed_indices
from outcrop.typing import Matrix, Points, Vector


@dataclass(frozen=True, eq=False)
class LatentPairs(Pairs):
    """The pairs `visible`, whose points also differ in latent coordinates."""

    visible: Pairs = field(kw_only=True)
    apart: Matrix = field(kw_only=True)  # |h − h'|² of each pair, or what broadcasts to it
    traced: list[Matrix] | None = None  # collects gradients in `apart`, if given

    @classmethod
    def of(cls, visible: Pairs, apart: Matrix, traced: list[Matrix] | None = None) -> LatentPairs:
        points = visible.X1, visible.X2, visible.second_moves
        return cls(*points, traced, visible=visible, apart=apart)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.visible.shape

    @property
    def mismatches(self) -> Matrix:
        return self.visible.mismatches

    def squared_distances(self, weights: Vector) -> Matrix:
        r2 = self.visible.squared_distances(weights)
        r2 += _middle(weights)[(..., *(None,) * len(self.shape))] * self.apart
        return r2

    def pull_weights(self, r2_bar: Matrix, weights: Vector) -> Vector:
        middle_bar = np.vdot(r2_bar, np.broadcast_to(self.apart, r2_bar.shape))
        hidden = middle_bar * _middle(weights) / (weights.shape[-1] * weights)
        return self.visible.pull_weights(r2_bar, weights) + hidden

    def pull_inputs(self, r2_bar: Matrix, weights: Vector) -> tuple[Points, Points]:
        if self.traced is not None:
            self.traced.append(r2_bar * _middle(weights))
        return self.visible.pull_inputs(r2_bar, weights)

    def mapped(self, key: Hashable, function: Callable[[Points], Points]) -> Pairs:
        return LatentPairs.of(self.visible.mapped(key, function), self.apart, self.traced)

    def moved(self, X1: Points, X2: Points) -> Pairs:
        return LatentPairs.of(self.visible.moved(X1, X2), self.apart, self.traced)

    def products(self, u1: Vector, u2: Vector) -> Matrix:
        return self.visible.products(u1, u2)


def _middle(weights: Vector) -> Vector:
    """The weight of a latent: 1/ℓ² of the geometric mean of lengthscales."""
    return np.exp(np.log(weights).mean(-1))


@dataclass(frozen=True, eq=False)
class LatentObservations(Observations):
    """Observations with latents; computations on points alone are shared with `visible`."""

    latents: Matrix = field(kw_only=True)  # (n, q); (k, n, q) stands for k models at once
    visible: Observations = field(kw_only=True)
    traced: list[Matrix] | None = field(default=None, kw_only=True)  # that of `pairs`

    @classmethod
    def of(
        cls, visible: Observations, latents: Matrix, traced: list[Matrix] | None = None
    ) -> LatentObservations:
        if latents.shape[-2] != len(visible):
            raise ShapeError(f"expected latents ({len(visible)}, q), got {latents.shape}")
        own = visible.X, visible.y, visible.noise
        return cls(*own, latents=latents, visible=visible, traced=traced)

    @cached_property
    def pairs(self) -> LatentPairs:
        differences = self.latents[:, None, :] - self.latents[None, :, :]
        apart = np.square(differences).sum(-1)
        return LatentPairs.of(self.visible.pairs, apart, self.traced)

    @cached_property
    def triangle(self) -> Triangle | LatentPairs | None:  # type: ignore[override]
        if self.visible.triangle is None:
            return None
        rows, columns, _ = packed_indices(len(self))
        columnwise = self.latents.T
        apart = np.square(columnwise[:, rows] - columnwise[:, columns]).sum(0)
        return LatentPairs.of(self.visible.triangle, apart)

    def against(self, X: Points) -> LatentPairs:
        norms = np.square(self.latents).sum(-1)
        return LatentPairs.of(self.visible.against(X), norms[..., None, :])

    def alike(self, others: Sequence[Observations]) -> LatentObservations | None:
        if super().alike(others) is None:
            return None
        # Covariances with points at h = 0 depend on the norms of latents only.
        same = cast(Sequence[LatentObservations], others)
        norms = [np.linalg.norm(other.latents, axis=-1) for other in same]
        return replace(self, latents=np.stack(norms)[:, :, None])

    def append(self, X: Points, y: Vector, noise: Vector | None = None) -> LatentObservations:
        """These observations and more, whose latents are 0."""
        visible = self.visible.append(X, y, noise)
        none = np.zeros((len(visible) - len(self), self.latents.shape[1]))
        return LatentObservations.of(visible, np.vstack([self.latents, none]))
