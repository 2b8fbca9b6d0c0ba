"""Branches of a space in which every trial failed.

A branch is one way through the choices; a space without choices is a single branch.
"""

from __future__ import annotations

__all__ = ["FailedBranch", "branch_text", "failed_branches"]

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from outcrop.space import Choice, Space
from outcrop.study.trial import Trial
from outcrop.study.trial_counts import failure_reasons
from outcrop.typing import Params


@dataclass(frozen=True)
class FailedBranch:
    """A branch without a value.

    >>> print(FailedBranch("model=mlp", 4, "KeyError: 'layers'"))
    all 4 trials of model=mlp failed, most often: KeyError: 'layers'
    """

    name: str  # the option at each choice
    n_failed: int
    reason: str  # the most frequent one

    def __str__(self) -> str:
        trials = "the only trial" if self.n_failed == 1 else f"all {self.n_failed} trials"
        return f"{trials} of {self.name} failed, most often: {self.reason}"


def branch_text(space: Space, params: Params) -> str:
    """The options that are active in a configuration; empty if the space has no choices.

    >>> space = Space({"model": Choice({"linear": {}, "mlp": {}})})
    >>> branch_text(space, {"model": "mlp"})
    'model=mlp'
    """
    return ", ".join(
        f"{name}={params[name]}"
        for name, parameter in space.parameters.items()
        if isinstance(parameter, Choice) and name in params
    )


def failed_branches(space: Space, trials: Iterable[Trial]) -> tuple[FailedBranch, ...]:
    """Branches with failed trials and without finished ones, those with most trials first.

    There is none if the space has no choices.
    """
    finished: set[str] = set()
    failed: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.aside:
            continue
        name = branch_text(space, trial.params)
        if trial.state == "finished":
            finished.add(name)
        elif trial.state == "failed" and name:
            failed[name].append(trial)
    found = [
        FailedBranch(name, len(each), failure_reasons(each)[0][1])
        for name, each in failed.items()
        if name not in finished
    ]
    return tuple(sorted(found, key=lambda branch: -branch.n_failed))
