"""Points around a point that stand for noise around it.

With q directions whose outer products add up to the covariance, they are the symmetric set of the
unscented transform, two points in each direction, as soon as q ≥ 3 [Julier & Uhlmann 1997; κ = 0].
In one or two directions that would be so few that an optimum narrower than the noise is met by half
of the weight or missed: there they are the nodes of Gauss-Hermite quadrature. All weights are
positive, and give the moments of the noise up to the third at least.
"""

from __future__ import annotations

__all__ = ["Surroundings"]

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from outcrop.surrogates.noisy.input_noise import roots
from outcrop.surrogates.noisy.unscented import Unscented
from outcrop.typing import Mask, Matrix, Points, Vector

NODES = {1: 9, 2: 5}  # in each of so many directions


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The same `S` points around each of `m` points `X`; `m·S` rows belong together in order.

    `numbers` are the columns that are no codes. `active` tells which entries count: what does not
    is not moved.
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
    ) -> Surroundings:
        """Those of noise with this covariance, which is not all 0."""
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
        """Of `values` `(m·S, …)` at all points, `(m, …)`."""
        return np.tensordot(self.weights, values.reshape(-1, len(self), *values.shape[1:]), (0, 1))

    def scatter(self, bars: Matrix) -> Matrix:
        """How a gradient in averages `(m, …)` travels back to the values, `(m·S, …)`."""
        weights = self.weights[(None, ..., *(None,) * (bars.ndim - 1))]
        return (weights * bars[:, None]).reshape(-1, *bars.shape[1:])

    def gather(self, bars: Points) -> Points:
        """How a gradient in all points travels back to those they are around, `(m, D)`."""
        return bars.reshape(-1, len(self), bars.shape[1]).sum(1)
