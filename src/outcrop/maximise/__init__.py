"""The argmax of a function on a space.

Read `maximiser` for the course of a search, `candidates` and `lattice` for where it looks first,
`ascent` for how it climbs, `mixed` for what it does with discrete columns.
"""

from __future__ import annotations

__all__ = ["Function", "Maximiser", "Maximises", "Maximum"]

from outcrop.former_names import offer_former_names
from outcrop.maximise.base import Function, Maximises, Maximum
from outcrop.maximise.maximiser import Maximiser

offer_former_names(__name__)
