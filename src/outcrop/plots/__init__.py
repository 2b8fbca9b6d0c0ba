"""Pictures of beliefs and searches; matplotlib is needed (`pip install 'outcrop[plot]'`)."""

from __future__ import annotations

__all__ = ["belief_1d", "surface_2d"]

from outcrop.plots.belief import belief_1d
from outcrop.plots.surface import surface_2d
