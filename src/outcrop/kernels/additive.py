"""One-dimensional effects of every dimension, added up and multiplied."""

from __future__ import annotations

__all__ = ["Additive"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from outcrop.data import Pairs, Triangle
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull
from outcrop.kernels.compose import Subspace, SumProduct
from outcrop.kernels.stationary import Matern52, Slope, Stationary, share, summed_like
from outcrop.kernels.wrappers import Wrapper
from outcrop.params import changed, shaped
from outcrop.typing import Indices, Matrix, Points, Rng

AT_ONCE = 60_000  # numbers over dimensions and pairs that are held in one array
PullInputs: TypeAlias = Callable[[Matrix], tuple[Points, Points]]

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
        few = pairs.X1.shape[1] * prod(pairs.shape) <= AT_ONCE
        if few and type(pairs) in (Pairs, Triangle):
            K, inputs = self._all_at_once(pairs)
            return K, Pull(lambda K_bar: self._parameters(pairs, K_bar), inputs)
        K, pull = self._spelt_out(pairs.X1.shape[1]).on(pairs)
        return K, Pull(lambda K_bar: self._parameters(pairs, K_bar), pull.inputs)

    def _parameters(self, pairs: Pairs, K_bar: Matrix) -> Kernel:
        bar = self._spelt_out(pairs.X1.shape[1]).on(pairs)[1].parameters(K_bar)
        effects = [effect.children()[0] for effect in bar.children()]
        kernel = shaped(self.kernel, **self._collect(effects))
        return shaped(self, interaction=vars(bar)["mix"], kernel=kernel)

    def _all_at_once(self, pairs: Pairs) -> tuple[Matrix, PullInputs]:
        """From differences that are stored; arrays over dimensions and pairs are `(…, d, p)`."""
        scales = self.kernel.lengthscales[..., :, None]
        effects, slope = self._effects(pairs)
        rho, d = np.asarray(self.interaction)[..., None], pairs.X1.shape[1]
        product = effects.prod(-2)
        K = (1 - rho) * effects.mean(-2) + rho * product

        def pull_squares(K_bar: Matrix) -> Matrix:
            """The gradient in the squared differences over lengthscales, `(…, d, p)`."""
            with np.errstate(divide="ignore", invalid="ignore"):
                others = np.where(effects > 0, product[..., None, :] / effects, 0.0)
            each = ((1 - rho) / d)[..., None, :] + rho[..., None, :] * others
            flat = K_bar.reshape(*K.shape[:-1], 1, -1)
            return flat * each * slope()

        def inputs(K_bar: Matrix) -> tuple[Points, Points]:
            apart = pairs.X1.T[:, :, None] - pairs.X2.T[:, None, :]
            bars = pull_squares(K_bar) * 2.0 * scales**-2.0
            bars = bars.reshape(-1, d, *apart.shape[1:]).sum(0) * apart
            X2_bar = -bars.sum(1).T if pairs.second_moves else np.zeros_like(pairs.X2)
            return bars.sum(2).T, X2_bar

        return K.reshape(*K.shape[:-1], *pairs.shape), inputs

    def _effects(self, pairs: Pairs) -> tuple[Matrix, Slope]:
        """The effects `(…, d, p)`, and their slopes in the squared differences over lengthscales.

        Those of dimensions whose lengthscale is as it was at the latest evaluation are kept:
        inference changes one lengthscale at a time.
        """

        def profile(rows: Indices | slice = slice(None)) -> tuple[Matrix, Slope]:
            squares = pairs.squared_differences[rows] / scales[..., rows, None] ** 2
            return self.kernel.profile(squares)

        scales = self.kernel.lengthscales
        key, d = type(self.kernel), pairs.X1.shape[1]
        is_alone = vars(self.kernel).keys() == {"lengthscales"}
        if type(pairs) is not Triangle or scales.shape != (d,) or not is_alone:
            return profile()
        before, effects = pairs.latest.get(key, (None, None))
        if before is None:
            effects = profile()[0]
        elif len(moved := np.flatnonzero(before != scales)) > 0:
            effects = effects.copy()
            effects[moved] = profile(moved)[0]
        pairs.latest[key] = scales.copy(), effects
        return effects, lambda: profile()[1]()

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
