"""Inference of the hyperparameters of Gaussian processes in leaves of a conditional space.

Given the shared effects, leaves are independent, and a new result changes the factor of one leaf
only. So warm chains move the slots of the leaves that have new observations, and those that all
leaves share; a chain that is stuck in them starts cold in them, or rejoins another. Slots that no
observation depends on, as the lengthscales of a leaf with one observation, are drawn from their
priors. `theta` is `(dim,)`.
"""

from __future__ import annotations

__all__ = ["BranchChains", "BranchTarget"]

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outcrop.data import Observations
from outcrop.errors import ModelError, NumericalError
from outcrop.inference import Draws, Inference, Slice
from outcrop.inference.target import log_posterior
from outcrop.kernels import Constant, Kernel, Within
from outcrop.linalg import Indices
from outcrop.params import Layout
from outcrop.surrogates.branch_gp import (
    BranchData,
    BranchGP,
    LeafFactor,
    joined,
    leaf_factor,
)
from outcrop.surrogates.inferred import ModelTarget
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.warm_chains import conditioned, restored, stored
from outcrop.typing import Mask, Matrix, Rng, Vector

TYPICAL = 65  # prior draws whose median is a typical point
NO_SLOTS = Within((), Constant())  # in place of the leaves, to lay out the shared slots alone


@dataclass(frozen=True, eq=False)
class BranchTarget(ModelTarget):
    """The posterior of a model's free slots; a leaf that did not move is not factorised again."""

    model: BranchGP
    _kept: dict[int, tuple[bytes, LeafFactor | None]] = field(default_factory=dict)

    @cached_property
    def seen(self) -> BranchData:
        return self.model.sorted(self.data)

    def log_likelihood(self, theta: Vector) -> float:
        common = self._common.bind(theta[self._common_part])
        scalars = np.array([common.noise, common.mean]).tobytes()
        try:
            each = [
                self._factor(i, theta[part], scalars, common) for i, part in enumerate(self._parts)
            ]
            return joined(each, self.seen, common.shared_variance)[0]
        except NumericalError:
            return -inf

    def moved_by(self, leaves: Indices) -> Indices:
        """The coordinates of `theta` that belong to `leaves`, and those that all leaves share."""
        own = [self._parts[leaf] for leaf in leaves]
        return np.sort(np.concatenate([self._common_part, *own]))

    @cached_property
    def unseen(self) -> Mask:
        """Coordinates that the likelihood does not depend on.

        They are those of leaves without observations, and those that change no covariance of a
        leaf's observations, as its lengthscales if it has one observation only.
        """
        unseen = np.zeros(self.dim, dtype=np.bool_)
        for own, part, layout in zip(self.seen.leaves, self._parts, self._leaves, strict=True):
            unseen[part] = own is None or _without_effect(layout, own.data)
        return unseen

    def _factor(self, i: int, theta: Vector, scalars: bytes, common: BranchGP) -> LeafFactor | None:
        own = self.seen.leaves[i]
        if own is None:
            return None
        key = theta.tobytes() + scalars
        known = self._kept.get(i)
        if known is None or known[0] != key:
            kernel = self._leaves[i].bind(theta)
            known = key, leaf_factor(kernel, own, common.noise, common.mean)[0]
            self._kept[i] = known
        return known[1]

    @cached_property
    def _leaves(self) -> list[Layout[Kernel]]:
        return [Layout.of(leaf.kernel, self.data) for leaf in self.model.leaves]

    @cached_property
    def _parts(self) -> list[Indices]:
        """Where the slots of each leaf are in `theta`."""
        return [self._found(f"leaves.{i}.") for i, _ in enumerate(self.model.leaves)]

    @cached_property
    def _common(self) -> Layout[BranchGP]:
        """The layout of the slots that all leaves share."""
        return Layout.of(replace(self.model, leaves=(NO_SLOTS,)), self.data)

    @cached_property
    def _common_part(self) -> Indices:
        return np.concatenate([self._found(name) for name in ("shared", "noise", "mean")])

    def _found(self, prefix: str) -> Indices:
        some = [slot.part for slot in self.layout.slots if slot.name.startswith(prefix)]
        return np.concatenate(
            [np.zeros(0, dtype=np.intp), *(np.arange(part.start, part.stop) for part in some)]
        )


def _without_effect(layout: Layout[Kernel], data: Observations) -> Mask:
    """Coordinates of a kernel's slots in which its covariances of `data` have no derivative.

    At a typical point a derivative is exactly 0 only if the covariances do not depend on the slot.
    """
    rng = np.random.default_rng(0)
    theta = np.median(layout.sample_prior(rng, TYPICAL), axis=0)
    _, pull = layout.bind(theta).on(data.pairs)
    bars = pull.parameters(rng.random((len(data), len(data))))
    return np.asarray(layout.gradient(theta, bars) == 0)


