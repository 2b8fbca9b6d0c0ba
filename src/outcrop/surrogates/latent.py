"""Gaussian processes with latent inputs, which can discount single observations.

Each observation has latent inputs h ~ N(0, σ²), its distance from the space, and the objective is
the process at h = 0 [Bodin et al. 2020, eqs 7 and 8]. Observations of structure too fine to be
modelled from few of them get a large h; the belief is then smoother than the data.

`spread` is σ, in units of the cube; with σ = 0 this is a plain Gaussian process. For a stationary
kernel the latents are further inputs, with a typical lengthscale of the others:

    r² = Σᵢ (xᵢ − x'ᵢ)² / ℓᵢ² + |h − h'|² / ℓ²,    1/ℓ² the mean of the 1/ℓᵢ²

Long lengthscales, those of parameters without effect, hardly change this mean.

A kernel is given pairs with larger squared distances, so that every kernel made of stationary ones
works with latents unchanged, in all its forms.
"""

from __future__ import annotations

__all__ = ["Latent", "LatentGP", "LatentPosterior"]

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, sqrt
from typing import cast

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from outcrop.data import Observations, Pairs, Triangle
from outcrop.errors import ModelError, ShapeError
from outcrop.inference import Inference
from outcrop.kernels import Kernel, Subspace
from outcrop.kernels.stationary import Stationary
from outcrop.linalg import packed_indices, solve_lower
from outcrop.params import Per, changed, free, require_at_least_0, shaped
from outcrop.priors import Normal
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.blend import Blend, Lottery
from outcrop.surrogates.gp import GP, GPPosterior, ProcessDraw
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.kind import Kind
from outcrop.surrogates.latent_moves import resampled
from outcrop.surrogates.situation import LATENT_INFERENCE, Situation
from outcrop.typing import Matrix, Points, Rng, Vector

NODES = 7  # of the quadrature over a latent
ONE_EACH = free(Normal(), size=Per.OBSERVATION)


@dataclass(frozen=True, eq=False)
class LatentPairs(Pairs):
    """The pairs `visible`, whose points also differ in latent coordinates."""

    visible: Pairs = field(kw_only=True)
    apart: Matrix = field(kw_only=True)  # |h − h'|² of each pair, or what broadcasts to it
    traced: list[Matrix] | None = None  # collects gradients in `apart`, if given

    @classmethod
    def of(cls, visible: Pairs, apart: Matrix, traced: list[Matrix] | None = None) -> LatentPairs:
        points = visible.X1, visible.X2, visible.second_moves
        return cls(*points, traced, visible=visible, apart=apart)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.visible.shape

    @property
    def mismatches(self) -> Matrix:
        return self.visible.mismatches

    def squared_distances(self, weights: Vector) -> Matrix:
        middle = _middle(weights)[(..., *(None,) * len(self.shape))]
        return self.visible.squared_distances(weights) + middle * self.apart

    def pull_weights(self, r2_bar: Matrix, weights: Vector) -> Vector:
        middle_bar = np.vdot(r2_bar, np.broadcast_to(self.apart, r2_bar.shape))
        return self.visible.pull_weights(r2_bar, weights) + middle_bar / weights.shape[-1]

    def pull_inputs(self, r2_bar: Matrix, weights: Vector) -> tuple[Points, Points]:
        if self.traced is not None:
            self.traced.append(r2_bar * _middle(weights))
        return self.visible.pull_inputs(r2_bar, weights)

    def mapped(self, key: Hashable, function: Callable[[Points], Points]) -> Pairs:
        return LatentPairs.of(self.visible.mapped(key, function), self.apart, self.traced)

    def moved(self, X1: Points, X2: Points) -> Pairs:
        return LatentPairs.of(self.visible.moved(X1, X2), self.apart, self.traced)

    def products(self, u1: Vector, u2: Vector) -> Matrix:
        return self.visible.products(u1, u2)


