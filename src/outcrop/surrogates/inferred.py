"""A surrogate made of a model with free slots and a way to infer them."""

from __future__ import annotations

__all__ = ["Inferred", "ModelTarget", "PriorOfSlots"]

import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any, Literal
from zlib import crc32

import numpy as np

from outcrop.data import Observations
from outcrop.errors import NumericalError
from outcrop.inference import Draws, Inference
from outcrop.params import Layout
from outcrop.surrogates.base import Model, Posterior
from outcrop.surrogates.mgp import STEP, MarginalPosterior
from outcrop.surrogates.mixture import Mixture
from outcrop.typing import Mask, Matrix, Rng, Vector

logger = logging.getLogger(__name__)

COLD_ROWS = 100  # observations on which inference starts, if there are more and nothing is warm


class PriorOfSlots(ABC):
    """What a target says of free slots before any data, as their layout has it."""

    @property
    @abstractmethod
    def layout(self) -> Layout[Any]: ...

    @property
    def dim(self) -> int:
        return self.layout.dim

    @property
    def gaussian(self) -> Mask:
        return self.layout.gaussian

    def log_prior(self, theta: Vector) -> float:
        return self.layout.log_prior(theta)

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        return self.layout.log_prior_with_gradient(theta)

    def log_jacobian_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        return self.layout.log_jacobian_with_gradient(theta)

    def sample_prior(self, rng: Rng, n: int) -> Matrix:
        return self.layout.sample_prior(rng, n)


@dataclass(frozen=True, eq=False)
class ModelTarget(PriorOfSlots):
    """The posterior of a model's free slots given data, as inference wants to see it."""

    model: Model
    data: Observations

    @cached_property
    def layout(self) -> Layout[Model]:
        return Layout.of(self.model, self.data)

    def log_likelihood(self, theta: Vector) -> float:
        return self.layout.bind(theta).log_likelihood(self.data)

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        value, model_bar = self.layout.bind(theta).log_likelihood_with_gradient(self.data)
        return value, self.layout.gradient(theta, model_bar)


@dataclass(frozen=True, eq=False)
class Inferred:
    """`model` with its free slots filled by `inference`: one component per draw.

    >>> from outcrop.inference import Slice
    >>> from outcrop.kernels import Matern52
    >>> from outcrop.params import free
    >>> from outcrop.priors import LogNormal
    >>> from outcrop.surrogates import GP
    >>> model = GP(Matern52(free(LogNormal(-1.0), size=1)), noise=1e-6)
    >>> surrogate = Inferred(model, Slice(chains=4))
    >>> data = Observations([[0.1], [0.5], [0.9]], [0.0, 1.0, 0.0])
    >>> belief = surrogate.fit(data, np.random.default_rng(0))
    >>> len(belief), sorted(belief.state)
    (4, ['thetas', 'widths'])
    """

    model: Model
    inference: Inference
    variance: Literal["thesis", "moment"] = "thesis"  # of the Laplace approximation, see `mgp`

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        target = ModelTarget(self.model, observations)
        layout = target.layout
        if layout.dim == 0:
            return Mixture.single(self.model.condition(observations))
        if not previous and len(observations) > COLD_ROWS:
            # Chains find their way on a part of the data, and see all of it when they are there.
            previous = self.fit(_part(observations, rng), rng).state
        draws = self.inference.infer(target, rng, _restored(layout, previous, observations))
        components, weights = [], []
        for theta, weight in zip(draws.thetas, draws.weights, strict=True):
            try:
                components.append(self._component(target, theta, draws.covariance))
                weights.append(weight)
            except NumericalError as error:
                logger.warning("a hyperparameter draw was left out: %s", error)
        if not components:
            raise NumericalError(
                f"none of {len(draws)} hyperparameter draws gives a covariance that factorises"
            )
        return Mixture(tuple(components), np.array(weights), _stored(layout, draws, observations))

    def _component(
        self, target: ModelTarget, theta: Vector, covariance: Matrix | None
    ) -> Posterior:
        def at(point: Vector) -> Posterior:
            return target.layout.bind(point).condition(target.data)

        if covariance is None:
            return at(theta)
        values, axes = np.linalg.eigh(covariance)
        columns = (axes * np.sqrt(np.maximum(values, 0.0))).T
        ahead = tuple(at(theta + STEP * column) for column in columns)
        behind = tuple(at(theta - STEP * column) for column in columns)
        return MarginalPosterior(at(theta), ahead, behind, self.variance)


def _part(data: Observations, rng: Rng) -> Observations:
    """The best third and others by lot, `COLD_ROWS` in all."""
    order = np.argsort(data.y, kind="stable")
    best, rest = order[: COLD_ROWS // 3], rng.permutation(order[COLD_ROWS // 3 :])
    rows = np.sort(np.concatenate([best, rest[: COLD_ROWS - len(best)]]))
    noise = None if data.noise is None else data.noise[rows]
    input_cov = None if data.input_cov is None else data.input_cov[rows]
    return Observations(data.X[rows], data.y[rows], noise, input_cov)


def _stored(layout: Layout[Any], draws: Draws, data: Observations) -> dict[str, Any]:
    """Draws by slot name, as plain data: what the next fit starts from."""
    state: dict[str, Any] = {"thetas": [layout.split(theta) for theta in draws.thetas]}
    latents = {slot.name for slot in layout.slots if slot.latent}
    if latents:
        state["rows"] = _fingerprints(data)
    if draws.widths is not None:  # latents move on ellipses, which have none
        state["widths"] = [
            {name: part for name, part in layout.split(own).items() if name not in latents}
            for own in draws.widths
        ]
    return state


def _restored(
    layout: Layout[Any], state: Mapping[str, Any] | None, data: Observations
) -> Draws | None:
    """The draws behind a state, in today's layout; entries that are new are NaN."""
    if not state or not state.get("thetas"):
        return None
    thetas = np.stack([layout.join(parts) for parts in state["thetas"]])
    for slot in layout.slots:
        if slot.latent:
            thetas[:, slot.part] = _realigned(slot.name, state, data)
    widths = None
    if "widths" in state:
        widths = np.stack([layout.join(parts) for parts in state["widths"]])
        widths[:, layout.gaussian] = 1.0
    return Draws.equal(thetas, np.full(len(thetas), np.nan), widths)


def _realigned(name: str, state: Mapping[str, Any], data: Observations) -> Matrix:
    """What chains know of each of today's observations in slot `name`, NaN if nothing."""
    places = {row: i for i, row in enumerate(state.get("rows", []))}
    order = [places.get(row) for row in _fingerprints(data)]
    known = [parts.get(name) for parts in state["thetas"]]
    return np.array([[nan if i is None or own is None else own[i] for i in order] for own in known])


def _fingerprints(data: Observations) -> list[str]:
    """What tells observations from each other, wherever in the order of trials they come to stand.

    Those at one point are told apart by their turn.
    """
    turns: Counter[int] = Counter()
    marks = []
    for row in data.X:
        mark = crc32(row.tobytes())
        marks.append(f"{mark:08x}.{turns[mark]}")
        turns[mark] += 1
    return marks
