"""The model a space gets when nobody names one, and the priors behind it."""

from __future__ import annotations

__all__ = [
    "INFERENCE",
    "LATENT_INFERENCE",
    "MAXIMISER",
    "default_inference",
    "default_kernel",
    "default_surrogate",
    "refreshed",
    "thinned",
]

from collections.abc import Callable
from dataclasses import replace
from math import inf, log

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
    Subspace,
)
from outcrop.maximise import Maximiser, Maximises
from outcrop.params import free
from outcrop.priors import LogNormal, Shifted
from outcrop.space import Space
from outcrop.surrogates import GP, Blend, Family, Inferred, Structured, Surrogate
from outcrop.surrogates.blend import shared
from outcrop.surrogates.structured import Priors

EXACT = 1e-8  # noise variance, in units of the data's, of an objective that has none
NOISE_FLOOR = 1e-6
NOISE = Shifted(LogNormal(-6.0, 3.0), NOISE_FLOOR)  # small noise is likely, large noise possible
LENGTHSCALES = LogNormal(log(0.5), 1.0, growth=0.5)  # grows with the cube's diagonal
CATEGORY_SCALES = LogNormal(0.0, 1.0)
AMPLITUDE = LogNormal(0.0, 1.0)
LEVEL = 1.0  # variance of the unknown level that the objective varies around


# A surprising value leaves some chains where no belief is left; they would take long to come back.
INFERENCE = Slice(chains=6, patience=2.5)
# Latents take longer to find, and the density of a fair draw of many varies too much for patience.
LATENT_INFERENCE = replace(INFERENCE, burn_in=32, sweeps=3, patience=inf)
MAXIMISER = Maximiser()
ALL_MOVE = 50  # observations up to which every chain makes a sweep for every suggestion


def default_inference(family: Family | None) -> Inference:
    has_latents = family is not None and family.has_latents
    return LATENT_INFERENCE if has_latents else INFERENCE


def refreshed(inference: Inference, n: int) -> Inference:
    """A default inference with fewer chains moved, in inverse proportion, as data get many.

    One observation more then changes the belief less, and a sweep costs more.
    """
    for default in (INFERENCE, LATENT_INFERENCE):
        if inference == default and n > ALL_MOVE:
            return replace(default, moved=max(default.chains * ALL_MOVE // n, 1))
    return inference


def thinned(maximiser: Maximises, n: int) -> Maximises:
    """The default maximiser with fewer candidates, likewise; never fewer than a quarter."""
    if maximiser == MAXIMISER and n > ALL_MOVE:
        share = max(ALL_MOVE / n, 0.25)
        return replace(
            MAXIMISER,
            spread=int(share * MAXIMISER.spread),
            perturbations=int(share * MAXIMISER.perturbations),
            resamples=int(share * MAXIMISER.resamples),
        )
    return maximiser


def default_kernel(space: Space, family: Family | None = None) -> Kernel:
    """Matérn-5/2 with a lengthscale per number, times an overlap kernel of the categories.

    Parameters that are not active count for nothing. A `family` has its say about the numbers, and
    about how they and the categories are joined.
    """
    if isinstance(family, Structured):
        priors = Priors(LENGTHSCALES, CATEGORY_SCALES, AMPLITUDE, LEVEL, default_kernel(space))
        return family.kernel(space, priors)
    numbers = tuple(c.index for c in space.columns if not c.is_code)
    codes = tuple(c.index for c in space.columns if c.is_code)
    kernel: Kernel = Constant()
    if numbers:
        kernel = Matern52(free(LENGTHSCALES, size=len(numbers)))
        kernel = kernel if family is None else family.around(kernel, len(numbers))
    if codes:
        overlap = Overlap(free(CATEGORY_SCALES, size=len(codes)))
        if numbers:
            parts = Subspace(numbers, kernel), Subspace(codes, overlap)
            kernel = Product(parts) if family is None else family.joined(*parts)
        else:
            kernel = overlap
    conditions = tuple((c.index, c.conditions, c.is_code) for c in space.columns if c.conditions)
    if conditions:
        kernel = Conditional(conditions, kernel)
    return Offset(LEVEL, Scaled(free(AMPLITUDE), kernel))


def default_surrogate(
    kernel: Kernel,
    inference: Inference,
    noise: bool | None,
    inferred: Callable[[GP, Inference], Surrogate] = Inferred,
) -> Surrogate:
    """A GP whose own noise is none (False), learnt (True), or open (None), fitted by `inferred`.

    Left open, exact and noisy models share the belief: an undersampled oscillation is explained by
    noise all too easily, and then nothing is explored any more.
    """

    def gp(level: object) -> Surrogate:
        return inferred(GP(kernel, noise=level), inference)  # type: ignore[arg-type]

    if noise is None:
        inference = shared(inference, 2)
        return Blend({"exact": gp(EXACT), "noisy": gp(free(NOISE))})
    return gp(free(NOISE) if noise else EXACT)