def _middle(weights: Vector) -> Vector:
    """The weight of a latent: the mean of 1/ℓᵢ²."""
    return weights.sum(-1) / weights.shape[-1]


@dataclass(frozen=True, eq=False, repr=False)
class LatentObservations(Observations):
    """Observations with latents; computations on points alone are shared with `visible`."""

    latents: Matrix = field(kw_only=True)  # (n, q); (k, n, q) stands for k models at once
    visible: Observations = field(kw_only=True)
    traced: list[Matrix] | None = field(default=None, kw_only=True)  # that of `pairs`

    @classmethod
    def of(
        cls, visible: Observations, latents: Matrix, traced: list[Matrix] | None = None
    ) -> LatentObservations:
        if latents.shape[-2] != len(visible):
            raise ShapeError(f"expected latents ({len(visible)}, q), got {latents.shape}")
        own = visible.X, visible.y, visible.noise
        return cls(*own, latents=latents, visible=visible, traced=traced)

    @cached_property
    def pairs(self) -> LatentPairs:
        differences = self.latents[:, None, :] - self.latents[None, :, :]
        apart = np.square(differences).sum(-1)
        return LatentPairs.of(self.visible.pairs, apart, self.traced)

    @cached_property
    def triangle(self) -> Triangle | LatentPairs | None:  # type: ignore[override]
        if self.visible.triangle is None:
            return None
        rows, columns, _ = packed_indices(len(self))
        columnwise = self.latents.T
        apart = np.square(columnwise[:, rows] - columnwise[:, columns]).sum(0)
        return LatentPairs.of(self.visible.triangle, apart)

    def against(self, X: Points) -> LatentPairs:
        norms = np.square(self.latents).sum(-1)
        return LatentPairs.of(self.visible.against(X), norms[..., None, :])

    def alike(self, others: Sequence[Observations]) -> LatentObservations | None:
        if super().alike(others) is None:
            return None
        # Covariances with points at h = 0 depend on the norms of latents only.
        same = cast(Sequence[LatentObservations], others)
        norms = [np.linalg.norm(other.latents, axis=-1) for other in same]
        return replace(self, latents=np.stack(norms)[:, :, None])

    def append(self, X: Points, y: Vector, noise: Vector | None = None) -> LatentObservations:
        """These observations and more, whose latents are 0."""
        visible = self.visible.append(X, y, noise)
        none = np.zeros((len(visible) - len(self), self.latents.shape[1]))
        return LatentObservations.of(visible, np.vstack([self.latents, none]))


