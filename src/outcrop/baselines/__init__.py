"""Baselines: models and searches that are kept for comparison with papers."""

from __future__ import annotations

__all__ = [
    "Arc",
    "ArcEmbedding",
    "CommonNodeSum",
    "CommonNodes",
    "DeltaCover",
    "Independent",
    "Marginal",
    "OneHot",
]

from outcrop.baselines.arc import Arc, ArcEmbedding
from outcrop.baselines.branch_processes import Independent, Marginal
from outcrop.baselines.common_nodes import CommonNodes, CommonNodeSum
from outcrop.baselines.delta_cover import DeltaCover
from outcrop.baselines.one_hot import OneHot
