"""Hyperparameters of processes in the leaves of a conditional space.

Given what is shared, a leaf's hyperparameters know of the others' through the features alone, and a
result changes what one leaf has to say. So chains that are warm move the slots of the leaves that
have new observations, and those that all leaves share. `theta` is `(dim,)`.
"""

from __future__ import annotations

__all__ = ["PathChains", "PathTarget"]

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from outcrop.data import Observations
from outcrop.errors import ModelError, NumericalError
from outcrop.inference import Draws, Inference, Laplace, Slice
from outcrop.kernels import Constant, Kernel, Within
from outcrop.linalg import Indices
from outcrop.params import Layout
from outcrop.surrogates.inferred import PriorOfSlots
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.path_gp import PathData, PathGP, Spoken, assembled, spoken
from outcrop.typing import Mask, Matrix, Rng, Vector

logger = logging.getLogger(__name__)

NO_SLOTS = Within((), Constant())  # stands for leaves where only what they share is wanted


@dataclass(frozen=True, eq=False)
class PathTarget(PriorOfSlots):
    """The posterior of a model's free slots; a leaf that did not move is not factorised again."""

    model: PathGP
    data: PathData
    _kept: dict[int, tuple[bytes, Spoken | None]] = field(default_factory=dict)

    @cached_property
    def layout(self) -> Layout[PathGP]:
        return Layout.of(self.model, self.data.data)

    def log_likelihood(self, theta: Vector) -> float:
        common = self._common.bind(theta[self._common_part])
        scalars = np.array([common.noise, common.mean]).tobytes()
        try:
            each = [
                self._spoken(i, theta[part], scalars, common) for i, part in enumerate(self._parts)
            ]
            return assembled(each, self.data, common.shared_variance)
        except NumericalError:
            return -inf

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        try:
            value, bar = self.layout.bind(theta).log_likelihood_with_gradient(self.data)
        except NumericalError:
            return -inf, np.zeros_like(theta)
        return value, self.layout.gradient(theta, bar)

    def moved_by(self, leaves: Indices) -> Indices:
        """The coordinates of `theta` that some leaves have, and those that all leaves share."""
        own = [self._parts[leaf] for leaf in leaves]
        return np.sort(np.concatenate([self._common_part, *own]))

    def _spoken(self, i: int, theta: Vector, scalars: bytes, common: PathGP) -> Spoken | None:
        own = self.data.leaves[i]
        if own is None:
            return None
        key = theta.tobytes() + scalars
        known = self._kept.get(i)
        if known is None or known[0] != key:
            kernel = self._leaves[i].bind(theta)
            known = key, spoken(kernel, own, common.noise, common.mean)[0]
            self._kept[i] = known
        return known[1]

    @cached_property
    def _leaves(self) -> list[Layout[Kernel]]:
        return [Layout.of(leaf.kernel, self.data.data) for leaf in self.model.leaves]

    @cached_property
    def _parts(self) -> list[Indices]:
        """Where the slots of each leaf are in `theta`."""
        return [self._found(f"leaves.{i}.") for i, _ in enumerate(self.model.leaves)]

    @cached_property
    def _common(self) -> Layout[PathGP]:
        """The slots that no leaf has for itself, of a model whose leaves have none."""
        return Layout.of(replace(self.model, leaves=(NO_SLOTS,)), self.data.data)

    @cached_property
    def _common_part(self) -> Indices:
        return np.concatenate([self._found(name) for name in ("shared", "noise", "mean")])

    def _found(self, prefix: str) -> Indices:
        some = [slot.part for slot in self.layout.slots if slot.name.startswith(prefix)]
        return np.concatenate(
            [np.zeros(0, dtype=np.intp), *(np.arange(part.start, part.stop) for part in some)]
        )


@dataclass(frozen=True, eq=False)
class _Some:
    """A target in some of its coordinates, the others being as they are in `theta`."""

    target: PathTarget
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

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        value, gradient = self.target.log_prior_with_gradient(self.whole(theta))
        return value, gradient[self.moving]

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        value, gradient = self.target.log_likelihood_with_gradient(self.whole(theta))
        return value, gradient[self.moving]

    def log_jacobian_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        value, gradient = self.target.log_jacobian_with_gradient(self.whole(theta))
        return value, gradient[self.moving]

    def sample_prior(self, rng: Rng, n: int) -> Matrix:
        return self.target.sample_prior(rng, n)[:, self.moving]


@dataclass(frozen=True, eq=False)
class PathChains:
    """`model` with its free slots filled by `inference`: one component per draw."""

    model: PathGP
    inference: Inference

    def __post_init__(self) -> None:
        if isinstance(self.inference, Laplace):
            raise ModelError(
                "processes in leaves have no Laplace approximation; use Slice() or MAP()"
            )

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        data = self.model.sorted(observations)
        target = PathTarget(self.model, data)
        if target.dim == 0:
            return Mixture.single(self.model.condition(data))
        marks = [0 if one is None else crc32(one.data.X.tobytes()) for one in data.leaves]
        draws = self._drawn(target, marks, rng, previous or {})
        components = []
        for theta in draws.thetas:
            try:
                components.append(target.layout.bind(theta).condition(data))
            except NumericalError as error:
                logger.warning("a hyperparameter draw was left out: %s", error)
        if not components:
            raise NumericalError(
                f"none of {len(draws)} hyperparameter draws gives covariances that factorise"
            )
        state: dict[str, Any] = {
            "marks": marks,
            "thetas": [target.layout.split(theta) for theta in draws.thetas],
        }
        if draws.widths is not None:
            state["widths"] = [target.layout.split(own) for own in draws.widths]
        return Mixture(tuple(components), np.ones(len(components)), state)

    def _drawn(
        self, target: PathTarget, marks: list[int], rng: Rng, before: Mapping[str, Any]
    ) -> Draws:
        start = _restored(target.layout, before)
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
    target: PathTarget,
    start: Draws,
    widths: Matrix,
    moving: Indices,
    inference: Slice,
    rng: Rng,
) -> Draws:
    """Chains that have moved in some coordinates, as many of them as `inference` says."""
    thetas, widths = start.thetas.copy(), widths.copy()
    if not len(moving):
        return Draws.equal(thetas, start.log_densities, widths)
    alone = replace(inference, chains=1, moved=None, patience=inf)
    chains: NDArray[np.intp] = np.arange(len(thetas))
    if inference.moved is not None:
        chains = np.sort(rng.permutation(chains)[: inference.moved])
    for chain in chains.tolist():
        some = _Some(target, thetas[chain], moving)
        own = Draws.equal(
            thetas[chain][None, moving], np.full(1, np.nan), widths[chain][None, moving]
        )
        drawn = alone.infer(some, rng, own)
        thetas[chain] = some.whole(drawn.thetas[0])
        if drawn.widths is not None:
            widths[chain, moving] = drawn.widths[0]
    return Draws.equal(thetas, np.full(len(thetas), np.nan), widths)


def _restored(layout: Layout[PathGP], state: Mapping[str, Any]) -> Draws | None:
    """The draws behind a state, in today's layout; entries that are new are NaN."""
    if not state.get("thetas"):
        return None
    thetas = np.stack([layout.join(parts) for parts in state["thetas"]])
    widths = None
    if "widths" in state:
        widths = np.stack([layout.join(parts) for parts in state["widths"]])
    return Draws.equal(thetas, np.full(len(thetas), np.nan), widths)
