"""The arc kernel of conditional spaces: an inactive parameter differs from all its values."""

from __future__ import annotations

__all__ = ["Arc", "ArcEmbedding"]

from dataclasses import dataclass

import numpy as np

from outcrop.baselines.branch_processes import DenseBranches
from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels import Conditional, Matern52, Offset, Overlap, Product, Scaled, Subspace
from outcrop.kernels.base import Kernel, Pull
from outcrop.kernels.stationary import positive_vector
from outcrop.kernels.within import holding
from outcrop.kernels.wrappers import LearntMap
from outcrop.params import Free, free
from outcrop.priors import Gamma, Uniform
from outcrop.surrogates.situation import Situation
from outcrop.typing import Conditions, Mask, Matrix, Points, Vector

RADII = Gamma(3.0, 2.0)
ANGLES = Uniform(0.1, 0.9)
UNIT = (1.0,)


@dataclass(frozen=True, eq=False)
class ArcEmbedding(LearntMap):
    """`kernel` of an embedding in which an irrelevant parameter differs from all its values.

        gᵢ(x) = ωᵢ (sin πρᵢxᵢ, cos πρᵢxᵢ) where parameter i is relevant, (0, 0) elsewhere

    The values of a parameter lie on an arc of radius ωᵢ around the image of points without it
    [Swersky et al. 2014]. `columns` are those of the parameters; `conditions` has for each of them
    the conditions under which it is relevant, () if it always is.

        ArcEmbedding((1, 2), ((), ((0, 1),)), [1.0, 0.7], [0.5, 0.5], Matern52([1.0]))
    """

    columns: tuple[int, ...]
    conditions: tuple[Conditions, ...]
    radii: Vector  # ω, (d,)
    angles: Vector  # ρ, (d,), each in (0, 1)
    kernel: Kernel  # of 2 d dimensions
    map_fields = "radii", "angles", "columns", "conditions"

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

    def map_bars(self, pairs: Pairs, images: Pairs, pull: Pull, K_bar: Matrix) -> dict[str, Vector]:
        both = Pairs(images.X1, images.X2)  # with gradients on both sides
        bars = self.kernel.on(both)[1].inputs(K_bar)
        radii_bar, angles_bar = np.zeros((2, len(self.radii)))
        sides = zip((pairs.X1, pairs.X2), (images.X1, images.X2), bars, strict=True)
        for X, W, W_bar in sides:
            radii_bar += _halves((W_bar * W).sum(0)) / self.radii
            angles_bar += np.pi * (X[:, self.columns] * self._turned(W, W_bar)).sum(0)
        return {"radii": radii_bar, "angles": angles_bar}

    def scales(self, dimension: int) -> Vector:
        """The change of a parameter that moves its image by 1 along the arc."""
        whole = np.ones((*self.radii.shape[:-1], dimension))
        whole[..., self.columns] = 1 / (np.pi * self.radii * self.angles)
        return whole

    def image_dimension(self, dimension: int) -> int:
        return 2 * len(self.columns)

    def image(self, X: Points) -> Points:
        """Sines, then cosines, `(n, 2 d)`."""
        relevant: Mask = holding(self.conditions, X)
        turn = np.pi * self.angles * X[:, self.columns]
        radii = np.where(relevant, self.radii, 0.0)
        return np.hstack([radii * np.sin(turn), radii * np.cos(turn)])

    def pull_image(self, X: Points, image_bar: Points) -> Points:
        X_bar = np.zeros_like(X)
        X_bar[:, self.columns] = np.pi * self.angles * self._turned(self.image(X), image_bar)
        return X_bar

    def _turned(self, W: Points, W_bar: Points) -> Points:
        """The gradient in the angles πρx, `(n, d)`, from that in the images."""
        d = len(self.radii)
        return W_bar[:, :d] * W[:, d:] - W_bar[:, d:] * W[:, :d]


def _halves(total: Vector) -> Vector:
    """The sum over sine and cosine of each column."""
    return total[: len(total) // 2] + total[len(total) // 2 :]


@dataclass(frozen=True)
class Arc(DenseBranches):
    """One Gaussian process with the arc kernel, see `ArcEmbedding`.

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
