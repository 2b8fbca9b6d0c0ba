"""Where values were obtained: encoded inputs and their covariances, from `at` and input noise."""

from __future__ import annotations

__all__ = ["covariances", "positions"]

from collections.abc import Mapping

import numpy as np

from outcrop.space import Float, Int, Space
from outcrop.space.noise import position, share
from outcrop.study.trial import Trial
from outcrop.typing import Matrix, Points


def positions(space: Space, X: Points, told: Mapping[int, Trial]) -> Points | None:
    """The encoded inputs at which the values asked for at `X` were obtained; None if they are `X`.

    `told` are the trials with `at` or `at_std`, by row. The inputs need not be legal points: they
    may lie off a grid and outside the bounds.
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
    """Covariances of the inputs, in units of the unit cube; None if all inputs are exact.

    Variances `(n, D)` if noise is independent between columns, else matrices `(n, D, D)`. For a
    number with `at` or `at_std`, these replace the space's noise: `at` without `at_std` is exact.
    Inactive parameters are exact too.
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
            own[row, columns[name].index] = share(number, std) ** 2
    variances = np.where(kept, base.diagonal(), own)
    if (base == np.diag(base.diagonal())).all():
        return variances
    matrices = np.where(kept[:, :, None] & kept[:, None, :], base, 0.0)
    np.einsum("nii->ni", matrices)[...] = variances
    return matrices
