"""A method by its parts: surrogate, inference, acquisition, pending policy, design, maximiser."""

from __future__ import annotations

__all__ = ["NAMED", "Method", "default_for"]

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from outcrop.acquisition import Acquisition, LogEI, Thompson
from outcrop.errors import MethodError, ModelError
from outcrop.inference import Inference, Laplace
from outcrop.maximise import Maximises
from outcrop.space import Space
from outcrop.strategies import method_json
from outcrop.strategies.base import Strategy
from outcrop.strategies.initial import Design, LatinHypercube, OnePerBranch
from outcrop.strategies.model_based import MAXIMISER, ModelBased
from outcrop.strategies.one_hot import Rounded
from outcrop.strategies.pending import Believer, Pending
from outcrop.strategies.registry import Registered
from outcrop.strategies.tree_search import EachBranch, TopBranches
from outcrop.surrogates import (
    Ensemble,
    Kind,
    Latent,
    PartlyAdditive,
    Plain,
    SearchDomain,
    Situation,
    Spartan,
    Surrogate,
    Treed,
    TreeStructured,
    Warped,
)
from outcrop.surrogates.base import Model
from outcrop.surrogates.kind import kind_of


@dataclass(frozen=True, eq=False)
class Method:
    """How to search, part by part; what is left out is that of `"gp"`.

    `surrogate` is a kind such as `Spartan()`, which is made for the space and takes noise as `"gp"`
    does; or a model with free slots, filled by `inference`; or anything with `fit`.

    >>> from outcrop.acquisition import EI
    >>> from outcrop.strategies.initial import Sobol
    >>> Method(acquisition=EI(), initial=Sobol(size=5)).initial
    Sobol(size=5)
    """

    surrogate: Kind | Surrogate | Model | None = None
    inference: Inference | None = None
    acquisition: Acquisition | None = None
    pending: Pending | None = None
    initial: Design | None = None
    maximiser: Maximises | None = None

    def __post_init__(self) -> None:
        wanted = {
            "inference": "divided",
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
                "Method(acquisition=Thompson(), inference=Laplace()): functions cannot be "
                "drawn from the marginal GP; use Slice() or MAP() with Thompson sampling"
            )
        try:
            kind_of(self.surrogate)
        except ModelError as error:
            raise MethodError(f"Method(surrogate={self.surrogate!r}): {error}") from None
        check = getattr(self.pending, "check", None)
        if check is not None:
            check(self)

    def strategy(self, space: Space) -> Strategy:
        kind = kind_of(self.surrogate)
        if kind.surrogate(Situation(space, inference=self.inference)) is None:
            kind = Plain()
        parts = SEARCHES[kind.search_domain]
        strategy = ModelBased(
            space,
            kind,
            self.inference,
            self.acquisition or parts.acquisition,
            self.pending or Believer(),
            self.initial or parts.initial,
            self.maximiser or parts.maximiser,
        )
        return parts.wrapped(strategy)

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


class _SearchParts(NamedTuple):
    """The parts of a search that serve unless the user gives others."""

    acquisition: Acquisition
    initial: Design
    maximiser: Maximises
    wrapped: Callable[[ModelBased], Strategy] = lambda strategy: strategy


SEARCHES = {
    SearchDomain.SPACE: _SearchParts(LogEI(), LatinHypercube(), MAXIMISER),
    SearchDomain.BRANCHES: _SearchParts(TopBranches(), OnePerBranch(), EachBranch(focus=1 / 3)),
    SearchDomain.ONE_HOT_CUBE: _SearchParts(LogEI(), LatinHypercube(), MAXIMISER, Rounded.of),
}

TREE = TreeStructured()


def default_for(space: Space) -> Method:
    """What `"auto"` is for a space: `"tree"` where choices open parameters, else an ensemble."""
    is_offered = TREE.surrogate(Situation(space)) is not None
    return Method(surrogate=TREE if is_offered else Ensemble())


def _named(name: str, what: str, kind: Kind) -> Registered:
    return Registered(name, what, Method(surrogate=kind).strategy)


NAMED = (
    Registered(
        "auto",
        "finds out what landscape it is on: gp, warped, spartan, latent and additive weighed by "
        "their predictions; tree where choices open parameters",
        lambda space: default_for(space).strategy(space),
    ),
    _named("gp", "Gaussian process, hyperparameters sampled, log expected improvement", Plain()),
    _named("warped", "Gaussian process behind a learnt warping of every number", Warped()),
    _named("spartan", "Gaussian process with other lengthscales in a learnt region", Spartan()),
    _named("latent", "Gaussian process that may leave observations out of account", Latent()),
    _named("additive", "Gaussian process of effects that add up, and interact", PartlyAdditive()),
    _named("treed", "Gaussian processes of their own in the leaves of a tree", Treed()),
    _named("treed-warped", "the same behind learnt warpings", Treed(leaves=Warped())),
    _named(
        "tree",
        "one Gaussian process per branch of a conditional space, or one for all, whichever "
        "predicts better",
        TREE,
    ),
)
