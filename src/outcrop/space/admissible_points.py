"""Points that satisfy the constraints of a space: the only place where they are made.

`U` are uniform numbers `(n, D)` in [0, 1], as `Space.from_uniform` takes them; they are admissible
if the points they give are. Where many are, admissible ones are drawn until there are enough. Where
few are, a pool that is drawn once is moved about by slice sampling: along a random line through
each point, uniformly on the part of it that is admissible [Neal 2003, figure 5]. Such moves keep
the uniform distribution, whatever the shape of the region, and change categories too.

The pool does not depend on the caller's generator, so that it serves every trial of a study; and
all else depends on that generator alone, so that a replay finds the same points.
"""

from __future__ import annotations

__all__ = ["Region"]

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from outcrop.errors import SpaceError
from outcrop.space.constraints import PointValues
from outcrop.space.enumeration import MOST_LISTED, every
from outcrop.typing import Conditions, Indices, Points, Rng

if TYPE_CHECKING:
    from outcrop.space.space import Space

POOL = 512  # admissible points that are enough to start from
FIRST_DRAWS, LARGEST_BLOCK = 1024, 65_536  # random points at once; the number doubles
BRANCH_DRAWS = 16_384  # random points until a branch is taken to have no admissible one
RARE = 1 / 64  # the share of admissible points below which the pool is moved instead of drawing
MOVES = 1  # of each point of the pool that is used
SPREADING = 16  # of the pool itself, if it is smaller than it should be
SHRINKS = 8  # of a line, until its point stays where it was
FIRST_BATCH, LARGEST_BATCH = 8, 1024  # points that are made at once
GROWTH = 4  # of that number, from one batch to the next
SEED = 27  # of the pool


class Pool(NamedTuple):
    """Admissible uniform numbers, and the share of random ones that are."""

    U: Points
    share: float


