"""Problems made from other box problems: scaled, corrupted, rotated, shifted, in more dimensions.

The minimum of each variant is known. A variant's formula is a frozen value that contains the
formula it changes, so that variants can be nested.
"""

from __future__ import annotations

__all__ = [
    "ack",
    "bra",
    "cam",
    "corrupted_exponential",
    "corrupted_holder_table",
    "egg",
    "embedded",
    "mic",
    "ros",
    "rotated",
    "scaled",
]

from dataclasses import dataclass

import numpy as np

from outcrop.errors import ParamsError
from outcrop.problems import boxes
from outcrop.problems.base import Formula, Problem, box_problem
from outcrop.typing import Matrix, Vector

ALVI = "Alvi's thesis, Table 3.1, with the scales of its code"
SHIFT_MARGIN = 0.2  # from a rotated minimiser to the border of the unit cube, at least


def scaled(
    problem: Problem, divisor: float, name: str | None = None, source: str | None = None
) -> Problem:
    """`problem` with its box mapped to [−1, 1]^d and its values divided by `divisor`.

    Chapters 3 and 4 of Alvi's thesis state their results on functions scaled this way.
    """
    low, high = problem.bounds.T
    return box_problem(
        name or f"{problem.name}-scaled",
        ScaledFormula(
            problem.formula, centre=(low + high) / 2, reach=(high - low) / 2, divisor=divisor
        ),
        [(-1, 1)] * problem.dimension,
        minimum=None if problem.minimum is None else problem.minimum / divisor,
        minimisers=2 * problem.to_unit(problem.minimiser_points) - 1,
        tags=problem.tags,
        source=source or problem.source,
    )


@dataclass(frozen=True, eq=False)
class ScaledFormula:
    """x ↦ f(centre + reach · x) / divisor."""

    formula: Formula
    centre: Vector
    reach: Vector
    divisor: float

    def __call__(self, X: Matrix) -> Vector:
        return self.formula(self.centre + self.reach * X) / self.divisor


def ack(d: int = 5) -> Problem:
    """The thesis's Ackley: native box ±32.768, values divided by 20."""
    return scaled(boxes.ackley(d, low=-32.768, high=32.768), 20.0, f"ack-{d}", ALVI)


def mic(d: int = 5) -> Problem:
    """The thesis's Michalewicz, its values as they are."""
    return scaled(boxes.michalewicz(d), 1.0, f"mic-{d}", ALVI)


def egg() -> Problem:
    """The thesis's egg holder: values divided by 100."""
    return scaled(boxes.egg_holder(), 100.0, "egg-2", ALVI)


def bra() -> Problem:
    """The thesis's Branin: values divided by 300."""
    return scaled(boxes.branin(), 300.0, "bra-2", ALVI)


def cam() -> Problem:
    """The thesis's camel back: x1 doubled, x2 as it is, values divided by 5."""
    return scaled(boxes.six_hump_camel(x2_limit=1.0), 5.0, "cam-2", ALVI)


def ros() -> Problem:
    """The thesis's Rosenbrock: values divided by 50; the box [−2, 2]² is that of its chapter 5."""
    return scaled(boxes.rosenbrock(2), 50.0, "ros-2", ALVI)


def rotated(problem: Problem, seed: int) -> Problem:
    """A copy of `problem`, randomly rotated about its first minimiser, which is moved.

        g(u) = f(fold(u* + R (u − t)))

    on the unit cube, where R is a uniformly random rotation or reflection, t the new position of
    the minimiser u*, uniform on [0.2, 0.8]^d, and `fold` reflects points outside the cube into it.
    So g has only values that f has on its box, is as continuous as f, and has the same minimum.
    """
    if not problem.minimisers:
        raise ParamsError(f"{problem.name} has no known minimiser to rotate about; give it one")
    rng = np.random.default_rng(seed)
    anchors = problem.to_unit(problem.minimiser_points)
    turn = _random_rotation(problem.dimension, rng)
    place = rng.uniform(SHIFT_MARGIN, 1 - SHIFT_MARGIN, problem.dimension)
    copies = place + (anchors - anchors[0]) @ turn  # other minimisers, where they stay in the cube
    inside = ((copies >= 0) & (copies <= 1)).all(1)
    return box_problem(
        f"{problem.name}-rotated-{seed}",
        PlacedFormula(problem.formula, problem.bounds, problem.bounds, turn, anchors[0], place),
        problem.bounds,
        minimum=problem.minimum,
        minimisers=problem.from_unit(copies[inside]),
        tags=(*problem.tags, "rotated"),
        source=problem.source,
    )