@dataclass(frozen=True, eq=False)
class LatentGP:
    """A Gaussian process whose observations have latent inputs besides their points.

        LatentGP(Matern52(free(LogNormal(), size=1)), spread=0.1)
        LatentGP(kernel, spread=0.1, latents=(free(Normal(), size=Per.OBSERVATION),) * 2)

    The latents are inputs of every stationary kernel in `kernel`, see above.
    """

    kernel: Kernel
    spread: float  # standard deviation of a latent
    latents: tuple[Vector, ...] = (ONE_EACH,)  # in units of `spread`, one vector per coordinate
    noise: float = 0.0
    mean: float = 0.0

    def __post_init__(self) -> None:
        require_at_least_0(self, "spread", "a number")
        if self.spread == 0:  # then all latents are 0
            object.__setattr__(self, "latents", ())
        GP(self.kernel, self.noise)

    def condition(self, data: Observations) -> LatentPosterior:
        seen = LatentObservations.of(data, self._moves(data))
        return LatentPosterior.of(self._plain, seen, spread=self.spread)

    def log_likelihood(self, data: Observations) -> float:
        return self._plain.log_likelihood(self._seen(data) if self.latents else data)

    def log_likelihood_with_gradient(self, data: Observations) -> tuple[float, LatentGP]:
        moves, seen = self._moves(data), data
        apart_bars: list[Matrix] = []
        if self.latents:
            seen = LatentObservations.of(data, moves, apart_bars)
        value, K_bar, mean_bar, pull = self._plain.log_likelihood_with_bars(seen)
        pull.inputs(K_bar)  # called only to fill `apart_bars`
        moves_bar = np.zeros_like(moves)
        for bar in apart_bars:
            both = 2 * (bar + bar.T)
            moves_bar += both.sum(1)[:, None] * moves - both @ moves
        gradient = shaped(
            self,
            kernel=pull.parameters(K_bar),
            spread=float(sum(map(np.vdot, self.latents, moves_bar.T))),
            latents=tuple(self.spread * moves_bar.T[: len(self.latents)]),
            noise=float(np.trace(K_bar)),
            mean=mean_bar,
        )
        return value, gradient

    def resampled_latents(self, data: Observations, rng: Rng) -> Vector:
        """The latents, coordinate by coordinate, after a move of each: see `latent_moves`."""
        if not self.latents:
            return np.zeros(0)

        def covariances(i: int, pool: Points, latents: Points) -> Matrix:
            apart = np.square(pool.T[:, :, None, None] - latents.T[:, None, None, :]).sum(0)
            apart *= self.spread**2
            K = self.kernel.on(LatentPairs.of(data.each_with_all[i], apart))[0]
            return K.reshape(-1, len(data))  # one row if the kernel does not depend on latents

        K = self._plain.noisy(self.kernel.on(self._seen(data).pairs)[0], data)
        own = np.stack(self.latents, axis=1)
        return resampled(K, covariances, data.y - self.mean, own, rng).T.reshape(-1)

    @property
    def _plain(self) -> GP:
        return GP(self.kernel, self.noise, self.mean)

    def _seen(self, data: Observations) -> LatentObservations:
        """The data with latents; those of the last call if the latents are still the same."""
        moves = self._moves(data)
        key = moves.tobytes()
        known, seen = data.last.get("latents", (None, None))
        if key != known:
            seen = LatentObservations.of(data, moves)
            data.last["latents"] = key, seen
        return cast(LatentObservations, seen)

    def _moves(self, data: Observations) -> Matrix:
        """h, `(n, q)`; a column of zeros if there are no latents."""
        if not self.latents:
            return np.zeros((len(data), 1))
        return self.spread * np.stack(self.latents, axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class LatentPosterior(GPPosterior):
    """The posterior of the process at h = 0."""

    data: LatentObservations
    spread: float = 0.0  # of the latents of a new observation

    @property
    def latents(self) -> Matrix:
        """The latent inputs of each observation, `(n, q)`; 0 for believed values.

        An observation whose latents exceed a lengthscale counts for little.
        """
        return self.data.latents

    def new_observations(self, X: Points) -> tuple[Vector, Matrix, Matrix]:
        """Of an observation at each row of `X`, whose own latents are unknown.

        Weights `(q,)`, means and variances `(q, m)` by quadrature over its latents.
        """
        nodes, shares = hermegauss(NODES)
        grid = np.stack(np.meshgrid(*[nodes] * self.latents.shape[1]), -1)
        weights = np.prod(np.stack(np.meshgrid(*[shares] * self.latents.shape[1]), -1), -1)
        own = self.spread * grid.reshape(-1, self.latents.shape[1])
        means, variances = np.empty((2, len(own), len(X)))
        visible = self.data.visible.against(X)
        for i, latents in enumerate(own):
            apart = np.square(self.latents - latents).sum(-1)
            cross = self.model.kernel.on(LatentPairs.of(visible, apart[None, :]))[0]
            means[i] = self.model.mean + cross @ self.alpha
            variances[i] = self._variance(X, solve_lower(self.chol, cross.T))
        return weights.ravel() / weights.sum(), means, variances

    def draw(self, rng: Rng, features: int = 512) -> LatentDraw:
        return LatentDraw.of(self, self.latents, rng, features)


@dataclass(frozen=True, eq=False)
class LatentDraw(ProcessDraw):
    """A function of points and latents, at h = 0; the latents are further columns of `X`."""

    @classmethod
    def of(cls, posterior: GPPosterior, latents: Matrix, rng: Rng, features: int) -> LatentDraw:
        data = posterior.data
        kernel = augmented(posterior.model.kernel, data.dimension, latents.shape[1])
        whole = GPPosterior(
            replace(posterior.model, kernel=kernel),
            Observations(np.hstack([data.X, latents]), data.y, data.noise),
            posterior.chol,
            posterior.white,
            posterior.jitter,
        )
        return cls(**vars(whole.draw(rng, features)))

    def __call__(self, X: Points) -> Vector:
        return super().__call__(self._at_zero(X))

    def gradient(self, X: Points) -> Points:
        return super().gradient(self._at_zero(X))[:, : X.shape[1]]

    def _at_zero(self, X: Points) -> Points:
        return np.hstack([X, np.zeros((len(X), self.X.shape[1] - X.shape[1]))])


def augmented(kernel: Kernel, dimension: int, count: int) -> Kernel:
    """`kernel` of `dimension` columns, extended by `count` columns of latents."""
    if not kernel.sees_numbers:
        return kernel
    if isinstance(kernel, Stationary):
        scales = kernel.scales(dimension)
        middle = 1 / np.sqrt(_middle(1 / scales**2))
        return changed(kernel, lengthscales=np.append(scales, np.full(count, middle)))
    if isinstance(kernel, Subspace):
        inner = augmented(kernel.kernel, len(kernel.columns), count)
        return Subspace((*kernel.columns, *range(dimension, dimension + count)), inner)
    if not kernel.passes_expectation:  # then it does not pass points on to its children either
        raise ModelError(
            f"{type(kernel).__name__} with latents has no drawn functions; draw values at given "
            "points with `sample` instead"
        )
    return kernel.with_children(
        tuple(augmented(child, dimension, count) for child in kernel.children())
    )


@dataclass(frozen=True)
class Latent(Kind):
    """A Gaussian process whose observations have latent inputs [Bodin et al. 2020, §3].

        oc.Method(surrogate=oc.surrogates.Latent())
        oc.Method(surrogate=oc.surrogates.Latent(together=True))

    One of `spreads`, in units of the cube's diagonal, is drawn for each suggestion; with `together`
    the belief is a mixture over all of them.

    With more than 300 observations the plain process takes over: latents would take seconds.
    """

    spreads: tuple[float, ...] = (0.1, 0.01, 0.0)
    together: bool = False
    coordinates: int = 1  # latents of each observation
    label = "latent GP"

    def __post_init__(self) -> None:
        object.__setattr__(self, "spreads", tuple(map(float, self.spreads)))
        if (
            not self.spreads
            or len(set(self.spreads)) < len(self.spreads)
            or not all(0 <= spread < inf for spread in self.spreads)
        ):
            raise ModelError(
                f"Latent(spreads={self.spreads!r}): expected different numbers of at least 0"
            )
        if type(self.coordinates) is not int or self.coordinates < 1:
            raise ModelError(f"Latent(coordinates={self.coordinates!r}): expected an integer ≥ 1")

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not situation.allows_latents:
            return None
        kernel, size = situation.kernel(), len(situation.unconditional_numbers)
        return situation.over_noise(
            lambda noise, inference: self.fitted(kernel, noise, inference, size), LATENT_INFERENCE
        )

    def fitted(self, kernel: Kernel, noise: float, inference: Inference, size: int) -> Surrogate:
        """The models of all spreads with a kernel of `size` numbers that are always active."""
        diagonal = sqrt(max(size, 1))
        latents = (ONE_EACH,) * self.coordinates
        if self.together:
            inference = inference.divided(len(self.spreads))
        parts = {
            str(spread): Inferred(LatentGP(kernel, spread * diagonal, latents, noise), inference)
            for spread in self.spreads
        }
        return Blend(parts) if self.together else Lottery(parts)
