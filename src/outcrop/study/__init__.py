"""Studies: what was asked and told, kept as a list of events.

Read `trial` and `events` for what is remembered, `state` for what follows from it, `optimizer` for
how it is used.
"""

from __future__ import annotations

__all__ = [
    "Optimizer",
    "Trial",
    "minimize",
    "maximize",
    "Result",
    "ObjectiveBelief",
    "Recommendation",
    "Explanation",
]

from outcrop.study.answers import Explanation, ObjectiveBelief, Recommendation
from outcrop.study.optimise import Result, maximize, minimize
from outcrop.study.optimizer import Optimizer
from outcrop.study.trial import Trial
