"""The unscented transform: moments of a function of a random vector, from a few points.

The symmetric set of 2q + 1 points around the mean, in q directions whose outer products add up to
the covariance, in van der Merwe's form: with q + k = α² (q + κ)

    spread √(q + k),    W₀ = k / (q + k),    Wᵢ = 1 / (2 (q + k))

[Alvi 2019, section 3.5, where α is counted twice and Wᵢ is misprinted]. A small α makes W₀ a large
negative number; so everything here is made of differences from the central point, without W₀:
Σ W f = f₀ + Wᵢ Σ (fᵢ − f₀).
"""

from __future__ import annotations

__all__ = ["Unscented"]

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from typing import Literal, TypeAlias

import numpy as np

from outcrop.errors import ModelError
from outcrop.typing import Matrix, Points, Vector

Rule: TypeAlias = Literal["thesis", "moment"]
# (mean_bar, var_bar) -> gradients in what was combined
CombinedPull: TypeAlias = Callable[[Vector, Vector], tuple[Vector, Vector, Matrix, Matrix]]

FLOOR = 1e-6  # of the central variance: the rounding level of a combined variance


@dataclass(frozen=True)
class Unscented:
    """The points of the transform and their weights, all positive for α = 1, κ = 0.

    >>> Unscented().weight(2)
    0.25
    """

    alpha: float = 1.0
    beta: float = 2.0  # for Gaussians: then the variance is exact for functions of second order
    kappa: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.alpha < inf:
            raise ModelError(f"alpha={self.alpha!r}: expected a number above 0")
        if not 0 <= self.kappa < inf:
            raise ModelError(f"kappa={self.kappa!r}: expected a number of at least 0")
        if not -inf < self.beta < inf:
            raise ModelError(f"beta={self.beta!r}: expected a finite number")

    def spread(self, q: int) -> float:
        """The distance of the points from the mean, in standard deviations."""
        return self.alpha * sqrt(q + self.kappa)

    def weight(self, q: int) -> float:
        """The weight of each point but the central one."""
        return 1 / (2 * self.alpha**2 * (q + self.kappa))

    def weights(self, q: int) -> Vector:
        """The weights of all 2q + 1 points, the central one first; their sum is 1."""
        each = self.weight(q)
        return np.concatenate([[1 - 2 * q * each], np.full(2 * q, each)])

    def shifts(self, root: Points) -> Points:
        """From the mean to each of the 2q other points, for directions `root` `(q, d)`."""
        out = self.spread(len(root)) * root
        return np.concatenate([out, -out])

    def combined(
        self, q: int, mean: Vector, var: Vector, means: Matrix, variances: Matrix, rule: Rule
    ) -> tuple[Vector, Vector, CombinedPull]:
        """Mean and variance of a mixture with the weights of the transform, and their pullback.

        `mean` and `var` `(m,)` are those of the central member; `means` and `variances` `(2q, m)`
        are the *differences* of the others from it. With a negative central weight this is no
        mixture and its variance may come out negative; it is then at least the central one.
        """
        each = self.weight(q)
        share = 1.0 if 2 * q * each > 1 + 1e-12 else FLOOR
        of_squares, of_mean = 1.0, -1.0
        if rule == "thesis":  # adds the transform's own variance to that of the mixture
            of_squares, of_mean = 2.0, self.beta - self.alpha**2 - 1.0
        m = each * means.sum(0)
        total = var + each * variances.sum(0)
        total += of_squares * each * np.einsum("jm,jm->m", means, means) + of_mean * m**2
        least = share * var
        is_clipped = total < least

        def pull(mean_bar: Vector, var_bar: Vector) -> tuple[Vector, Vector, Matrix, Matrix]:
            open_bar = np.where(is_clipped, 0.0, var_bar)
            m_bar = mean_bar + 2 * of_mean * m * open_bar
            means_bar = each * (m_bar + 2 * of_squares * open_bar * means)
            variances_bar = np.broadcast_to(each * open_bar, variances.shape)
            central_bar = np.where(is_clipped, share * var_bar, var_bar)
            return mean_bar, central_bar, means_bar, variances_bar

        return mean + m, np.where(is_clipped, least, total), pull
