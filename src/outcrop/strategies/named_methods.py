"""The names of methods that are a `Method`: a model, and an acquisition that is maximised."""

from __future__ import annotations

__all__ = ["NAMED", "default_for"]

from outcrop.space import Space
from outcrop.strategies.base import Strategy
from outcrop.strategies.method import Method
from outcrop.strategies.presets import PRESETS
from outcrop.strategies.registry import Registered
from outcrop.surrogates import TreeStructured

TREE = TreeStructured()


def default_for(space: Space) -> Method:
    """What `"auto"` is for a space: `"tree"` where choices open parameters, else `"gp"`."""
    return Method(surrogate=TREE) if TREE.suits_space(space) else Method()


def _default_strategy(space: Space) -> Strategy:
    return default_for(space).strategy(space)


NAMED = (
    Registered(
        "auto",
        "the right one for the space: tree where choices open parameters, else gp",
        _default_strategy,
    ),
    Registered(
        "gp",
        "Gaussian process, hyperparameters sampled, log expected improvement",
        Method().strategy,
    ),
    *(
        Registered(name, preset.what, Method(surrogate=preset.family).strategy)
        for name, preset in PRESETS.items()
    ),
    Registered(
        "tree",
        "Gaussian processes in the leaves of a conditional space, or one, as they predict",
        Method(surrogate=TREE).strategy,
    ),
)
