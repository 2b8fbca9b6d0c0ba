"""Strategies: how the next trial is proposed from the results so far."""

from __future__ import annotations

__all__ = [
    "METHODS",
    "Belief",
    "CoCaBO",
    "EachBranch",
    "Hierarchical",
    "Method",
    "ModelBased",
    "Perturbed",
    "Sequence",
    "Strategy",
    "Suggestion",
    "TopBranches",
    "View",
    "Why",
    "WrapsModel",
    "strategy_for",
]

from outcrop.former_names import offer_former_names
from outcrop.strategies.base import Belief, Strategy, Suggestion, View, Why
from outcrop.strategies.cocabo import CoCaBO
from outcrop.strategies.hierarchical import Hierarchical
from outcrop.strategies.method import Method
from outcrop.strategies.model_based import ModelBased
from outcrop.strategies.perturbed import Perturbed
from outcrop.strategies.registry import registered, strategy_for
from outcrop.strategies.sequence import Sequence
from outcrop.strategies.tree_search import EachBranch, TopBranches
from outcrop.strategies.wrapped_model import WrapsModel

METHODS = {entry.name: entry.what for entry in registered().values()}

offer_former_names(__name__)
