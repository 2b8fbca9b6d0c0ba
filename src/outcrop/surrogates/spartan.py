"""Gaussian processes with one set of lengthscales in a learnt region and another elsewhere."""

from __future__ import annotations

__all__ = ["Grounded", "Spartan"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, log
from typing import Any

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.kernels import Kernel, LocalGlobal, Matern52, Region
from outcrop.params import changed, free
from outcrop.priors import LogNormal, Uniform
from outcrop.surrogates.base import Posterior, Surrogate
from outcrop.surrogates.gp import GPPosterior
from outcrop.surrogates.kind import KernelKind
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.situation import Situation
from outcrop.typing import Rng, Vector

WIDTH = LogNormal(log(0.2), 0.5)
CENTRE = Uniform(0.0, 1.0)


@dataclass(frozen=True)
class Spartan(KernelKind):
    """A Gaussian process with one set of lengthscales in a region and another elsewhere.

        oc.Method(surrogate=oc.surrogates.Spartan())
        oc.Method(surrogate=oc.surrogates.Spartan(widths=(0.05, 10.0)))

    The centre is learnt, and the region's width too unless `widths` gives the standard deviations
    of the weights of the region and of elsewhere. The paper's N(·, 0.05) and N(·, 10) [Martinez-
    Cantin 2015, eq. 3] are `widths=(0.05**0.5, 10**0.5)` if they mean variances, `(0.05, 10.0)` if
    they mean standard deviations.
    """

    regions: int = 1
    widths: tuple[float, float] | None = None
    label = "Spartan GP"

    def __post_init__(self) -> None:
        if type(self.regions) is not int or self.regions < 1:
            raise ModelError(f"Spartan(regions={self.regions!r}): expected an integer ≥ 1")
        if self.widths is not None and (
            len(self.widths) != 2 or not all(0 < width < inf for width in self.widths)
        ):
            raise ModelError(
                f"Spartan(widths={self.widths!r}): expected two finite numbers above 0, the "
                "standard deviations of a region and of elsewhere, or None to learn a width"
            )

    def kernel(self, situation: Situation) -> Kernel:
        width, spread = (free(WIDTH), None) if self.widths is None else self.widths
        centre = free(CENTRE, size=len(situation.numbers))

        def local_global(lengthscales: Vector) -> Kernel:
            region = Region(centre, width, Matern52(lengthscales))
            return LocalGlobal((region,) * self.regions, Matern52(lengthscales), spread)

        return situation.kernel(local_global)

    def surrogate(self, situation: Situation) -> Surrogate | None:
        surrogate = super().surrogate(situation)
        return None if surrogate is None else Grounded(surrogate)


@dataclass(frozen=True, eq=False)
class Grounded:
    """A surrogate whose predictions leave out regions without observations.

    See `Kernel.grounded`. Inference is unchanged: chains may keep such a region, but predictions,
    and so the next suggestion, ignore it.
    """

    surrogate: Surrogate

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        belief = self.surrogate.fit(observations, rng, previous)
        return replace(belief, components=tuple(map(_grounded, belief.components)))


def _grounded(part: Posterior) -> Posterior:
    if not isinstance(part, GPPosterior):
        return part
    model = changed(part.model, kernel=part.model.kernel.grounded(part.data.X))
    return part if model is part.model else model.condition(part.data)
