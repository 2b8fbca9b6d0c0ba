"""Initial designs: the first trials, before a model is used."""

from __future__ import annotations

__all__ = ["Design", "LatinHypercube", "OnePerBranch", "Sobol", "RandomDesign", "design_size"]

from outcrop.former_names import offer_former_names
from outcrop.strategies.initial.designs import (
    Design,
    LatinHypercube,
    RandomDesign,
    Sobol,
    design_size,
)
from outcrop.strategies.initial.per_branch import OnePerBranch

offer_former_names(__name__)
