"""Designs: where to look before there is anything to learn from."""

from __future__ import annotations

__all__ = ["Design", "LatinHypercube", "OnePerPath", "Sobol", "Uniform", "design_size"]

from outcrop.strategies.initial.designs import (
    Design,
    LatinHypercube,
    Sobol,
    Uniform,
    design_size,
)
from outcrop.strategies.initial.per_path import OnePerPath
