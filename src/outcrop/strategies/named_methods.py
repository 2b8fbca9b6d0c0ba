"""The names of methods that are a `Method`: a model, and an acquisition that is maximised."""

from __future__ import annotations

__all__ = ["NAMED", "default_for"]

from outcrop.space import Space
from outcrop.strategies.base import Strategy
from outcrop.strategies.method import Method
from outcrop.strategies.registry import Registered
from outcrop.surrogates import (
    Kind,
    Latent,
    Plain,
    Situation,
    Spartan,
    Treed,
    TreeStructured,
    Warped,
)

TREE = TreeStructured()


def default_for(space: Space) -> Method:
    """What `"auto"` is for a space: `"tree"` where choices open parameters, else `"gp"`."""
    is_offered = TREE.surrogate(Situation(space)) is not None
    return Method(surrogate=TREE) if is_offered else Method()


def _default_strategy(space: Space) -> Strategy:
    return default_for(space).strategy(space)


def _named(name: str, what: str, kind: Kind) -> Registered:
    return Registered(name, what, Method(surrogate=kind).strategy)


NAMED = (
    Registered(
        "auto",
        "the right one for the space: tree where choices open parameters, else gp",
        _default_strategy,
    ),
    _named("gp", "Gaussian process, hyperparameters sampled, log expected improvement", Plain()),
    _named("warped", "Gaussian process behind a learnt warping of every number", Warped()),
    _named("spartan", "Gaussian process with other lengthscales in a learnt region", Spartan()),
    _named("latent", "Gaussian process that may leave observations out of account", Latent()),
    _named("treed", "Gaussian processes of their own in the leaves of a tree", Treed()),
    _named("treed-warped", "the same behind learnt warpings", Treed(leaves=Warped())),
    _named(
        "tree",
        "one Gaussian process per branch of a conditional space, or one for all, whichever "
        "predicts better",
        TREE,
    ),
)
