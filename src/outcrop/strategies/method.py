"""Names of methods, and the object that says the same thing in full."""

from __future__ import annotations

__all__ = ["METHODS", "Method", "strategy_for"]

from dataclasses import dataclass
from typing import Any

from outcrop.acquisition import Acquisition, LogEI, Thompson
from outcrop.errors import MethodError
from outcrop.inference import Inference, Laplace
from outcrop.maximise import Maximiser
from outcrop.space import Space
from outcrop.strategies.base import Strategy
from outcrop.strategies.defaults import INFERENCE, MAXIMISER
from outcrop.strategies.initial import Design, LatinHypercube, Sobol, Uniform
from outcrop.strategies.model_based import ModelBased
from outcrop.strategies.pending import Believer, Pending
from outcrop.strategies.sequence import Sequence
from outcrop.surrogates import Inferred, Surrogate


@dataclass(frozen=True, eq=False)
class Method:
    """How to search, part by part; what is left out is that of `"gp"`.

    `surrogate` is a model with free slots, filled by `inference`, or anything with `fit`.

    >>> from outcrop.acquisition import EI
    >>> Method(acquisition=EI(), initial=Sobol(size=5)).initial
    Sobol(size=5)
    """

    surrogate: Any = None
    inference: Inference | None = None
    acquisition: Acquisition | None = None
    pending: Pending | None = None
    initial: Design | None = None
    maximiser: Maximiser | None = None

    def __post_init__(self) -> None:
        wanted = {
            "inference": "infer",
            "acquisition": "prepare",
            "pending": "account",
            "initial": "points",
            "maximiser": "candidates",
        }
        for name, capability in wanted.items():
            value = getattr(self, name)
            if value is not None and (isinstance(value, type) or not hasattr(value, capability)):
                raise MethodError(
                    f"Method({name}={value!r}): expected an object such as one of "
                    f"outcrop.{name if name != 'maximiser' else 'maximise'}.*, written with ()"
                )
        if isinstance(self.acquisition, Thompson) and isinstance(self.inference, Laplace):
            raise MethodError(
                "Method(acquisition=Thompson(), inference=Laplace()): the marginal GP has no "
                "sample paths; use Slice() or MAP() with Thompson sampling"
            )
        part = self.surrogate
        if part is not None and not (hasattr(part, "fit") or hasattr(part, "condition")):
            raise MethodError(f"Method(surrogate={part!r}): expected a model or a surrogate")

    def strategy(self, space: Space) -> Strategy:
        inference = self.inference or INFERENCE
        surrogate: Surrogate | None = self.surrogate
        if surrogate is not None and not hasattr(surrogate, "fit"):
            surrogate = Inferred(self.surrogate, inference)
        return ModelBased(
            space,
            surrogate,
            inference,
            self.acquisition or LogEI(),
            self.pending or Believer(),
            self.initial or LatinHypercube(),
            self.maximiser or MAXIMISER,
        )


METHODS = {
    "auto": "the right one for the space: at present always gp",
    "gp": "Gaussian process, hyperparameters sampled, log expected improvement",
    "random": "independent uniform points",
    "sobol": "a scrambled Sobol sequence",
}


def strategy_for(method: str | Method | Strategy, space: Space) -> Strategy:
    """The strategy behind a name, a `Method`, or a strategy of one's own."""
    if isinstance(method, Method):
        return method.strategy(space)
    if not isinstance(method, str):
        if hasattr(method, "propose"):
            return method
        raise MethodError(f"method={method!r}: expected a name, an outcrop.Method or a strategy")
    if method in ("auto", "gp"):
        return Method().strategy(space)
    if method == "random":
        return Sequence(space, Uniform())
    if method == "sobol":
        return Sequence(space, Sobol())
    raise MethodError(f"method={method!r} is not known; known are {', '.join(METHODS)}")
