"""One-dimensional effects of every dimension, added up and multiplied."""

from __future__ import annotations

__all__ = ["Additive"]

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull
from outcrop.kernels.compose import Subspace, SumProduct
from outcrop.kernels.stationary import Matern52, Stationary, share, summed_like
from outcrop.kernels.wrappers import Wrapper
from outcrop.params import changed, shaped
from outcrop.typing import Matrix, Rng

ONE = Subspace((0,), Matern52(np.ones(1)))  # template of the effect of one dimension
ALL = SumProduct(0.5, (ONE,))


@dataclass(frozen=True, eq=False)
class Additive(Wrapper):
    """One-dimensional effects that add up, with a share of their full interaction.

        k = (1 − ρ) (1/d) Σᵢ kᵢ(xᵢ, x'ᵢ) + ρ Πᵢ kᵢ(xᵢ, x'ᵢ)

    kᵢ is `kernel` restricted to dimension i with its own lengthscale [after Duvenaud et al. 2011].
    """

    interaction: float  # ρ in [0, 1]
    kernel: Stationary
    stationary = True

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Stationary):
            raise ModelError(f"Additive(kernel={self.kernel!r}): expected a stationary kernel")
        interaction = share("Additive", "interaction", self.interaction)
        object.__setattr__(self, "interaction", interaction)

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        K, pull = self._spelt_out(pairs.X1.shape[1]).on(pairs)

        def parameters(K_bar: Matrix) -> Kernel:
            bar = pull.parameters(K_bar)
            effects = [effect.children()[0] for effect in bar.children()]
            kernel = shaped(self.kernel, **self._collect(effects))
            return shaped(self, interaction=vars(bar)["mix"], kernel=kernel)

        return K, Pull(parameters, pull.inputs)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        return self._spelt_out(dimension).features(rng, count, dimension)

    def _spelt_out(self, dimension: int) -> SumProduct:
        """The same kernel with one kernel for each dimension."""
        effects = []
        for i in range(dimension):
            own = self.kernel.lengthscales
            if own.shape[-1] > 1:
                own = own[..., i : i + 1]
            kernel = changed(self.kernel, lengthscales=own)
            effects.append(shaped(ONE, columns=(i,), kernel=kernel))
        return shaped(ALL, mix=self.interaction, kernels=tuple(effects))

    def _collect(self, bars: Sequence[Kernel]) -> dict[str, object]:
        """One gradient for the wrapped kernel from those of its restrictions."""
        lengthscales = np.concatenate([vars(bar)["lengthscales"] for bar in bars])
        lengthscales = summed_like(lengthscales, self.kernel.lengthscales)
        shared = {
            name: sum(vars(bar)[name] for bar in bars)
            for name in vars(bars[0])
            if name != "lengthscales"
        }
        return {"lengthscales": lengthscales, **shared}
