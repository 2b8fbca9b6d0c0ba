"""Gaussian processes with latent inputs, which can discount single observations.

Each observation has latent inputs h ~ N(0, σ²), its distance from the space, and the objective is
the process at h = 0 [Bodin et al. 2020, eqs 7 and 8]. Observations of structure too fine to be
modelled from few of them get a large h; the belief is then smoother than the data.

`spread` is σ, in units of the cube; with σ = 0 this is a plain Gaussian process.
"""

from __future__ import annotations

__all__ = ["Latent", "LatentGP", "LatentPosterior", "Lottery"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Inference
from outcrop.kernels import Kernel
from outcrop.params import Free, Per, free, shaped
from outcrop.priors import Normal
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.blend import Blend, shared
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.kind import Kind
from outcrop.surrogates.latent_data import LatentObservations, LatentPairs
from outcrop.surrogates.latent_draws import LatentDraw
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.situation import LATENT_INFERENCE, Situation
from outcrop.typing import Matrix, Rng, Vector

ONE_EACH = free(Normal(), size=Per.OBSERVATION)


@dataclass(frozen=True, eq=False)
class LatentGP:
    """A Gaussian process whose observations have latent inputs besides their points.

        LatentGP(Matern52(free(LogNormal(), size=1)), spread=0.1)
        LatentGP(kernel, spread=0.1, latents=(free(Normal(), size=Per.OBSERVATION),) * 2)

    The latents are inputs of every stationary kernel in `kernel`, see `latent_data`.
    """

    kernel: Kernel
    spread: float  # standard deviation of a latent
    latents: tuple[Vector, ...] = (ONE_EACH,)  # in units of `spread`, one vector per coordinate
    noise: float = 0.0
    mean: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.spread, Free) and not 0 <= self.spread < inf:
            raise ModelError(f"LatentGP(spread={self.spread!r}): expected a number of at least 0")
        if self.spread == 0:  # then all latents are 0
            object.__setattr__(self, "latents", ())
        GP(self.kernel, self.noise)

    def condition(self, data: Observations) -> LatentPosterior:
        inner = self._plain.condition(LatentObservations.of(data, self._moves(data)))
        return LatentPosterior(inner.model, inner.data, inner.chol, inner.white, inner.jitter)

    def log_likelihood(self, data: Observations) -> float:
        return self._plain.log_likelihood(self._with_latents(data))

    def log_likelihood_with_gradient(self, data: Observations) -> tuple[float, LatentGP]:
        seen = self._with_latents(data)
        apart_bars: list[Matrix] = []
        if isinstance(seen, LatentObservations):
            pairs = seen.pairs
            vars(seen)["pairs"] = LatentPairs.of(pairs.visible, pairs.apart, apart_bars)
        value, K_bar, mean_bar, pull = self._plain.log_likelihood_with_bars(seen)
        pull.inputs(K_bar)  # called only to fill `apart_bars`
        moves = self._moves(data)
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

    @property
    def _plain(self) -> GP:
        return GP(self.kernel, self.noise, self.mean)

    def _with_latents(self, data: Observations) -> Observations:
        return LatentObservations.of(data, self._moves(data)) if self.latents else data

    def _moves(self, data: Observations) -> Matrix:
        """h, `(n, q)`; a column of zeros if there are no latents."""
        if not self.latents:
            return np.zeros((len(data), 1))
        return self.spread * np.stack(self.latents, axis=1)


@dataclass(frozen=True, eq=False)
class LatentPosterior(GPPosterior):
    """The posterior of the process at h = 0."""

    @property
    def latents(self) -> Matrix:
        """The latent inputs of each observation, `(n, q)`; 0 for believed values.

        An observation whose latents exceed a lengthscale counts for little.
        """
        assert isinstance(self.data, LatentObservations)
        return self.data.latents

    def draw(self, rng: Rng, features: int = 512) -> LatentDraw:
        return LatentDraw.of(self, self.latents, rng, features)


@dataclass(frozen=True)
class Latent(Kind):
    """A Gaussian process whose observations have latent inputs [Bodin et al. 2020, §3].

        oc.Method(surrogate=oc.surrogates.Latent())
        oc.Method(surrogate=oc.surrogates.Latent(together=True))

    One of `spreads`, in units of the cube's diagonal, is drawn for each suggestion; with `together`
    the belief is a mixture over all of them.
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
        if not situation.numbers:
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
            inference = shared(inference, len(self.spreads))
        parts = {
            str(spread): Inferred(LatentGP(kernel, spread * diagonal, latents, noise), inference)
            for spread in self.spreads
        }
        return Blend(parts) if self.together else Lottery(parts)


@dataclass(frozen=True, eq=False)
class Lottery:
    """One of several named surrogates, drawn anew for each fit; the others keep their state."""

    parts: Mapping[str, Surrogate]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ModelError("Lottery({}): expected at least one surrogate")

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        states = {name: state for name, state in (previous or {}).items() if name in self.parts}
        name = str(rng.choice(list(self.parts)))
        belief = self.parts[name].fit(observations, rng, states.get(name))
        return replace(belief, state={**states, name: belief.state})
