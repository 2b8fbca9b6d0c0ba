"""Where is the ore richest? Problems that can be queried at listed locations only.

Stand-ins for the mining data of HTBO, which are not public. Concentrations are negated, so that the
richest location is the minimum. A search for it is one on the unit cube, `field.problem`, by a
maximiser that knows of no other points than the listed ones, `field.maximiser`.
"""

from __future__ import annotations

__all__ = ["TableProblem", "babbitt_copper", "walker_lake"]

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from experiments.datasets import columns
from outcrop.errors import ShapeError
from outcrop.maximise import Maximiser
from outcrop.maximise.base import Function, Scored
from outcrop.problems import Problem
from outcrop.space import Float, Space
from outcrop.typing import Matrix, Params, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class TableProblem:
    """Values at listed locations, called with the row number of a location.

    field = walker_lake()
    field.locations[7], field(7), field.problem(field.params(7))
    """

    name: str
    locations: Points  # (n, d)
    values: Vector  # (n,)
    source: str = ""

    def __post_init__(self) -> None:
        if self.locations.ndim != 2 or self.values.shape != (len(self.locations),):
            raise ShapeError(
                "expected locations (n, d) and values (n,), "
                f"got {self.locations.shape} and {self.values.shape}"
            )

    def __call__(self, row: int) -> float:
        return float(self.values[row])

    def __len__(self) -> int:
        return len(self.values)

    @property
    def dimension(self) -> int:
        return self.locations.shape[1]

    @property
    def minimum(self) -> float:
        return float(self.values.min())

    @property
    def minimiser(self) -> int:
        """The row of the first location that has the minimum."""
        return int(self.values.argmin())

    @cached_property
    def problem(self) -> Problem:
        """The search on the unit cube; a point has the value of the location nearest to it."""
        names = [f"x{i + 1}" for i in range(self.dimension)]
        return Problem(
            name=self.name,
            space=Space({name: Float(0.0, 1.0) for name in names}),
            function=lambda params: self(self.nearest(params)),
            minimum=self.minimum,
            minimisers=(self.params(self.minimiser),),
            tags=("listed",),
            source=self.source,
        )

    @property
    def maximiser(self) -> Maximiser:
        return Listed(locations=self.locations)

    def nearest(self, params: Params) -> int:
        """The row of the location nearest to a point of the unit cube."""
        point = np.array([params[f"x{i + 1}"] for i in range(self.dimension)])
        return int(np.square(self.locations - point).sum(1).argmin())

    def params(self, row: int) -> Params:
        """A location as a point of the unit cube."""
        return {f"x{i + 1}": x for i, x in enumerate(self.locations[row].tolist())}


@dataclass(frozen=True, eq=False)
class Listed(Maximiser):
    """Scores every listed point, and no other."""

    locations: Points = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        """Nothing to check: the numbers of the usual search have no meaning here."""

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None) -> Points:
        return self.locations

    def _search(
        self, function: Function, space: Space, rng: Rng, candidates: Points, scales: Vector
    ) -> Scored:
        return Scored.by(function, candidates)


def walker_lake(element: str = "v") -> TableProblem:
    """Every second row and column of the Walker Lake field of `element`, "u" or "v", in ppm.

    Of the four ways to take every second cell it is the one that keeps the field's maximum.
    """
    table = columns("geostatistics/walker_lake_exhaustive.csv")
    cells = np.column_stack([table["x_m"], table["y_m"]])
    grade = table[f"{element}_ppm"]
    kept = ((cells - cells[grade.argmax()]) % 2 == 0).all(1)
    return TableProblem(
        f"walker-lake-{element}",
        _on_unit_cube(cells[kept]),
        -grade[kept],
        source="Isaaks & Srivastava 1989; stands in for HTBO's Agromet",
    )


def babbitt_copper() -> TableProblem:
    """Copper grade, in per cent, of 2,123 drill-hole composites in three dimensions."""
    table = columns("geostatistics/babbitt_copper_100ft.csv", ["x_ft", "y_ft", "z_ft", "cu_pct"])
    *axes, grade = table.values()
    return TableProblem(
        "babbitt-copper",
        _on_unit_cube(np.column_stack(axes)),
        -grade,
        source="Natural Resources Research Institute TR-2003/21; stands in for HTBO's Brenda",
    )


def _on_unit_cube(points: Matrix) -> Points:
    """Each axis from its lowest to its highest coordinate mapped to [0, 1]."""
    low, high = points.min(0), points.max(0)
    return np.asarray((points - low) / (high - low))
