"""The surrogates of the document on CoCaBO, with its priors: bounds, between which all is alike."""

from __future__ import annotations

__all__ = ["INFERENCE", "cocabo_model", "one_hot_model"]

from outcrop.inference import MAP
from outcrop.kernels import Matches, Matern52, Subspace, SumProduct
from outcrop.params import free
from outcrop.priors import Uniform
from outcrop.space import Space
from outcrop.surrogates import GP

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


def one_hot_model() -> GP:
    """The same Matérn kernel on the cube of numbers and one-hot codes."""
    return GP(Matern52(free(_halved(LENGTHSCALE), size=1)), noise=free(NOISE))


def _halved(prior: Uniform) -> Uniform:
    return Uniform(prior.low / 2, prior.high / 2)
