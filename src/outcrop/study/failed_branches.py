"""Branches of a space in which every trial failed.

A branch is one way through the choices; a space without choices is a single branch.
"""

from __future__ import annotations

__all__ = ["FailedBranch", "branch_text", "failed_branches"]

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from outcrop.space import Choice, Space
from outcrop.study.trial import Trial
from outcrop.typing import Params


@dataclass(frozen=True)
class FailedBranch:
    """A branch without a value.

    >>> print(FailedBranch("model=mlp", 4, "KeyError: 'layers'"))
    all 4 trials of model=mlp failed, most often: KeyError: 'layers'
    """

    name: str  # the option at each choice
    n_failed: int
    reason: str  # the first line of the most frequent one

    def __str__(self) -> str:
        trials = "the only trial" if self.n_failed == 1 else f"all {self.n_failed} trials"
        because = f", most often: {self.reason}" if self.reason else ""
        return f"{trials} of {self.name} failed{because}"


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
    failed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for trial in trials:
        if trial.aside:
            continue
        name = branch_text(space, trial.params)
        if trial.state == "finished":
            finished.add(name)
        elif trial.state == "failed" and name:
            failed[name][trial.reason.partition("\n")[0]] += 1
    found = [
        FailedBranch(name, reasons.total(), reasons.most_common(1)[0][0])
        for name, reasons in failed.items()
        if name not in finished
    ]
    return tuple(sorted(found, key=lambda branch: -branch.n_failed))