@dataclass(frozen=True, eq=False)
class Region:
    """The admissible points of a space, or those of them with given options."""

    space: Space
    held: Conditions = ()  # (column of a choice, code)

    def points(self, rng: Rng, n: int) -> Points:
        """`n` random points, spread as `Space.sample` spreads them; the first of any number agree.

        None at all if the region is empty.
        """
        return self.space.from_uniform(np.vstack([*self._batches(rng, n)])[:n])

    def mended(self, U: Points, rng: Rng) -> Points:
        """The points of uniform numbers, with random admissible ones in the place of others."""
        X = self.space.from_uniform(U)
        missing = np.flatnonzero(~self.space.admits(X))
        if len(missing):
            X[missing] = self.points(rng, len(missing))
        return X

    @cached_property
    def is_empty(self) -> bool:
        return not any(len(U) for U, _ in self._draws())

    @cached_property
    def points_of_pool(self) -> Points:
        """The points of the pool, encoded."""
        return self.space.from_uniform(self.pool.U)

    def branch(self, conditions: Conditions) -> Region:
        """The points with the given options."""
        return self._branches.setdefault(conditions, Region(self.space, conditions))

    @cached_property
    def pool(self) -> Pool:
        """Where points are found; empty if there are none."""
        found, drawn, hits = list[Points](), 0, 0
        for U, count in self._draws():
            drawn, hits = drawn + count, hits + len(U) * (count > 0)
            found.append(U)
            if hits >= POOL:
                break
        U, share = np.vstack(found), hits / max(drawn, 1)
        if 0 < len(U) < POOL:
            rng = np.random.default_rng(SEED)
            U = U[np.arange(POOL) % len(U)]
            for _ in range(SPREADING):
                U = self._moved(U, U, rng)
        return Pool(U, share)

    def explained(self) -> SpaceError:
        """The error for a region without points."""
        constraints = self.space.constraints
        if self._is_listed:
            tried = f"none of the {self.space.declared_size} configurations of the space"
        else:
            tried = f"none of {self._most_draws} random configurations"
        lines = f"{tried} satisfies the constraints {[*constraints]}"
        U = self._random(np.random.default_rng(SEED), BRANCH_DRAWS)
        for each in constraints if len(constraints) > 1 else ():
            if not each.admits(PointValues(self.space, self.space.from_uniform(U))).any():
                lines += f"; {each.text} alone at none of {len(U)}"
        return SpaceError(
            f"{lines}; loosen them, or declare fewer parameters if one follows from others, as b "
            "from a in a + b == 1"
        )

    # Helpers

    def _draws(self) -> Iterator[tuple[Points, int]]:
        """Admissible uniform numbers: known ones, then those among random ones, and how many."""
        yield self._known, 0
        if self._is_listed and not len(self._known):
            return
        rng, left, block = (
            np.random.default_rng([SEED, *self._codes]),
            self._most_draws,
            FIRST_DRAWS,
        )
        while left:
            count = min(block, left)
            yield self._admissible(self._random(rng, count)), count
            left, block = left - count, min(2 * block, LARGEST_BLOCK)

    @property
    def _codes(self) -> list[int]:
        return [number for pair in self.held for number in pair]

    @cached_property
    def _branches(self) -> dict[Conditions, Region]:
        return {}

    @cached_property
    def _is_listed(self) -> bool:
        """Whether all points are known, since they are few."""
        size = self.space.declared_size
        return not self.held and size is not None and size <= MOST_LISTED

    @cached_property
    def _most_draws(self) -> int:
        most = min(each.most_draws for each in self.space.constraints)
        return min(most, BRANCH_DRAWS) if self.held else most

    @cached_property
    def _known(self) -> Points:
        """Uniform numbers of points that are known without drawing any."""
        space = self.space
        if self.held:
            U = space.region.pool.U
            return U[self._is_held(space.from_uniform(U))]
        if self._is_listed:
            return self._uniform(every(space))
        X = np.vstack([each.known(space) for each in space.constraints])
        return self._uniform(X[space.admits(X)])

    def _is_held(self, X: Points) -> Indices:
        inside = np.ones(len(X), dtype=np.bool_)
        for column, code in self.held:
            inside &= X[:, column] == code
        return np.flatnonzero(inside)

    def _uniform(self, X: Points) -> Points:
        """Uniform numbers that `Space.from_uniform` maps to given points."""
        U = np.empty_like(X)
        for column in self.space.columns:
            U[:, column.index] = column.codec.uniform(X[:, column.index])
        return U

    def _random(self, rng: Rng, n: int) -> Points:
        U = rng.random((n, len(self.space.columns)))
        for column, code in self.held:
            U[:, column] = (code + 0.5) / (self.space.columns[column].levels or 1)
        return U

    def _admissible(self, U: Points) -> Points:
        return U[self.space.admits(self.space.from_uniform(U))]

    def _batches(self, rng: Rng, n: int) -> Iterator[Points]:
        """Admissible uniform numbers, until there are `n`."""
        pool, made, size = self.pool, 0, FIRST_BATCH
        yield pool.U[:0]
        while made < n and len(pool.U):
            yield self._drawn(rng, size) if pool.share >= RARE else self._wandered(rng, size)
            made, size = made + size, min(GROWTH * size, LARGEST_BATCH)

    def _drawn(self, rng: Rng, n: int) -> Points:
        """`n` of random ones, as many as are needed."""
        found, count = list[Points](), 0
        while count < n:
            found.append(self._admissible(self._random(rng, int(1.2 * n / self.pool.share) + 8)))
            count += len(found[-1])
        return np.vstack(found)[:n]

    def _wandered(self, rng: Rng, n: int) -> Points:
        """`n` of the pool after some moves."""
        U = self.pool.U[rng.integers(len(self.pool.U), size=n)]
        for _ in range(MOVES):
            U = self._moved(U, self.pool.U, rng)
        return U

    def _moved(self, U: Points, pool: Points, rng: Rng) -> Points:
        """Each row moved along a line: of one coordinate, of all, or through two of the pool."""
        n, dimension = U.shape
        if not dimension:
            return U
        one = np.zeros_like(U)
        one[np.arange(n), rng.integers(dimension, size=n)] = 1.0
        pairs = rng.integers(len(pool), size=(2, n))
        lines = np.stack([one, rng.standard_normal(U.shape), pool[pairs[0]] - pool[pairs[1]]])
        way = lines[rng.integers(3, size=n), np.arange(n)]
        way[:, [column for column, _ in self.held]] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort(np.stack([-U / way, (1.0 - U) / way]), axis=0)
        low = np.where(way == 0.0, -np.inf, ends[0]).max(1)
        high = np.where(way == 0.0, np.inf, ends[1]).min(1)
        moving = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
        U = U.copy()
        for _ in range(SHRINKS):
            if not len(moving):
                break
            t = low[moving] + rng.random(len(moving)) * (high[moving] - low[moving])
            tried = np.clip(U[moving] + t[:, None] * way[moving], 0.0, 1.0)
            stays = self.space.admits(self.space.from_uniform(tried))
            U[moving[stays]] = tried[stays]
            below = t < 0.0
            low[moving[below]], high[moving[~below]] = t[below], t[~below]
            moving = moving[~stays]
        return U