def embedded(problem: Problem, dimension: int, seed: int, rotate: bool = False) -> Problem:
    """`problem` as a function on the unit cube of at least as many dimensions.

        g(u) = f(fold(u* + A (u − t)))

    The rows of A are different axes, or with `rotate` random orthonormal directions; along all
    others g is constant. The minimiser u* of f is moved as in `rotated`, so that in the dimension
    of `problem`, without `rotate`, it is a shifted copy.
    """
    if dimension < problem.dimension:
        raise ParamsError(
            f"embedded({problem.name}, dimension={dimension}): expected at least the "
            f"{problem.dimension} dimensions that the problem has"
        )
    if not problem.minimisers:
        raise ParamsError(f"{problem.name} has no known minimiser to shift; give it one")
    rng = np.random.default_rng(seed)
    whole = _random_rotation(dimension, rng) if rotate else rng.permutation(np.eye(dimension))
    place = rng.uniform(SHIFT_MARGIN, 1 - SHIFT_MARGIN, dimension)
    cube = np.array([(0.0, 1.0)] * dimension)
    anchor, turn = problem.to_unit(problem.minimiser_points)[0], whole[: problem.dimension]
    return box_problem(
        f"{problem.name}-in-{dimension}{'-rotated' if rotate else ''}-{seed}",
        PlacedFormula(problem.formula, problem.bounds, cube, turn, anchor, place),
        cube,
        minimum=problem.minimum,
        minimisers=place[None, :],
        tags=(*problem.tags, "embedded"),
        source=problem.source,
    )


@dataclass(frozen=True, eq=False)
class PlacedFormula:
    """A formula of d dimensions on a box of D: rotated about `anchor`, which is at `place`."""

    formula: Formula
    inner: Matrix  # (d, 2), the box of the formula
    outer: Matrix  # (D, 2), the box of the arguments
    turn: Matrix  # (d, D), with orthonormal rows
    anchor: Vector  # (d,), on the unit cube
    place: Vector  # (D,), on the unit cube

    def __call__(self, X: Matrix) -> Vector:
        low, width = self.outer[:, 0], self.outer[:, 1] - self.outer[:, 0]
        V = self.anchor + ((X - low) / width - self.place) @ self.turn.T
        low, width = self.inner[:, 0], self.inner[:, 1] - self.inner[:, 0]
        return self.formula(low + width * _fold(V))


def corrupted_holder_table() -> Problem:
    """Hölder table under a saw-tooth of height 5 and period 0.4 that vanishes at its minima."""
    spare = np.array(boxes.HOLDER_MINIMISER)
    return _corrupted(boxes.holder_table(), spare, height=5.0, period=0.4)


def corrupted_exponential(d: int = 8) -> Problem:
    """Exponential under a saw-tooth of height 1 and period 0.018 that vanishes at its minimum."""
    return _corrupted(boxes.exponential(d), np.zeros(d), height=1.0, period=0.018)


def _corrupted(problem: Problem, spare: Vector, height: float, period: float) -> Problem:
    return box_problem(
        f"corrupted-{problem.name}",
        CorruptedFormula(problem.formula, spare, height, period),
        problem.bounds,
        minimum=problem.minimum,
        minimisers=problem.minimiser_points,
        tags=("complicated", "oscillatory", "corrupted"),
        source="our corruption of a function of modulated surrogates, Table 1",
    )


@dataclass(frozen=True, eq=False)
class CorruptedFormula:
    """f(x) + height · meanᵢ s(||xᵢ| − spareᵢ| / period), with the saw-tooth s(u) = u − ⌊u⌋.

    The papers do not publish their corruption. This one is deterministic, discontinuous, never
    negative, and zero where every |xᵢ| = spareᵢ.
    """

    formula: Formula
    spare: Vector
    height: float
    period: float

    def __call__(self, X: Matrix) -> Vector:
        phase = np.abs(np.abs(X) - self.spare) / self.period
        return self.formula(X) + self.height * (phase - np.floor(phase)).mean(1)


def _random_rotation(d: int, rng: np.random.Generator) -> Matrix:
    """A draw from the uniform distribution on orthogonal matrices [Mezzadri 2007]."""
    Q, R = np.linalg.qr(rng.normal(size=(d, d)))
    return np.asarray(Q * np.sign(np.diag(R)))


def _fold(V: Matrix) -> Matrix:
    """Reflect every coordinate into [0, 1]; points inside stay exactly where they are."""
    period = np.mod(V, 2)
    return np.where(period > 1, 2 - period, period)
