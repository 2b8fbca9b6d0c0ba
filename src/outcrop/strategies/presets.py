"""The surrogates behind names of methods, for a space."""

from __future__ import annotations

__all__ = ["PRESETS", "Preset", "family_for"]

from typing import NamedTuple

from outcrop.space import Space
from outcrop.surrogates import Family, Latent, Spartan, Structured, Treed, Warped


class Preset(NamedTuple):
    """A method that is "gp" with another kind of Gaussian process."""

    family: Family
    what: str  # for the list of methods


PRESETS = {
    "warped": Preset(Warped(), "Gaussian process behind a learnt warping of every number"),
    "spartan": Preset(Spartan(), "Gaussian process with other lengthscales in a learnt region"),
    "latent": Preset(Latent(), "Gaussian process that may leave observations out of account"),
    "treed": Preset(Treed(), "Gaussian processes of their own in the leaves of a tree"),
    "treed-warped": Preset(Treed(leaves=Warped()), "the same behind learnt warpings"),
}


def family_for(space: Space, family: Family) -> Family | None:
    """`family`, or None if it has nothing to say about the space."""
    if isinstance(family, Structured):
        return family if family.suits_space(space) else None
    categories = sum(column.is_code for column in space.columns)
    return family if family.suits(len(space.columns) - categories, categories) else None
