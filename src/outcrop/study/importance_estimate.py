"""The importance of parameters from a belief, as Sobol indices of its components' means.

Configurations are distributed as `Space.sample` draws them, without constraints: uniformly,
log-uniformly where `log` is set, with equally likely categories. A parameter that is inactive has
no effect. In the region "best" everything worse than the best quarter counts as equally bad
(the mean is cut off at that quantile), so that only what makes a configuration good counts.

`k` components, `m` points, `d` free columns.
"""

from __future__ import annotations

__all__ = ["importance_of", "two_samples"]

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from outcrop.maximise.lattice import lattice
from outcrop.space import Choice, Column, Space
from outcrop.strategies.base import Belief
from outcrop.strategies.model_based import UnitBelief
from outcrop.study.importance import Importance, Share
from outcrop.study.objective_belief import ObjectiveBelief
from outcrop.typing import Conditions, Matrix, Points, Rng, Vector
from outcrop.variance_shares import VarianceShares, shares_of, sharing_points

SEED = 24  # of the lattices, the same at every trial, so that shares change by the belief alone
LATTICES = 4  # independent ones, whose differences show the error of their mean
POINTS = (256, 128, 64, 32)  # of each, as many as `WORK` allows
WORK = 2_000_000  # covariances of a component: about 0.1 s for six of them
BEST = 0.25  # share of the space that is the region "best"
BRANCHES = 8  # of a conditional space, whose importance is estimated


def importance_of(belief: ObjectiveBelief, region: str) -> Importance:
    """The importance of every parameter over a region, and of those in each branch."""
    count = len(belief.state.view.y)
    estimate = _Estimate(belief.space, belief.believed, region, count)
    whole = estimate.of(belief.space.columns, ())
    branches = _branches(belief.space, belief.state.view.X)
    return replace(whole, branches=tuple(estimate.of(*branch) for branch in branches))


def two_samples(rng: Rng, n: int, d: int) -> tuple[Points, Points]:
    """Two samples of `n` points of the unit cube, from one lattice of 2 d dimensions."""
    cube = lattice(rng, n, 2 * d)
    return cube[:, :d], cube[:, d:]


@dataclass(frozen=True, eq=False)
class _Estimate:
    """Estimates the importance of columns while choices are held."""

    space: Space
    believed: Belief
    region: str
    observations: int

    def of(self, columns: Sequence[Column], held: Conditions) -> Importance:
        """The importance of `columns`, with the codes of the choices that are `held`."""
        d, rng = len(columns), np.random.default_rng(SEED)
        per_point = LATTICES * (2 * d + 2) * self.observations
        n = next((n for n in POINTS if n * per_point <= WORK), POINTS[-1])
        sets = np.stack([sharing_points(*two_samples(rng, n, d)) for _ in range(LATTICES)])
        means, variances, weights = _predicted(self.believed, self._points(sets, columns, held))
        # (k, lattices, sets, points)
        means, variances = (each.reshape(-1, *sets.shape[:3]) for each in (means, variances))
        worst = np.full(len(means), np.inf)
        if self.region == "best":
            worst = np.quantile(means[:, :, :2].reshape(len(means), -1), BEST, axis=1)
        inside = means[:, :, :2] <= worst[:, None, None, None]
        unknown = _unknown(means[:, :, :2], variances[:, :, :2], inside, weights)
        cut = _in_units(self.believed, np.minimum(means, worst[:, None, None, None]))
        found = [shares_of(cut[:, i]) for i in range(LATTICES)]
        return self._importance(columns, held, found, weights, unknown)

    def _points(
        self, sets: NDArray[np.float64], columns: Sequence[Column], held: Conditions
    ) -> Points:
        """Encoded points, `(m, D)`; columns that are neither free nor held are inactive."""
        U = np.full((prod(sets.shape[:3]), len(self.space.columns)), 0.5)
        for index, code in held:
            U[:, index] = self.space.columns[index].codec.uniform(np.array([float(code)]))
        if columns:
            U[:, [column.index for column in columns]] = sets.reshape(len(U), -1)
        return self.space.from_uniform(U)

    def _importance(
        self,
        columns: Sequence[Column],
        held: Conditions,
        found: Sequence[VarianceShares],
        weights: Vector,
        unknown: float,
    ) -> Importance:
        names = [column.name for column in columns]
        first, total, pairs = (
            _shares(np.stack([getattr(each, field) for each in found]), weights)
            for field in ("first", "total", "pairs")
        )
        return Importance(
            region=self.region,
            first=dict(zip(names, first, strict=True)),
            total=dict(zip(names, total, strict=True)),
            pairs={
                (names[i], names[j]): pairs[i * len(names) + j]
                for i, j in combinations(range(len(names)), 2)
            },
            unknown=unknown,
            branch={
                self.space.columns[index].name: self.space.columns[index].codec.decode(
                    np.array([float(code)])
                )[0]
                for index, code in held
            },
        )


def _predicted(believed: Belief, X: Points) -> tuple[Matrix, Matrix, Vector]:
    """Means and variances of each component, `(k, m)`, in any unit, and the weights `(k,)`."""
    if isinstance(believed, UnitBelief):
        return *believed.mixture.predict_each(X), believed.mixture.weights
    mean, std = believed.predict(X)
    unit = float(np.abs(mean).max()) or 1.0  # squares of large values would overflow
    return mean[None] / unit, (std[None] / unit) ** 2, np.ones(1)


def _in_units(believed: Belief, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means in a multiple of the objective's units, from those of the model."""
    if not isinstance(believed, UnitBelief):
        return means
    return replace(believed.outcome, power=1.0, location=0.0, scale=1.0).invert(means)


def _unknown(
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    inside: NDArray[np.bool_],
    weights: Vector,
) -> float:
    """The part of the variation inside a region that a belief in the model's units leaves open."""
    axes = (1, 2, 3)
    count = inside.sum(axes)
    centre = (means * inside).sum(axes, keepdims=True) / count[:, None, None, None]
    known = weights @ (((means - centre) ** 2 * inside).sum(axes) / count)
    left = weights @ ((variances * inside).sum(axes) / count)
    return float(left / (known + left)) if known + left > 0 else 0.0


def _shares(each: NDArray[np.float64], weights: Vector) -> list[Share]:
    """Shares `(lattices, k, …)` as means and deviations, which hold both kinds of error."""
    flat = each.reshape(*each.shape[:2], -1)
    of_component = flat.mean(0)
    mean = weights @ of_component
    between = weights @ (of_component - mean) ** 2
    sampling = (weights @ flat).var(0, ddof=1) / len(flat)
    std = np.sqrt(between + sampling)
    return [Share(float(m), float(s)) for m, s in zip(mean, std, strict=True)]


def _branches(space: Space, X: Points) -> list[tuple[list[Column], Conditions]]:
    """Free columns and held choices of the branches with most observations."""
    choices = [column for column in space.columns if isinstance(column.parameter, Choice)]
    if not choices:
        return []
    active, found = space.active(X), Counter[Conditions]()
    for x, is_active in zip(X, active, strict=True):
        found[tuple((c.index, int(x[c.index])) for c in choices if is_active[c.index])] += 1
    branches = []
    for held, _ in found.most_common(BRANCHES):
        inside = [c for c in space.columns if {*c.conditions} <= {*held} and c not in choices]
        if inside:
            branches.append((inside, held))
    return branches
