"""The situation that a surrogate is made for, and the kernel and priors that most kinds use."""

from __future__ import annotations

__all__ = [
    "INFERENCE",
    "LATENT_INFERENCE",
    "LATENT_ROWS",
    "NoiseFacts",
    "Priors",
    "Situation",
    "refreshed",
    "standard_kernel",
]

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, log
from typing import TypeAlias

from outcrop.effort import UNLIMITED, Effort
from outcrop.inference import Inference, Slice
from outcrop.kernels import (
    Conditional,
    Constant,
    Kernel,
    Matern52,
    Offset,
    Overlap,
    Product,
    Scaled,
    SharedScale,
    Subspace,
)
from outcrop.params import free
from outcrop.priors import LogNormal, Prior, Shifted
from outcrop.space import Space
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.blend import Blend
from outcrop.surrogates.inferred import MOST_ROWS
from outcrop.surrogates.local_processes import EXACT_ROWS
from outcrop.typing import Vector

EXACT = 1e-8  # noise variance, in units of the data's, of an objective without noise
NOISE_FLOOR = 1e-6
NOISE = Shifted(LogNormal(-6.0, 3.0), NOISE_FLOOR)  # small noise is likely, large noise possible
LENGTHSCALES = LogNormal(log(0.5), 1.0, growth=0.5)  # grows with the cube's diagonal
MANY_NUMBERS = 20  # always active, from which on lengthscales vary around a common one
OWN_SCALES = LogNormal(0.0, 0.35)  # of many numbers, in units of the common lengthscale
CATEGORY_SCALES = LogNormal(0.0, 1.0)
AMPLITUDE = LogNormal(0.0, 1.0)
# A surprising value leaves some chains where the density is almost 0. They restart: by sweeps alone
# they would return slowly.
INFERENCE = Slice(chains=6, patience=2.5)
# Latents need more sweeps. Chains never restart: with many latents the density of fair draws varies
# too much to tell which chains are stuck.
LATENT_INFERENCE = replace(INFERENCE, burn_in=32, sweeps=3, patience=inf)
# Beyond so many observations, models with a latent for each give way to the plain process: all
# latents have to be inferred together, and each is moved by a factorisation of its own.
LATENT_ROWS = 300
MANY_CHAINS = 4  # with more than `EXACT_ROWS` observations, which leave little doubt
ALL_MOVE = 50  # observations up to which every chain makes a sweep for every suggestion

NumbersKernel: TypeAlias = Callable[[Vector], Kernel]  # of the lengthscales, one per number
JoinedKernel: TypeAlias = Callable[[Subspace, Subspace], Kernel]  # of numbers and of categories
# Of a noise variance, which may be a free slot, and of an inference.
MakesSurrogate: TypeAlias = Callable[[float, Inference], Surrogate]


@dataclass(frozen=True)
class Priors:
    """The priors of hyperparameters, on the unit cube and in units of the data's deviation."""

    lengthscales: Prior = LENGTHSCALES
    category_scales: Prior = CATEGORY_SCALES
    amplitude: Prior = AMPLITUDE
    level: float = 1.0  # variance of the unknown level that the objective varies around
    noise: Prior = NOISE


@dataclass(frozen=True)
class NoiseFacts:
    """What is known of the noise of observations."""

    declared: bool | float | None = None  # by the user; a number is a standard deviation
    is_told: bool = False  # whether a standard deviation above 0 was told
    replicates_differ: bool = False  # whether two values at one configuration differ
    has_uncertain_places: bool = False  # whether evaluations may miss their configurations

    @property
    def are_exact(self) -> bool:
        """Whether the user says that values have no noise, and nothing that was told has any."""
        noise = self.is_told or self.replicates_differ or self.has_uncertain_places
        return self.declared is False and not noise

    def is_learnt(self, models_places: bool) -> bool | None:
        """Whether a model learns a noise variance of its own; None leaves it open.

        A model without uncertain places counts their effect on the values as noise.
        """
        if self.has_uncertain_places and not models_places:
            return True
        if isinstance(self.declared, float):  # then every observation has this noise
            return False
        if self.replicates_differ and not self.has_uncertain_places:
            return True
        if self.declared is None and (self.is_told or self.has_uncertain_places):
            return True
        return self.declared


