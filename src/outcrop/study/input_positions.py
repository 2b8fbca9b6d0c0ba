"""Where values were obtained: as asked for, give or take the noise of inputs, or as it was told."""

from __future__ import annotations

__all__ = ["covariances", "positions"]

from collections.abc import Mapping

import numpy as np

from outcrop.space import Float, Int, Space
from outcrop.space.noise import position
from outcrop.study.trial import Trial
from outcrop.typing import Matrix, Points


def positions(space: Space, X: Points, told: Mapping[int, Trial]) -> Points | None:
    """Encoded places of values asked for at `X`; None if all are as asked.

    `told` are the trials whose places were told, by row. Places need not be legal points: they may
    lie off a grid and beyond bounds.
    """
    if not any(trial.at for trial in told.values()):
        return None
    places = X.copy()
    columns = {column.name: column for column in space.columns}
    for row, trial in told.items():
        for name, value in (trial.at or {}).items():
            number = columns[name].parameter
            assert isinstance(number, Float | Int)
            if value != trial.params[name]:
                places[row, columns[name].index] = position(number, value)
    return places


def covariances(space: Space, X: Points, told: Mapping[int, Trial]) -> Matrix | None:
    """Of the places of all values, in units of the unit cube; None if nothing was said of them.

    Variances `(n, D)` if noise is independent from column to column, else `(n, D, D)`. What was
    told of a number stands in place of the space's noise: a place without a standard deviation is
    exact. So is what is inactive.
    """
    base = space.unit_covariance
    if not base.any() and not told:
        return None
    kept = space.active(X)
    own = np.zeros(X.shape)
    columns = {column.name: column for column in space.columns}
    for row, trial in told.items():
        for name in {**(trial.at or {}), **(trial.at_std or {})}:
            number = columns[name].parameter
            assert isinstance(number, Float | Int)
            kept[row, columns[name].index] = False
            std = (trial.at_std or {}).get(name, 0.0)
            own[row, columns[name].index] = (std / number.length) ** 2
    variances = np.where(kept, base.diagonal(), own)
    if (base == np.diag(base.diagonal())).all():
        return variances
    matrices = np.where(kept[:, :, None] & kept[:, None, :], base, 0.0)
    np.einsum("nii->ni", matrices)[...] = variances
    return matrices