@dataclass(frozen=True, eq=False)
class _SomeCoordinates:
    """A target as a function of some coordinates; the others keep their values in `theta`."""

    target: BranchTarget
    theta: Vector
    moving: Indices

    @property
    def dim(self) -> int:
        return len(self.moving)

    @property
    def gaussian(self) -> Mask:
        return np.zeros(self.dim, dtype=np.bool_)

    def whole(self, some: Vector) -> Vector:
        theta = self.theta.copy()
        theta[self.moving] = some
        return theta

    def log_prior(self, theta: Vector) -> float:
        return self.target.log_prior(self.whole(theta))

    def log_likelihood(self, theta: Vector) -> float:
        return self.target.log_likelihood(self.whole(theta))

    def sample_prior(self, rng: Rng, n: int) -> Matrix:
        return self.target.sample_prior(rng, n)[:, self.moving]

    @property
    def unseen(self) -> Mask:
        return self.target.unseen[self.moving]

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        return self._moving(self.target.log_prior_with_gradient(self.whole(theta)))

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        return self._moving(self.target.log_likelihood_with_gradient(self.whole(theta)))

    def log_jacobian_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        return self._moving(self.target.log_jacobian_with_gradient(self.whole(theta)))

    def _moving(self, value_and_bar: tuple[float, Vector]) -> tuple[float, Vector]:
        value, bar = value_and_bar
        return value, bar[self.moving]


@dataclass(frozen=True, eq=False)
class BranchChains:
    """`model` with its free slots filled by `inference`: one component per draw."""

    model: BranchGP
    inference: Inference

    def __post_init__(self) -> None:
        if self.inference.has_covariance:
            raise ModelError(
                "processes in leaves have no Laplace approximation; use Slice() or MAP()"
            )

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        target = BranchTarget(self.model, observations)
        data = target.seen
        if target.dim == 0:
            return Mixture.single(self.model.condition(data))
        marks = [0 if own is None else own.data.mark for own in data.leaves]
        draws = self._drawn(target, marks, rng, previous or {})
        components, weights = conditioned(draws.thetas, np.ones(len(draws)), target.posterior)
        state = {"marks": marks, **stored(target.layout, draws, observations)}
        return Mixture(components, weights, state)

    def _drawn(
        self, target: BranchTarget, marks: list[int], rng: Rng, before: Mapping[str, Any]
    ) -> Draws:
        start = restored(target.layout, before, target.data)
        inference, known = self.inference, before.get("marks", [])
        if (
            start is None
            or start.widths is None
            or not isinstance(inference, Slice)
            or len(start) != inference.chains
            or len(known) != len(marks)
            or np.isnan(start.thetas).any()
        ):
            return inference.infer(target, rng, start)
        changed = np.flatnonzero(np.array(known) != np.array(marks))
        return _followed(target, start, start.widths, target.moved_by(changed), inference, rng)


def _followed(
    target: BranchTarget,
    start: Draws,
    widths: Matrix,
    moving: Indices,
    inference: Slice,
    rng: Rng,
) -> Draws:
    """The chains after moves in some coordinates.

    `inference.moved` is how many chains move. Those out of `inference.patience` start cold in these
    coordinates or, with `inference.rejoins`, from the values of the chain that suit them best.
    """
    thetas, widths = start.thetas.copy(), widths.copy()
    if not len(moving):
        return Draws.equal(thetas, start.log_densities, widths)
    alone = replace(inference, chains=1, moved=None, patience=inf)
    stuck = np.zeros(len(thetas), dtype=np.bool_)
    if inference.patience < inf:
        gains, best = _behind(target, thetas, moving)
        stuck = gains > inference.patience * len(moving)
    chains: NDArray[np.intp] = np.arange(len(thetas))
    if inference.moved is not None:
        lot = rng.permutation(chains)[: inference.moved]
        chains = np.union1d(lot, np.flatnonzero(stuck))
    if inference.rejoins and stuck.any():
        thetas[np.ix_(stuck, moving)] = thetas[np.ix_(best[stuck], moving)]
        widths[np.ix_(stuck, moving)] = widths[np.ix_(best[stuck], moving)]
        stuck[:] = False
    for chain in chains.tolist():
        some = _SomeCoordinates(target, thetas[chain], moving)
        own = Draws.equal(
            thetas[chain][None, moving], np.full(1, np.nan), widths[chain][None, moving]
        )
        drawn = alone.infer(some, rng, None if stuck[chain] else own)
        thetas[chain] = some.whole(drawn.thetas[0])
        if drawn.widths is not None:
            widths[chain, moving] = drawn.widths[0]
    return Draws.equal(thetas, np.full(len(thetas), np.nan), widths)


def _behind(target: BranchTarget, thetas: Matrix, moving: Indices) -> tuple[Vector, Indices]:
    """How much another chain's `moving` coordinates increase each chain's log density, and whose.

    Of all chains it is the one that increases it most. Densities of whole chains say less: the
    differences of all leaves add up in them.
    """
    log_density = log_posterior(target)
    gains, best = np.zeros(len(thetas)), np.zeros(len(thetas), dtype=np.intp)
    for chain, theta in enumerate(thetas):
        some = _SomeCoordinates(target, theta, moving)
        swapped = [log_density(some.whole(other[moving])) for other in thetas]
        best[chain] = np.argmax(swapped)
        gains[chain] = max(swapped) - swapped[chain] if swapped[chain] > -inf else inf
    return gains, best
