"""Maximisation of a function on a space.

Read `maximiser` for the steps of a search, `candidates` and `lattice` for its first points,
`ascent` for the gradient ascent, `constrained` for the borders of constraints, `mixed` and `sweeps`
for discrete columns, `limited` for its end.
"""

from __future__ import annotations

__all__ = ["Function", "Maximiser", "Maximises", "Maximum"]

from outcrop.former_names import offer_former_names
from outcrop.maximise.base import Function, Maximises, Maximum
from outcrop.maximise.maximiser import Maximiser

offer_former_names(__name__)
