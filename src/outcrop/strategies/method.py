"""A method by its parts: surrogate, inference, acquisition, pending policy, design, maximiser."""

from __future__ import annotations

__all__ = ["Method"]

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outcrop.acquisition import Acquisition, LogEI, Thompson
from outcrop.errors import MethodError
from outcrop.inference import Inference, Laplace
from outcrop.maximise import Maximises
from outcrop.space import Space
from outcrop.strategies import method_json
from outcrop.strategies.base import Strategy
from outcrop.strategies.defaults import MAXIMISER, default_inference
from outcrop.strategies.initial import Design, LatinHypercube, OnePerBranch
from outcrop.strategies.model_based import ModelBased
from outcrop.strategies.one_hot import Rounded
from outcrop.strategies.pending import Believer, Pending
from outcrop.strategies.presets import family_for
from outcrop.strategies.tree_search import EachBranch, TopBranches
from outcrop.surrogates import Family, Inferred, Structured, Surrogate


@dataclass(frozen=True, eq=False)
class Method:
    """How to search, part by part; what is left out is that of `"gp"`.

    `surrogate` is a model with free slots, filled by `inference`, or anything with `fit`; or a
    family such as `Spartan()`, which is made for the space and takes noise as `"gp"` does.

    >>> from outcrop.acquisition import EI
    >>> Method(acquisition=EI(), initial=Sobol(size=5)).initial
    Sobol(size=5)
    """

    surrogate: Any = None
    inference: Inference | None = None
    acquisition: Acquisition | None = None
    pending: Pending | None = None
    initial: Design | None = None
    maximiser: Maximises | None = None

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
        is_known = isinstance(part, Family) or hasattr(part, "fit") or hasattr(part, "condition")
        if part is not None and not is_known:
            raise MethodError(f"Method(surrogate={part!r}): expected a model or a surrogate")
        check = getattr(self.pending, "check", None)
        if check is not None:
            check(self)

    def strategy(self, space: Space) -> Strategy:
        surrogate: Surrogate | None = self.surrogate
        family = None
        if isinstance(self.surrogate, Family):
            surrogate, family = None, family_for(space, self.surrogate)
        is_structured = isinstance(family, Structured)
        inference = self.inference or default_inference(family)
        if surrogate is not None and hasattr(surrogate, "for_space"):
            surrogate = surrogate.for_space(space)
        if surrogate is not None and not hasattr(surrogate, "fit"):
            surrogate = Inferred(self.surrogate, inference)
        strategy = ModelBased(
            space,
            surrogate,
            inference,
            self.acquisition or (TopBranches() if is_structured else LogEI()),
            self.pending or Believer(),
            self.initial or (OnePerBranch() if is_structured else LatinHypercube()),
            self.maximiser or (EachBranch() if is_structured else MAXIMISER),
            family,
        )
        return Rounded.of(strategy) if family is not None and family.is_relaxed else strategy

    def to_json(self) -> dict[str, Any]:
        """The parts as a JSON object; `from_json` reads it back.

        Parts that are not Outcrop's own are only named in it, and then it cannot be read back.
        """
        return method_json.to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | str) -> Method:
        """The method that `to_json` wrote, from the object or its text."""
        method = method_json.from_json(data)
        if not isinstance(method, cls):
            raise MethodError(f"a stored {cls.__name__}: expected its JSON, got that of {method!r}")
        return method
