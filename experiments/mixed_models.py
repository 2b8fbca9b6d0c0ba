"""The surrogates of the document on CoCaBO, with its priors: bounds, between which all is alike."""

from __future__ import annotations

__all__ = ["INFERENCE", "LearntMix", "Symmetric", "cocabo_model", "one_hot_model"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from experiments.refitted import Refitted
from outcrop.baselines.one_hot import Cube
from outcrop.data import Observations
from outcrop.inference import MAP
from outcrop.kernels import Kernel, Matches, Matern52, Subspace, SumProduct
from outcrop.kernels.wrappers import PointMap
from outcrop.params import free
from outcrop.priors import Uniform
from outcrop.space import Space
from outcrop.surrogates import GP, Inferred, Mixture
from outcrop.surrogates.gp import GPPosterior
from outcrop.typing import Points, Rng, Vector

LENGTHSCALE = Uniform(1e-4, 3.0)  # on [−1, 1], so half of that on the unit cube
NOISE = Uniform(1e-6, 1.0)
MIX = Uniform(0.0, 1.0)
INFERENCE = MAP(starts=5)


def cocabo_model(space: Space, mix: float | None) -> GP:
    """Eq. 5.3 with the sum halved, s² = 1 and one lengthscale; `mix` None is learnt."""
    codes = tuple(column.index for column in space.columns if column.is_code)
    numbers = tuple(column.index for column in space.columns if not column.is_code)
    kernel = SumProduct(
        free(MIX) if mix is None else mix,
        (
            Subspace(numbers, Matern52(free(_halved(LENGTHSCALE), size=1))),
            Subspace(codes, Matches()),
        ),
    )
    return GP(kernel, noise=free(NOISE))


def one_hot_model(space: Space) -> GP:
    """The same Matérn kernel on [−1, 1]ᵈ × {0, 1}ᴺ, with one lengthscale for all its columns.

    Points are those of the `Cube` of `space`, whose numbers are in [0, 1] and are stretched.
    """
    names = {str(column.index) for column in space.columns if not column.is_code}
    numbers = tuple(column.index for column in Cube(space).wide.columns if column.name in names)
    return GP(Symmetric(numbers, Matern52(free(LENGTHSCALE, size=1))), noise=free(NOISE))


@dataclass(frozen=True, eq=False)
class LearntMix:
    """The model with λ learnt, more rarely than the other hyperparameters are.

    All are found anew once `mix_every` observations have come in, those but λ once `every` have.
    """

    space: Space
    every: int
    mix_every: int

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        state = dict(previous or {})
        if not state or len(observations) - state["learnt"] >= self.mix_every:
            whole = Inferred(cocabo_model(self.space, None), INFERENCE).fit(observations, rng)
            (part,) = cast(tuple[GPPosterior], whole.components)
            state = {"mix": float(cast(SumProduct, part.model.kernel).mix)}
            state["learnt"] = len(observations)
            previous = None
        others = Refitted(cocabo_model(self.space, state["mix"]), INFERENCE, self.every)
        belief = others.fit(observations, rng, previous)
        learnt = {key: state[key] for key in ("mix", "learnt")}
        return replace(belief, state={**belief.state, **learnt})


@dataclass(frozen=True, eq=False)
class Symmetric(PointMap):
    """A kernel of points some of whose `columns` are mapped from [0, 1] to [−1, 1]."""

    columns: tuple[int, ...]
    kernel: Kernel
    stationary = True

    def image(self, X: Points) -> Points:
        W = X.copy()
        W[:, self.columns] = 2 * X[:, self.columns] - 1
        return W

    def pull_image(self, X: Points, image_bar: Points) -> Points:
        X_bar = image_bar.copy()
        X_bar[:, self.columns] *= 2
        return X_bar

    def scales(self, dimension: int) -> Vector:
        inner = np.array(self.kernel.scales(dimension))
        inner[..., self.columns] /= 2
        return inner


def _halved(prior: Uniform) -> Uniform:
    return Uniform(prior.low / 2, prior.high / 2)