@dataclass(frozen=True)
class Situation:
    """Everything that is known when a surrogate is made."""

    space: Space
    noise: NoiseFacts = field(default_factory=NoiseFacts)
    inference: Inference | None = None  # None is the default of the kind
    observations: int = 0  # their number
    running: int = 0  # trials whose results are to come
    priors: Priors = field(default_factory=Priors)
    effort: Effort = UNLIMITED  # that may be spent on inference
    chains: int | None = None  # of a default inference, where several kinds share the time

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The columns that hold numbers."""
        return tuple(c.index for c in self.space.columns if not c.is_code)

    @cached_property
    def categories(self) -> tuple[int, ...]:
        """The columns that hold codes of categories and choices."""
        return tuple(c.index for c in self.space.columns if c.is_code)

    @cached_property
    def unconditional_numbers(self) -> tuple[int, ...]:
        """The numbers that are active in every configuration."""
        columns = self.space.columns
        return tuple(c.index for c in columns if not c.is_code and not c.conditions)

    @property
    def allows_latents(self) -> bool:
        """Whether there are numbers, and few enough observations for a latent of each."""
        return bool(self.numbers) and self.observations <= LATENT_ROWS

    def kernel(
        self, numbers: NumbersKernel = Matern52, joined: JoinedKernel | None = None
    ) -> Kernel:
        """The standard kernel of the space, see `standard_kernel`."""
        return standard_kernel(self.space, self.priors, numbers, joined)

    def numbers_kernel(self, lengthscales: Vector) -> Kernel:
        """Matérn-5/2; of many numbers, with a lengthscale that they share, see `SharedScale`.

        The shared one has the prior of `lengthscales` then.
        """
        if len(self.unconditional_numbers) < MANY_NUMBERS:
            return Matern52(lengthscales)
        size = len(self.numbers)
        own = Matern52(free(OWN_SCALES, size=size))
        return SharedScale(free(self.priors.lengthscales.for_size(size)), own)

    def over_noise(
        self,
        make: MakesSurrogate,
        inference: Inference = INFERENCE,
        *,
        models_places: bool = False,
    ) -> Surrogate:
        """The surrogate that `make` returns: without noise, with learnt noise, or a blend of both.

        If it is unknown whether there is noise, exact and noisy models are blended: a noisy model
        alone easily explains an undersampled oscillation as noise, and then exploration ends.
        `inference` is used unless the user gave one.
        """
        chosen = refreshed(self.inference or inference, self.observations, self.chains)
        inference = chosen.within(self.effort)
        is_learnt = self.noise.is_learnt(models_places)
        learnt = free(self.priors.noise)
        if is_learnt is None:
            first, second = inference.divided(2).in_turns(2)
            return Blend({"exact": make(EXACT, first), "noisy": make(learnt, second)})
        return make(learnt if is_learnt else EXACT, inference)


def standard_kernel(
    space: Space,
    priors: Priors | None = None,
    numbers: NumbersKernel = Matern52,
    joined: JoinedKernel | None = None,
) -> Kernel:
    """Matérn-5/2 with a lengthscale per number, times an overlap kernel of the categories.

    Inactive parameters are ignored. `numbers` may replace the kernel of the numbers, and `joined`
    the product of numbers and categories.
    """
    priors = priors or Priors()
    own = tuple(c.index for c in space.columns if not c.is_code)
    codes = tuple(c.index for c in space.columns if c.is_code)
    kernel: Kernel = Constant()
    if own:
        kernel = numbers(free(priors.lengthscales, size=len(own)))
    if codes:
        overlap = Overlap(free(priors.category_scales, size=len(codes)))
        if own:
            parts = Subspace(own, kernel), Subspace(codes, overlap)
            kernel = Product(parts) if joined is None else joined(*parts)
        else:
            kernel = overlap
    conditions = tuple((c.index, c.conditions, c.is_code) for c in space.columns if c.conditions)
    if conditions:
        kernel = Conditional(conditions, kernel)
    return Offset(priors.level, Scaled(free(priors.amplitude), kernel))


def refreshed(inference: Inference, n: int, chains: int | None = None) -> Inference:
    """`inference`; with more than `ALL_MOVE` observations, a default one moves fewer chains.

    Their number falls in inverse proportion to `n`: an observation more then changes the belief
    less, and a sweep costs more. Chains that are stuck rejoin the best one if hyperparameters are
    inferred from a part of the observations only. If `chains` is given, a default inference has as
    many of them, and each makes one sweep.
    """
    if inference not in (INFERENCE, LATENT_INFERENCE):
        return inference
    default: Slice = inference
    if chains is not None:
        default = replace(default, chains=chains, sweeps=1)
    if n <= ALL_MOVE:
        return default
    return replace(
        default,
        chains=default.chains if n <= EXACT_ROWS else min(MANY_CHAINS, default.chains),
        moved=max(default.chains * ALL_MOVE // n, 1),
        rejoins=n > MOST_ROWS,
    )
