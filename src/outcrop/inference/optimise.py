"""The single most probable point, by gradient ascent from several starts."""

from __future__ import annotations

__all__ = ["MAP", "ascend"]

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import TypeAlias

import numpy as np

from outcrop.effort import UNLIMITED, UNSTORED, Effort
from outcrop.errors import ModelError
from outcrop.inference.starts import ROUNDS, SCREENED, from_previous
from outcrop.inference.target import Draws, Inference, TargetDensity, log_posterior, require
from outcrop.typing import Matrix, Rng, Vector

logger = logging.getLogger(__name__)

WALL = 10.0  # how far below all values of an ascent a point without density counts

LogDensityWithGradient: TypeAlias = Callable[[Vector], tuple[float, Vector]]


@dataclass(frozen=True)
class MAP(Inference):
    """The maximum a posteriori point: L-BFGS-B with exact gradients, from the best of many draws.

    It maximises the density in natural coordinates, whose mode does not depend on the definition of
    θ; with `jacobian` the density in θ, which samplers use. For a log-normal
    lengthscale the two differ by a factor exp(σ²).

    Cold, it refines the `starts` best of 8 · `starts` prior draws; given previous draws, the best
    of these and a quarter as many fresh ones.

    >>> MAP(starts=4)
    MAP(starts=4, iterations=200, jacobian=False)
    """

    starts: int = 8
    iterations: int = 200
    jacobian: bool = False
    effort: Effort = field(default=UNLIMITED, compare=False, repr=False, metadata=UNSTORED)

    def __post_init__(self) -> None:
        require(self, starts=1, iterations=1)
        if not isinstance(self.jacobian, bool):
            raise ModelError(
                f"expected MAP(jacobian=) to be True or False, got {self.jacobian!r}: "
                "False maximises the density in natural coordinates"
            )

    def infer(self, target: TargetDensity, rng: Rng, previous: Draws | None = None) -> Draws:
        """The best point found, as one draw.

        If no point has a finite density, the result is a prior draw with density −inf.
        """
        with np.errstate(all="ignore"):
            objective = _objective(target, self.jacobian)
            starts = self._starts(target, objective, rng, previous)
            ends = [ascend(objective, start, self.iterations, self.effort) for start in starts]
            theta, value = max(ends, key=lambda end: end[1])
            if value == -inf:
                logger.warning("no start of %d led to a finite density", len(starts))
            log_density = log_posterior(target)(theta)
        found = sum(end > value - 1e-3 for _, end in ends) if value > -inf else 0
        counts = {"objective": value, "ascents": len(starts), "ascents_at_best": found}
        return Draws.equal(theta[None, :], np.array([log_density]), diagnostics=counts)

    def within(self, effort: Effort) -> MAP:
        return replace(self, effort=effort)

    def _starts(
        self,
        target: TargetDensity,
        objective: LogDensityWithGradient,
        rng: Rng,
        previous: Draws | None,
    ) -> Matrix:
        """Points to ascend from: the best previous one, if any, and the best of fresh draws."""
        best, fresh = np.empty((0, target.dim)), self.starts
        if previous is not None:
            best, values = _best(objective, from_previous(target, rng, previous), 1, self.effort)
            fresh = self.starts // 4 if values[0] > -inf else self.starts
        drawn = np.empty((0, target.dim))
        if fresh > 0:
            for _ in range(ROUNDS):
                thetas = np.asarray(target.sample_prior(rng, SCREENED * fresh), dtype=np.float64)
                drawn, values = _best(objective, thetas, fresh, self.effort)
                if values[0] > -inf:
                    break
        return np.concatenate([best, drawn])


def ascend(
    objective: LogDensityWithGradient, start: Vector, iterations: int, effort: Effort = UNLIMITED
) -> tuple[Vector, float]:
    """The highest point evaluated by L-BFGS-B from `start`, and its value.

    A point without density, or one where an exponential overflows, counts as a little below every
    value so far, so that the line search returns. The ascent ends once `effort` is spent.
    """
    best, best_value = np.array(start, dtype=np.float64), objective(start)[0]
    if best_value == -inf or len(best) == 0:
        return best, best_value
    lowest = best_value

    def loss(theta: Vector) -> tuple[float, Vector]:
        nonlocal best, best_value, lowest
        if effort.is_spent("evaluations of ascents to the best hyperparameters"):
            raise _OutOfTimeError
        value, gradient = objective(theta)
        if value == -inf:
            return WALL - lowest, np.zeros_like(theta)
        if value > best_value:
            best, best_value = theta.copy(), value
        lowest = min(lowest, value)
        return -value, -gradient

    from scipy.optimize import minimize  # imported late: it is slow to load

    with suppress(_OutOfTimeError):
        minimize(loss, best, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    return best, best_value


class _OutOfTimeError(Exception):
    """The effort of an ascent is spent; it leaves the optimiser."""


def _best(
    objective: LogDensityWithGradient, thetas: Matrix, n: int, effort: Effort
) -> tuple[Matrix, Vector]:
    """The `n` highest of `thetas`, best first, and their values; −inf once `effort` is spent."""
    values = np.full(len(thetas), -inf)
    for i, theta in enumerate(thetas):
        if values[:i].max(initial=-inf) > -inf and effort.is_spent(
            "prior draws of hyperparameters"
        ):
            break
        values[i] = objective(theta)[0]
    order = np.argsort(-values, kind="stable")[:n]
    return thetas[order], values[order]


def _objective(target: TargetDensity, jacobian: bool) -> LogDensityWithGradient:
    """What `MAP` maximises; −inf with a zero gradient wherever value or gradient is not finite."""

    def log_density(theta: Vector) -> tuple[float, Vector]:
        nothing = -inf, np.zeros_like(theta)
        try:
            value, gradient = target.log_prior_with_gradient(theta)
            if not value > -inf:
                return nothing
            more, slope = target.log_likelihood_with_gradient(theta)
            value, gradient = value + more, gradient + slope
            if not jacobian:
                more, slope = target.log_jacobian_with_gradient(theta)
                value, gradient = value - more, gradient - slope
        except ArithmeticError:
            return nothing
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return nothing
        return float(value), gradient

    return log_density
