"""Fixed points of a map between vectors of variances, also where plain iteration oscillates.

Iterating v ← F(v) follows the flow dv/dt = F(v) − v in steps of 1, which are too long where F falls
steeply. Here the flow is followed by implicit Euler steps,

    (1 + 1/Δt) δ − F′(v) δ = F(v) − v,

so short that no entry loses more than a share of itself, and longer as the flow comes to rest: the
last ones are Newton steps. A flow may stall where there is almost a fixed point but none; another
start, or shorter steps, then lead elsewhere.
"""

from __future__ import annotations

__all__ = ["TOLERANCE", "FixedPoint", "fixed_point"]

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.linalg.lapack import dgesv

from outcrop.typing import Matrix, Vector

TOLERANCE = 1e-6
# Tried in turn until one converges: the share of the vector to start from, the change of the
# quickest entry at which Δt is kept, and the most steps.
ATTEMPTS = ((1.0, 2.0, 50), (1e-2, 2.0, 50), (1e-4, 2.0, 50), (1.0, 0.3, 300))
FALL, RISE = 0.9, 3.0  # by how much of itself an entry may change in one step
SHORTER, LONGER = 0.3, 5.0  # by how much Δt may change from step to step
LONGEST = 1e12
RETRIES = 30  # each makes Δt 0.4 times as long

Map: TypeAlias = Callable[[Vector], tuple[Vector, Callable[[], Matrix]]]  # v -> F(v), F′(v)


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """`value`, the largest relative error of its entries, and the number of steps made."""

    value: Vector
    residual: float
    steps: int

    @property
    def has_converged(self) -> bool:
        return self.residual <= TOLERANCE


def fixed_point(function: Map, start: Vector, scale: Vector) -> FixedPoint:
    """Where |F(v) − v| ≤ `TOLERANCE` (`scale` + v) in every entry.

    Returns the best vector found, converged or not.
    """
    best, steps = FixedPoint(start, np.inf, 0), 0
    for share, pace, most in ATTEMPTS:
        found = _followed(function, share * start, scale, pace, most)
        steps += found.steps
        best = min(best, found, key=lambda one: one.residual)
        if best.has_converged:
            break
    return replace(best, steps=steps)


def _followed(function: Map, start: Vector, scale: Vector, pace: float, most: int) -> FixedPoint:
    """The best vector found from `start`."""
    v, dt = start, 1.0
    best = FixedPoint(v, np.inf, 0)
    one = np.eye(len(v))
    for step in range(1, most + 1):
        image, slope = function(v)
        error, size = image - v, scale + v
        residual = float((np.abs(error) / size).max(initial=0.0))
        if residual < best.residual:
            best = FixedPoint(v, residual, step)
        if residual <= TOLERANCE:
            break
        own = slope()
        for _ in range(RETRIES):
            _, _, move, failed = dgesv((1 + 1 / dt) * one - own, error)
            change = move / size
            if not failed and change.max() <= RISE and change.min() >= -FALL:
                break
            dt *= 0.4
        v = np.maximum(v + move, 0.0)
        quickest = max(float(np.abs(change).max()), 1e-9)
        dt = min(dt * float(np.clip(pace / quickest, SHORTER, LONGER)), LONGEST)
    return replace(best, steps=step)
