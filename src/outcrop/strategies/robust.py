"""Robust optimisation: the belief about the average of an objective over input noise."""

from __future__ import annotations

__all__ = ["averaged"]

from dataclasses import replace

from outcrop.space import Space
from outcrop.surrogates import Mixture
from outcrop.surrogates.robust import AveragedPosterior, NoisePoints
from outcrop.typing import Points


def averaged(belief: Mixture, space: Space, X: Points) -> Mixture:
    """`belief` with every component averaged; the incumbent is the best average at rows of `X`.

    Without input noise, as in one level of a hierarchical search, it is `belief` itself.
    """
    if not space.has_input_noise:
        return belief
    numbers = tuple(column.index for column in space.columns if not column.is_code)
    is_conditional = any(column.conditions for column in space.columns)
    active = space.active if is_conditional else None
    around = NoisePoints.of(space.unit_covariance, numbers, active)
    parts = tuple(AveragedPosterior(part, around, X) for part in belief.components)
    return replace(belief, components=parts)
