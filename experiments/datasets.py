"""The data files under `experiments/data`, as arrays.

Every folder there has a README with the source and licence of its files. `X` is `(n, d)`, `y`
`(n,)`.
"""

from __future__ import annotations

__all__ = [
    "DATA",
    "binary_classification",
    "binary_names",
    "boston_housing",
    "climate_crashes",
    "columns",
    "yacht_hydrodynamics",
]

from pathlib import Path

import numpy as np

from outcrop.typing import Matrix, Vector

DATA = Path(__file__).parent / "data"


def columns(file: str, names: list[str] | None = None) -> dict[str, Vector]:
    """Columns of a CSV file below `DATA` by their header; all of them, or only `names`."""
    path = DATA / file
    with path.open(encoding="utf-8") as lines:
        header = lines.readline().strip().split(",")
    wanted = names or header
    table = np.loadtxt(
        path, delimiter=",", skiprows=1, usecols=[header.index(name) for name in wanted], ndmin=2
    )
    return dict(zip(wanted, table.T, strict=True))


def boston_housing() -> tuple[Matrix, Vector]:
    """506 suburbs, 13 features; the target is the median value of a house in thousand dollars."""
    return _features_and_target("boston_housing/boston_housing.csv")


def yacht_hydrodynamics() -> tuple[Matrix, Vector]:
    """308 hulls, 6 features; the target is the residuary resistance."""
    return _features_and_target("yacht_hydrodynamics/yacht_hydrodynamics.csv")


def climate_crashes(bookkeeping: bool = False) -> tuple[Matrix, Vector]:
    """540 simulations, 18 scaled parameters; the label is 1 for success and 0 for a crash.

    `bookkeeping` puts the study and run numbers before the parameters, as a well-known benchmark
    does by reading the file whole.
    """
    X, y = _features_and_target("climate_crashes/climate_crashes.csv")
    return (X, y) if bookkeeping else (X[:, 2:], y)


def binary_names() -> list[str]:
    """The binary classification sets that `binary_classification` reads."""
    files = (DATA / "binary_classification").glob("*.csv")
    return sorted(file.stem for file in files)


def binary_classification(name: str) -> tuple[Matrix, Vector]:
    """One of the binary sets by its file name; labels are 0 and 1."""
    return _features_and_target(f"binary_classification/{name}.csv")


def _features_and_target(file: str) -> tuple[Matrix, Vector]:
    """The last column is the target."""
    *features, target = columns(file).values()
    return np.column_stack(features), target
