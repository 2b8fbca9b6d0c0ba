"""A surrogate made of a model with free slots and the inference that fills them."""

from __future__ import annotations

__all__ = ["Inferred", "ModelTarget"]

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from outcrop.data import Observations
from outcrop.inference import Inference
from outcrop.params import Layout
from outcrop.surrogates.base import Model, Posterior
from outcrop.surrogates.mgp import STEP, MarginalPosterior
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.warm_chains import conditioned, restored, stored
from outcrop.typing import Mask, Matrix, Rng, Vector

COLD_ROWS = 100  # observations on which inference starts if there are more and no earlier state


@dataclass(frozen=True, eq=False)
class ModelTarget:
    """The posterior of a model's free slots given data: the target of inference."""

    model: Model
    data: Observations

    @cached_property
    def layout(self) -> Layout[Model]:
        return Layout.of(self.model, self.data)

    @property
    def seen(self) -> Any:
        """The data in the form that the model takes in every likelihood."""
        return self.data

    def posterior(self, theta: Vector) -> Posterior:
        return self.layout.bind(theta).condition(self.seen)

    def log_likelihood(self, theta: Vector) -> float:
        return self.layout.bind(theta).log_likelihood(self.seen)

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        value, model_bar = self.layout.bind(theta).log_likelihood_with_gradient(self.seen)
        return value, self.layout.gradient(theta, model_bar)

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
            # Burn-in on a part of the data costs less; the chains then go on with all of it.
            previous = self.fit(_part(observations, rng), rng).state
        draws = self.inference.infer(target, rng, restored(layout, previous, observations))
        components, weights = conditioned(
            draws.thetas,
            draws.weights,
            lambda theta: self._component(target, theta, draws.covariance),
        )
        return Mixture(components, weights, stored(layout, draws, observations))

    def _component(
        self, target: ModelTarget, theta: Vector, covariance: Matrix | None
    ) -> Posterior:
        if covariance is None:
            return target.posterior(theta)
        values, axes = np.linalg.eigh(covariance)
        columns = (axes * np.sqrt(np.maximum(values, 0.0))).T
        ahead = tuple(target.posterior(theta + STEP * column) for column in columns)
        behind = tuple(target.posterior(theta - STEP * column) for column in columns)
        return MarginalPosterior(target.posterior(theta), ahead, behind, self.variance)


def _part(data: Observations, rng: Rng) -> Observations:
    """The best third and random others, `COLD_ROWS` in all."""
    order = np.argsort(data.y, kind="stable")
    best, rest = order[: COLD_ROWS // 3], rng.permutation(order[COLD_ROWS // 3 :])
    return data.rows(np.sort(np.concatenate([best, rest[: COLD_ROWS - len(best)]])))
