"""How many trials are in each state, and why those that failed did."""

from __future__ import annotations

__all__ = ["check_total", "counted", "failure_reasons", "least_left", "state_counts"]

import re
from collections import Counter
from collections.abc import Collection, Iterable

from outcrop.errors import TotalReached
from outcrop.study.trial import Trial, TrialState

STATES: tuple[TrialState, ...] = ("finished", "running", "failed", "discarded")
NUMBER = re.compile(r"\d+")
UNSAID, VARY = "no reason given", " (numbers vary)"


def state_counts(trials: Collection[Trial]) -> str:
    """The number of trials, and of those in each state.

    >>> state_counts([Trial(0, {}, {}, "failed"), Trial(1, {}, {}, "finished", value=1.0)])
    '2 (1 finished, 1 failed)'
    """
    counts = Counter(trial.state for trial in trials)
    each = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    aside = sum(bool(trial.aside) for trial in trials)
    each += f"; {aside} of them set aside" if aside else ""
    return f"{counts.total()} ({each})" if each else "0"


def failure_reasons(trials: Iterable[Trial]) -> list[tuple[int, str]]:
    """Why trials failed, most often first: how many did, and the first line of the first reason.

    Reasons that differ in numbers only count as the same.
    """
    found: dict[str, list[str]] = {}
    for trial in trials:
        if trial.state == "failed":
            # the reason of a program ends with its output folder, which differs between trials
            line = trial.reason.partition("\n")[0].partition("; output in ")[0].strip() or UNSAID
            found.setdefault(NUMBER.sub("0", line), []).append(line)
    kinds = [(len(lines), lines[0] + VARY * (len({*lines}) > 1)) for lines in found.values()]
    return sorted(kinds, key=lambda kind: -kind[0])


def counted(trials: Iterable[Trial]) -> int:
    """The number of trials that count towards a total.

    All do, running and added ones too, except for those that were released or discarded.
    """
    return sum(trial.state != "discarded" for trial in trials)


def check_total(trials: Iterable[Trial], total: int | None) -> None:
    """`TotalReached` if a study with these trials has `total` of them already."""
    if total is not None and counted(trials) >= total:
        raise TotalReached(f"the study has {total} trials")


def least_left(trials: Iterable[Trial], total: int | None, remaining: int | None) -> int | None:
    """How many trials can still be asked for, by a total and by what a run has left.

    >>> least_left([Trial(0, {}, {}, "failed")], total=5, remaining=10)
    4
    """
    known = [] if total is None else [total - counted(trials)]
    known += [] if remaining is None else [remaining]
    return min(known, default=None)
