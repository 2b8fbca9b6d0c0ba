"""No inference: draws that are kept as they are."""

from __future__ import annotations

__all__ = ["Kept"]

from dataclasses import dataclass

import numpy as np

from outcrop.inference.starts import from_previous, from_prior
from outcrop.inference.target import Draws, Inference, SampledDensity, log_posterior
from outcrop.typing import Rng


@dataclass(frozen=True)
class Kept(Inference):
    """The previous draws as they are; what is new in them comes from the prior.

    It costs no likelihood. Without previous draws it takes `first` prior draws of high likelihood.
    """

    first: int = 4

    def infer(self, target: SampledDensity, rng: Rng, previous: Draws | None = None) -> Draws:
        if previous is None:
            with np.errstate(all="ignore"):
                return Draws.equal(*from_prior(target, log_posterior(target), rng, self.first))
        thetas = from_previous(target, rng, previous)
        return Draws.equal(thetas, np.full(len(thetas), np.nan), previous.widths)
