"""Studies: optimisations that are stored as lists of events.

Read `trial` and `events` for what is stored, `state` for what is computed from it, `optimizer` for
a study in memory, `study` for one that processes share through a store.
"""

from __future__ import annotations

__all__ = [
    "Optimizer",
    "Study",
    "load_study",
    "list_studies",
    "delete_study",
    "Trial",
    "SpaceChange",
    "minimize",
    "maximize",
    "Result",
    "ObjectiveBelief",
    "Recommendation",
    "Explanation",
    "Importance",
    "stop",
]

from typing import TYPE_CHECKING, Any

from outcrop.study.explanation import Explanation
from outcrop.study.importance import Importance
from outcrop.study.objective_belief import ObjectiveBelief, Recommendation
from outcrop.study.optimise import maximize, minimize
from outcrop.study.optimizer import Optimizer
from outcrop.study.space_change import SpaceChange
from outcrop.study.stored_studies import delete_study, list_studies, load_study
from outcrop.study.study import Study
from outcrop.study.trial import Trial

if TYPE_CHECKING:
    from outcrop.study.running import Result
    from outcrop.study.running import stopping as stop


def __getattr__(name: str) -> Any:
    """Load what only a run needs when it is first used."""
    if name == "Result":
        from outcrop.study.running import Result

        return Result
    if name == "stop":
        from outcrop.study.running import stopping

        return stopping
    raise AttributeError(f"module 'outcrop.study' has no attribute {name!r}")
