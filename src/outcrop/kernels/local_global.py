"""Local kernels in regions and a global one elsewhere, with different lengthscales.

    k(x, x') = Σᵢ λᵢ(x) λᵢ(x') kᵢ(x, x'),    λᵢ² = νᵢ / Σⱼ νⱼ        [Martinez-Cantin 2015, § 2]

Each region i has its centre cᵢ and its kernel kᵢ; the last kernel of the sum is the global
one. A ratio of densities overflows in many dimensions, so ν is computed as its logarithm,

    ln νᵢ = levelᵢ − rateᵢ r²,    r² = |x − cᵢ|²

Shapes: `logs` (ln ν) and `weights` (λ) are `(regions + 1, …, n)`, with the axis of stacked kernels,
if there is one, in the middle.
"""

from __future__ import annotations

__all__ = ["Region", "LocalGlobal"]

from dataclasses import dataclass
from operator import is_
from typing import NamedTuple, Self

import numpy as np

from outcrop.data import Pairs, summed
from outcrop.errors import ModelError, ShapeError
from outcrop.kernels.base import FeatureMap, Kernel, Pull, latest_on, lifted
from outcrop.kernels.stationary import positive_number
from outcrop.kernels.wrappers import sum_inputs
from outcrop.params import Free, changed, shaped
from outcrop.typing import Matrix, Points, Rng, Vector

HEIGHT = 4.0  # ln ν at a centre: λ² is 0.98 there, and ½ at a distance of `width` per dimension
NOWHERE = 1e100  # a centre so far away that its region has weight 0


@dataclass(frozen=True, eq=False)
class Region:
    """A region with a kernel of its own; see `LocalGlobal` for the meaning of the width."""

    centre: Vector  # (d,)
    width: float
    kernel: Kernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", positive_number("Region", "width", self.width))
        if not isinstance(self.centre, Free):
            centre = np.atleast_1d(np.asarray(self.centre, dtype=float))
            if centre.ndim != 1 or not len(centre) or not np.isfinite(centre).all():
                raise ModelError(
                    f"Region(centre={self.centre!r}): expected finite numbers, one per dimension"
                )
            object.__setattr__(self, "centre", centre)


