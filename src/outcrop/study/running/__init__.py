"""Running a study: evaluation of trials, stopping rules and progress.

Read `loop` for the order of events, `isolated_workers` for the worker processes, `stopping` for
the rules.
"""

from __future__ import annotations

__all__ = [
    "ImprovementLeft",
    "MaxTrials",
    "NoImprovement",
    "Result",
    "Runnable",
    "Target",
    "run",
]

from outcrop.study.running.loop import run
from outcrop.study.running.protocol import Runnable
from outcrop.study.running.result import Result
from outcrop.study.running.stopping import ImprovementLeft, MaxTrials, NoImprovement, Target
