"""Weighted points around a point that represent Gaussian noise.

The covariance is the sum of the outer products of q directions. For q ≥ 3 the points are the
symmetric set of the unscented transform, two in each direction [Julier & Uhlmann 1997; κ = 0].
For q ≤ 2 that set is so small that an optimum narrower than the noise gets half of the weight or
none: there the points are the nodes of Gauss-Hermite quadrature. All weights are positive; the
moments of the noise are exact up to the third at least.
"""

from __future__ import annotations

__all__ = ["NoisePoints"]

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from outcrop.surrogates.noisy.input_noise import roots
from outcrop.surrogates.noisy.unscented import Unscented
from outcrop.typing import Mask, Matrix, Points, Vector

NODES = {1: 9, 2: 5}  # quadrature nodes per direction, by the number of directions


@dataclass(frozen=True, eq=False)
class NoisePoints:
    """The same `S` shifts for each of `m` points `X`; arrays over all have `m·S` rows in order.

    `numbers` are the columns without codes. `active` tells which entries of points are active;
    inactive ones are not shifted.
    """

    covariance: Matrix  # (D, D)
    shifts: Points  # (S, D)
    weights: Vector  # (S,)
    numbers: tuple[int, ...]
    active: Callable[[Points], Mask] | None = None

    @classmethod
    def of(
        cls,
        covariance: Matrix,
        numbers: tuple[int, ...] | None = None,
        active: Callable[[Points], Mask] | None = None,
    ) -> NoisePoints:
        """The points for noise with this covariance, which has a nonzero entry."""
        root = roots(covariance[None])[0]
        q = len(root)
        if q in NODES:
            nodes, weights = np.polynomial.hermite_e.hermegauss(NODES[q])
            shifts = np.array(list(product(nodes, repeat=q))) @ root
            weights = np.prod(list(product(weights / weights.sum(), repeat=q)), axis=1)
        else:
            shifts, weights = Unscented().shifts(root), np.full(2 * q, Unscented().weight(q))
        numbers = tuple(range(len(covariance))) if numbers is None else numbers
        return cls(covariance, shifts, weights, numbers, active)

    def __len__(self) -> int:
        return len(self.weights)

    def points(self, X: Points) -> Points:
        """All points around the rows of `X`, `(m·S, D)`."""
        shifts = np.broadcast_to(self.shifts, (len(X), *self.shifts.shape))
        if self.active is not None:
            shifts = np.where(self.active(X)[:, None, :], shifts, 0.0)
        return (X[:, None, :] + shifts).reshape(-1, X.shape[1])

    def average(self, values: Matrix) -> Matrix:
        """The weighted means `(m, …)` of `values` `(m·S, …)` at all points."""
        return np.tensordot(self.weights, values.reshape(-1, len(self), *values.shape[1:]), (0, 1))

    def scatter(self, bars: Matrix) -> Matrix:
        """The gradient in the values `(m·S, …)` from that in their averages `(m, …)`."""
        weights = self.weights[(None, ..., *(None,) * (bars.ndim - 1))]
        return (weights * bars[:, None]).reshape(-1, *bars.shape[1:])

    def gather(self, bars: Points) -> Points:
        """The gradient in `X`, `(m, D)`, from that in all points around it."""
        return bars.reshape(-1, len(self), bars.shape[1]).sum(1)