@dataclass(frozen=True, eq=False)
class LocalGlobal(Kernel):
    """Kernels of regions around their centres, and another one elsewhere.

        LocalGlobal((Region([0.2, 0.7], 0.2, Matern52(0.1)),), Matern52(0.8))

    With `spread` None a region has ln ν = 4 (1 − r²/(d width²)), and elsewhere ν is 1. With a
    number, ν are normal densities, as in the paper: with the standard deviation `width` around the
    centre of a region, and `spread` around the middle of the cube for elsewhere.
    """

    regions: tuple[Region, ...]
    elsewhere: Kernel
    spread: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.regions, tuple) or not self.regions:
            raise ModelError(
                f"LocalGlobal(regions={self.regions!r}): expected a tuple of at least one Region"
            )
        if self.spread is not None:
            spread = positive_number("LocalGlobal", "spread", self.spread)
            object.__setattr__(self, "spread", spread)

    def children(self) -> tuple[Kernel, ...]:
        return (*(region.kernel for region in self.regions), self.elsewhere)

    def with_children(self, children: tuple[Kernel, ...]) -> Self:
        *local, elsewhere = children
        pairs = zip(self.regions, local, strict=True)
        regions = tuple(changed(region, kernel=kernel) for region, kernel in pairs)
        return changed(self, regions=regions, elsewhere=elsewhere)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        parts = [latest_on(kernel, pairs, i) for i, kernel in enumerate(self.children())]
        Ks, pulls = zip(*parts, strict=True)
        u1, u2, shares = self._shares(pairs)
        K = shares[0] * Ks[0]
        for share, inner in zip(shares[1:], Ks[1:], strict=True):
            K += share * inner

        def pull_weights(K_bar: Matrix) -> tuple[_WeightsBar, _WeightsBar]:
            bars = K_bar * np.stack(Ks)
            u1_bar = (bars @ u2[..., None])[..., 0]
            u2_bar = (u1[..., None, :] @ bars)[..., 0, :]
            return self._pull(pairs.X1, u1, u1_bar), self._pull(pairs.X2, u2, u2_bar)

        def parameters(K_bar: Matrix) -> Kernel:
            one, two = pull_weights(K_bar)
            inner = [
                pull.parameters(share * K_bar) for pull, share in zip(pulls, shares, strict=True)
            ]
            regions = tuple(
                shaped(
                    region,
                    centre=one.centres[i] + two.centres[i],
                    width=one.widths[i] + two.widths[i],
                    kernel=inner[i],
                )
                for i, region in enumerate(self.regions)
            )
            spread = None if self.spread is None else one.widths[-1] + two.widths[-1]
            return shaped(self, regions=regions, elsewhere=inner[-1], spread=spread)

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            one, two = pull_weights(K_bar)
            bars = [pull.inputs(share * K_bar) for pull, share in zip(pulls, shares, strict=True)]
            X1_bar, X2_bar = sum_inputs([*bars, (one.X, two.X)])
            return X1_bar, X2_bar if pairs.second_moves else np.zeros_like(pairs.X2)

        return K, Pull(parameters, inputs)

    def _shares(self, pairs: Pairs) -> tuple[Matrix, Matrix, list[Matrix]]:
        """The weights at both ends of pairs, and their products; kept as in `latest_on`."""
        numbers = [self.spread, *(n for one in self.regions for n in (one.centre, one.width))]
        before, found = pairs.latest.get(LocalGlobal, ((), None))
        if found is None or len(before) != len(numbers) or not all(map(is_, before, numbers)):
            u1 = self.weights(pairs.X1)
            u2 = u1 if pairs.X1 is pairs.X2 else self.weights(pairs.X2)
            found = u1, u2, [pairs.products(one, two) for one, two in zip(u1, u2, strict=True)]
            pairs.latest[LocalGlobal] = numbers, found
        return found

    def diag(self, X: Points) -> Vector:
        parts = zip(self.children(), self.weights(X), strict=True)
        return np.sum([weight**2 * kernel.diag(X) for kernel, weight in parts], axis=0)

    def pull_diag(self, X: Points, diag_bar: Vector) -> Points:
        weights = self.weights(X)
        parts = [*zip(self.children(), weights, strict=True)]
        bars = [kernel.pull_diag(X, weight**2 * diag_bar) for kernel, weight in parts]
        weights_bar = np.stack([2 * weight * kernel.diag(X) * diag_bar for kernel, weight in parts])
        return np.sum([*bars, self._pull(X, weights, weights_bar).X], axis=0)

    def grounded(self, X: Points) -> Self:
        """Regions without observations get weight 0.

        Without data the likelihood does not depend on a region, so a sampler puts many there, and
        each would raise the uncertainty where other draws predict well. Weights that are normal
        densities stay as in the paper.
        """
        inner = super().grounded(X)
        if self.spread is not None:
            return inner
        regions = []
        for region in inner.regions:
            r2 = np.square(X - region.centre).sum(1)
            is_empty = not (r2 <= X.shape[1] * region.width**2).any()
            nowhere = np.full(X.shape[1], NOWHERE)
            regions.append(changed(region, centre=nowhere) if is_empty else region)
        return changed(inner, regions=tuple(regions))

    def scales(self, dimension: int) -> Vector:
        return np.min([kernel.scales(dimension) for kernel in self.children()], axis=0)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        """Random functions of the parts times their weights: independent, so mean products add."""
        maps = [kernel.features(rng, count, dimension) for kernel in self.children()]

        def values(X: Points) -> Matrix:
            parts = zip(maps, self.weights(X), strict=True)
            return np.sum([weight[:, None] * part.values(X) for part, weight in parts], axis=0)

        def pull(X: Points, values_bar: Matrix) -> Points:
            weights = self.weights(X)
            weights_bar = np.stack([(values_bar * part.values(X)).sum(1) for part in maps])
            parts = zip(maps, weights, strict=True)
            bars = [part.pull(X, weight[:, None] * values_bar) for part, weight in parts]
            return np.sum([*bars, self._pull(X, weights, weights_bar).X], axis=0)

        return FeatureMap(values, pull)

    def weights(self, X: Points) -> Matrix:
        """λ of each region and of elsewhere, `(regions + 1, n)`; their squares sum to 1."""
        logs = [place.level - place.rate * place.r2 for place in self._places(X)]
        if self.spread is None:
            logs.append(np.zeros_like(logs[0]))
        exponents = np.stack(logs)
        exponents -= exponents.max(0)
        shares = np.exp(exponents, out=exponents)
        return np.sqrt(shares / shares.sum(0))

    def _pull(self, X: Points, weights: Matrix, weights_bar: Matrix) -> _WeightsBar:
        """The gradients in the places and in `X` from that in the weights at `X`."""
        halves = 0.5 * weights * weights_bar  # the gradient in ln λ²
        logs_bar = halves - weights**2 * halves.sum(0)
        centres, widths, X_bar = [], [], np.zeros_like(X)
        for place, bar in zip(self._places(X), logs_bar, strict=False):
            away_bar = (-2 * place.rate * bar)[..., None] * place.away
            X_bar += summed(away_bar)
            centres.append(-away_bar.sum(-2))
            slope = place.level_slope + 2 * place.rate / place.width * place.r2
            widths.append((bar * slope).sum(-1))
        return _WeightsBar(centres, widths, X_bar)

    def _places(self, X: Points) -> list[_Place]:
        """The regions relative to `X`, and the global kernel if `spread` gives it a place."""
        normal = self.spread is not None
        places = [_place(X, region.centre, region.width, normal) for region in self.regions]
        if self.spread is not None:
            places.append(_place(X, np.full(X.shape[1], 0.5), self.spread, normal))
        return places


class _WeightsBar(NamedTuple):
    """Gradients from the weights: in the centre and width of each place, and in the points."""

    centres: list[Vector]
    widths: list[float]
    X: Points


class _Place(NamedTuple):
    """A place relative to the points; numbers are `(…, 1)` in a stack of kernels."""

    away: Points  # x − c, (…, n, d)
    r2: Matrix  # (…, n)
    width: float | Vector
    rate: float | Vector
    level: float | Vector
    level_slope: float | Vector  # ∂ level / ∂ width; that of the rate is −2 rate / width


def _place(X: Points, centre: Vector, width: float, normal: bool) -> _Place:
    dimension = X.shape[1]
    if centre.shape[-1] != dimension:
        raise ShapeError(
            f"a region's centre has {centre.shape[-1]} dimensions, the points have {dimension}"
        )
    away = X - centre[..., None, :]
    r2 = np.einsum("...ij,...ij->...i", away, away)
    width = lifted(width, 1)
    if normal:
        level, level_slope = -dimension * np.log(width), -dimension / width
        return _Place(away, r2, width, 0.5 / width**2, level, level_slope)
    return _Place(away, r2, width, HEIGHT / (dimension * width**2), HEIGHT, 0.0)
