"""A surrogate made of a model with free slots and the inference that fills them."""

from __future__ import annotations

__all__ = ["STEP", "Inferred", "MarginalPosterior", "ModelTarget", "best_and_others"]

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Inference
from outcrop.params import Layout
from outcrop.short_repr import short_repr
from outcrop.surrogates.base import (
    Model,
    MovesLatents,
    Posterior,
    PredictionPull,
    noise_at,
    sampling,
)
from outcrop.surrogates.gp import GP
from outcrop.surrogates.local_processes import EXACT_ROWS, Boxes
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.warm_chains import conditioned, restored, stored
from outcrop.typing import Mask, Matrix, Points, Rng, Vector

COLD_ROWS = 100  # observations on which inference starts if there are more and no earlier state
MOST_ROWS = 200  # observations that hyperparameters are inferred from if there are more
STEP = 1e-4  # of a column of A: truncation (h²) and rounding (1e-12 / h) are both near 1e-8


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

    def moved_gaussian(self, theta: Vector, rng: Rng) -> Vector | None:
        model = self.layout.bind(theta)
        if not isinstance(model, MovesLatents):
            return None
        theta = theta.copy()
        theta[self.gaussian] = model.resampled_latents(self.seen, rng)
        return theta

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
class MarginalPosterior:
    """The mean at θ̂, and a variance that includes the effect of the uncertainty of θ.

    The posterior of θ is taken to be Gaussian around its mode, N(θ̂, Σ), and the prediction to
    depend on θ linearly [Garnett et al. 2014; Alvi 2019, eqs 6.2–6.6]. With Σ = A Aᵀ only
    derivatives along the columns of A are needed, and those come from posteriors a small step to
    either side.

    With ∂ along the columns of A, `variance="thesis"` is 4/3 V + |∂m|² + |∂V|²/(3V), and `"moment"`
    is V + |∂m|²: the form of the thesis keeps 4/3 of the variance even when θ is certain.
    """

    centre: Posterior
    ahead: tuple[Posterior, ...]  # at θ̂ + h · column
    behind: tuple[Posterior, ...]  # at θ̂ − h · column
    variance: Literal["thesis", "moment"] = "thesis"

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if self.variance not in ("thesis", "moment"):
            raise ModelError(f'variance={self.variance!r}: expected "thesis" or "moment"')

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        return self.predict_with_pullback(X)[:2]

    def predict_with_pullback(self, X: Points) -> tuple[Vector, Vector, PredictionPull]:
        mean, var, pull = self.centre.predict_with_pullback(X)
        ahead = [part.predict_with_pullback(X) for part in self.ahead]
        behind = [part.predict_with_pullback(X) for part in self.behind]
        slopes = self._slopes(ahead, behind, 0, len(X))
        if self.variance == "moment":
            curves, share, own = np.zeros_like(slopes), np.zeros_like(var), 1.0
        else:
            curves, share, own = self._slopes(ahead, behind, 1, len(X)), 1 / (3 * var), 4 / 3
        spread = (curves**2).sum(0)

        def pull_back(mean_bar: Vector, var_bar: Vector) -> Points:
            X_bar = pull(mean_bar, var_bar * (own - spread * share / var))
            slope_bars, curve_bars = var_bar * slopes / STEP, var_bar * share * curves / STEP
            for i, (one, other) in enumerate(zip(ahead, behind, strict=True)):
                X_bar = X_bar + one[2](slope_bars[i], curve_bars[i])
                X_bar = X_bar - other[2](slope_bars[i], curve_bars[i])
            return X_bar

        return mean, own * var + (slopes**2).sum(0) + share * spread, pull_back

    def condition(self, X: Points, y: Vector) -> MarginalPosterior:
        """Every part once `y` is also believed at `X`; the belief about θ stays as it was."""
        return replace(
            self,
            centre=self.centre.condition(X, y),
            ahead=tuple(part.condition(X, y) for part in self.ahead),
            behind=tuple(part.condition(X, y) for part in self.behind),
        )

    def noise_at(self, X: Points) -> Vector:
        """The noise variance of an observation at each row of `X`, that at θ̂."""
        return noise_at(self.centre, X)

    def incumbent(self) -> float:
        return self.centre.incumbent()

    def sample(self, X: Points, rng: Rng, n: int = 1) -> Matrix:
        """Joint draws `(n, m)`: those of the centre, stretched to the marginal variance."""
        mean, var = self.centre.predict(X)
        return mean + (sampling(self.centre).sample(X, rng, n) - mean) * np.sqrt(
            self.predict(X)[1] / var
        )

    @staticmethod
    def _slopes(ahead: list, behind: list, which: int, m: int) -> Matrix:  # type: ignore[type-arg]
        """Central differences of means (0) or variances (1), one row per column of A."""
        differences = [one[which] - other[which] for one, other in zip(ahead, behind, strict=True)]
        return np.reshape(differences, (len(ahead), m)) / (2 * STEP)


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
    variance: Literal["thesis", "moment"] = "thesis"  # see `MarginalPosterior`
    cuts: tuple[int, ...] = ()  # columns that boxes may be cut across, see `local_processes`

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        target = ModelTarget(self.model, observations)
        layout = target.layout
        if layout.dim == 0:
            return Mixture.single(self.model.condition(observations))
        inference, is_many = self.inference, len(observations) > MOST_ROWS
        if not previous and len(observations) > COLD_ROWS:
            # Burn-in on a part of the data costs less; the chains then go on with more of it.
            previous = self.fit(best_and_others(observations, COLD_ROWS), rng).state
            inference = inference.catching_up() if is_many else inference
        if is_many and not layout.gaussian.any():
            target = ModelTarget(self.model, best_and_others(observations, MOST_ROWS))
        draws = inference.infer(target, rng, restored(layout, previous, observations))
        condition = self._conditioning(layout, draws.thetas, observations)
        components, weights = conditioned(
            draws.thetas,
            draws.weights,
            lambda theta: self._component(condition, theta, draws.covariance),
        )
        return Mixture(components, weights, stored(layout, draws, observations))

    def _conditioning(
        self, layout: Layout[Model], thetas: Matrix, data: Observations
    ) -> Callable[[Vector], Posterior]:
        """The posterior given all of `data`, exact or, of many observations, in boxes."""
        if len(data) > EXACT_ROWS and self.cuts and type(self.model) is GP:
            models = [cast(GP, layout.bind(theta)) for theta in thetas]
            scales = [model.kernel.scales(data.dimension) for model in models]
            boxes = Boxes.shared(data, self.cuts, np.median(scales, axis=0))
            return lambda theta: boxes.condition(cast(GP, layout.bind(theta)))
        return lambda theta: layout.bind(theta).condition(data)

    def _component(
        self, condition: Callable[[Vector], Posterior], theta: Vector, covariance: Matrix | None
    ) -> Posterior:
        if covariance is None:
            return condition(theta)
        values, axes = np.linalg.eigh(covariance)
        columns = (axes * np.sqrt(np.maximum(values, 0.0))).T
        ahead = tuple(condition(theta + STEP * column) for column in columns)
        behind = tuple(condition(theta - STEP * column) for column in columns)
        return MarginalPosterior(condition(theta), ahead, behind, self.variance)


def best_and_others(data: Observations, count: int) -> Observations:
    """The best third and random others, `count` in all.

    The lot of an observation depends on its place in the order of trials alone, so that the part
    hardly changes from one fit to the next.
    """
    best = np.argsort(data.y, kind="stable")[: count // 3]
    lots = np.random.default_rng(0).random(len(data))
    lots[best] = -1.0
    return data.rows(np.sort(np.argsort(lots, kind="stable")[:count]))
