"""Gaussian processes on one-hot codes of categories.

The cube of a space has every number of the space, whether active or not, and one number in [0, 1]
for each level of each category. `X` are points of the space, `W` those of the cube. A configuration
has 1 for one level of every active category and 0 for the others; an inactive number is the middle
of its range, and an inactive category has 0 for all levels.
"""

from __future__ import annotations

__all__ = ["Cube", "OneHot", "OneLengthscale"]

from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np

from outcrop.kernels import Kernel, Matern52
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.space import Float, Space
from outcrop.space.derived_constraints import OfImage
from outcrop.space.parameters import Parameter
from outcrop.surrogates.base import Model, Surrogate
from outcrop.surrogates.kind import KernelKind, Kind, SearchDomain, kind_of
from outcrop.surrogates.situation import Situation
from outcrop.typing import Matrix, Points

LENGTHSCALE = LogNormal(log(0.5), 1.0, growth=0.5)  # grows with the diagonal of the cube


@dataclass(frozen=True)
class OneLengthscale(KernelKind):
    """A Gaussian process with one lengthscale for all numbers, used on the cube."""

    label = "one-hot GP"

    def kernel(self, situation: Situation) -> Kernel:
        prior = LENGTHSCALE.for_size(len(situation.numbers))
        return situation.kernel(lambda _: Matern52(free(prior, size=1)))


@dataclass(frozen=True)
class OneHot(Kind):
    """A Gaussian process of one-hot codes: a category is a number, 0 or 1, for each level.

        oc.Method(surrogate=oc.baselines.OneHot())

    The baseline of CoCaBO: a Matérn-5/2 kernel with one lengthscale for all columns. `on_cube` may
    be another kind, model or surrogate of the points of the `Cube`. The acquisition is maximised
    over the cube of all these numbers, including points between levels; the level with the largest
    number of each category is then taken. There is no surrogate for a space without categories.
    """

    on_cube: Kind | Surrogate | Model | None = None
    label = "one-hot GP"
    search_domain = SearchDomain.ONE_HOT_CUBE

    @property
    def cube_kind(self) -> Kind:
        """The kind of surrogate of the cube's points."""
        return OneLengthscale() if self.on_cube is None else kind_of(self.on_cube)

    def surrogate(self, situation: Situation) -> Surrogate | None:
        """The surrogate of the cube's points."""
        if not situation.categories:
            return None
        cube = replace(situation, space=Cube(situation.space).wide)
        return self.cube_kind.surrogate(cube)


@dataclass(frozen=True, eq=False)
class Cube:
    """The one-hot codes of a space."""

    space: Space

    @cached_property
    def wide(self) -> Space:
        """The cube as a space of numbers."""
        parameters: dict[str, Parameter] = {}
        for column in self.space.columns:
            if column.is_code:
                names = (f"{column.index}={code}" for code in range(column.levels or 0))
                parameters.update(dict.fromkeys(names, Float(0, 1)))
            else:
                parameters[str(column.index)] = column.parameter
        wide = {column.name: str(column.index) for column in self.space.columns}
        blocks = {
            tuple(wide[name] for name in block): rows
            for block, rows in self.space.input_covariance.items()
        }
        limits = [OfImage(self.space, self._pooled, self.rounded)] if self.space.constraints else []
        return Space(parameters, input_covariance=blocks, constraints=limits)

    def _pooled(self) -> Points:
        return self.encoded(self.space.region.points_of_pool)

    @cached_property
    def _numbers(self) -> tuple[list[int], list[int]]:
        """Columns of the space that hold numbers, and where they are in the cube."""
        own = [column.index for column in self.space.columns if not column.is_code]
        return own, [self._starts[index] for index in own]

    @cached_property
    def _starts(self) -> list[int]:
        """Where each column of the space begins in the cube."""
        widths = [(c.levels or 0) if c.is_code else 1 for c in self.space.columns]
        return [0, *np.cumsum(widths).tolist()]

    def encoded(self, X: Points) -> Points:
        W = np.zeros((len(X), self._starts[-1]))
        active = self.space.active(X)
        own, wide = self._numbers
        W[:, wide] = np.where(active[:, own], X[:, own], 0.5)
        for column in self.space.columns:
            if column.is_code:
                rows = np.flatnonzero(active[:, column.index])
                W[rows, self._starts[column.index] + X[rows, column.index].astype(np.int64)] = 1.0
        return W

    def widened(self, cov: Matrix) -> Matrix:
        """Covariances of points of the space as those of the cube, where levels are exact."""
        own, wide = self._numbers
        if cov.ndim == 2:
            variances = np.zeros((len(cov), self._starts[-1]))
            variances[:, wide] = cov[:, own]
            return variances
        matrices = np.zeros((len(cov), self._starts[-1], self._starts[-1]))
        matrices[np.ix_(range(len(cov)), wide, wide)] = cov[np.ix_(range(len(cov)), own, own)]
        return matrices

    def rounded(self, W: Points) -> Points:
        """The configurations with the level of the largest number in each category."""
        X = np.empty((len(W), len(self.space.columns)))
        own, wide = self._numbers
        X[:, own] = W[:, wide]
        for column in self.space.columns:
            if column.is_code:
                start = self._starts[column.index]
                X[:, column.index] = W[:, start : start + (column.levels or 0)].argmax(1)
        return self.space.snap(X)

    def pulled(self, W_bar: Points) -> Points:
        """The part of a gradient in the cube that belongs to numbers of the space."""
        X_bar = np.zeros((len(W_bar), len(self.space.columns)))
        own, wide = self._numbers
        X_bar[:, own] = W_bar[:, wide]
        return X_bar
